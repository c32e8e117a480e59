"""Reasoner depths against second solvers, written from the protocols alone.

Those of bargaining are in `tests/games/bargaining/test_solver.py`, those of the place and task
games in `tests/games/toma`.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from sally.core.rules.chance import Stream
from sally.games.cipher import decisions as cipher
from sally.games.cipher.instances import frozen
from sally.games.step_race import decisions as race
from sally.games.step_race.certified_tables import read_certified
from sally.games.step_race.rules import SEATS, others_of
from sally.games.toma.sw import decisions as radio
from tests.games.cipher import reference
from tests.games.step_race.second_solver import BestReply, Partner

# --- step race ------------------------------------------------------------------------------------

PAIRS = ("blocker-blocker-player_1", "uniform-blocker-player_3", "blocker-keeper_1-player_2",
         "stage_equilibrium-blocker-player_2", "finisher-blocker-player_1",
         "always_5-rotator-player_2", "finisher-keeper_1-player_3")  # fmt: skip
NEAR = 6  # steps that every seat is short of the target, at most


@pytest.mark.parametrize("name", PAIRS)
def test_step_race(name: str) -> None:
    table = next(
        certified_problem
        for certified_problem in read_certified()
        if certified_problem.id == f"step_race-20-{name}"
    )
    seat = SEATS.index(table.seat)
    places = others_of(seat)
    others = [(table.others[SEATS[n]].player, table.others[SEATS[n]].params) for n in places]
    blind: list[Partner] = [("uniform", {}) if o[0] == "blocker" else o for o in others]
    shallow, deep = BestReply(seat, blind), BestReply(seat, others)
    blocks: Counter[int | None] = Counter()
    all_combinations = list(product(range(1, NEAR + 1), repeat=3))
    for missing in Stream("second", name).shuffled(all_combinations)[:120]:
        for said, _ in deep.heard():
            words: list[int | None] = [None, None, None]
            words[places[0]], words[places[1]] = said
            turn = 1 + sum(missing) % 3
            heard = (words[0], words[1], words[2])
            reasoning = race.reason_about(20, seat, others, True, missing, turn, heard)
            first, true = (by.best(missing, turn, said) for by in (shallow, deep))
            if reasoning is None:
                assert true == {1, 3, 5}
                continue
            assert [set(answers) for answers in reasoning.by_depth] == [{1, 3, 5}, first, true]
            assert set(reasoning.right) == true
            block = 1 if first <= true else 2 if not first & true else None
            assert reasoning.block == block
            assert reasoning.depth == (1 if block == 1 else 2)
            blocks[reasoning.block] += 1
    assert blocks[1] and (blocks[2] or "blocker" not in name)


def test_chance_level_of_step_race_is_the_best_constant_number() -> None:
    """The constants of the table are the shares over its own decisions."""
    right: dict[int | None, Counter[int]] = {1: Counter(), 2: Counter(), None: Counter()}
    counts: Counter[int | None] = Counter()
    for pair in race.DEPTHS.questions():
        counts[pair.block] += 1
        right[pair.block].update(pair.right)
    ratios = {block: max(hits.values()) / counts[block] for block, hits in right.items()}
    assert {block: round(share, 3) for block, share in ratios.items()} == race.CHANCE


# --- cipher ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [0, 17, 34])
def test_cipher(row: int) -> None:
    for problem in frozen("which").rows[row][:2]:
        game = reference.Game(list(problem.keywords))
        for past in problem.past:
            code = tuple(map(int, str(past.code)))
            game.reveal(code, list(past.hints), code, ())
        code = tuple(map(int, str(problem.codes[0])))
        index = game.left.index(code)
        texts = [reference.hints_of("nearest", game, code)]
        for depth, kind in ((1, "history"), (2, "bayes")):
            texts.append(reference.best_of(game, code, 25, f"by_{kind}"))
            worths = [
                reference.decoder_odds(game, hints)[index]
                * (1 - reference.ODDS[f"by_{kind}"](game, hints)[index])
                for hints in texts
            ]
            reasoning = cipher.reason_about(cipher.position_of(problem), kind)
            assert [answers == (True,) for answers in reasoning.by_depth] == [
                w >= 0.8 for w in worths
            ]
            assert reasoning.block == depth == reasoning.depth
            assert max(worths[:-1]) <= 0.4  # far from the bound, so not a matter of rounding


# --- speak or wait --------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2])
def test_speak_or_wait(level: int) -> None:
    """Every chain of best replies on a channel that carries exactly one message at a time."""

    def heard(first: bool, other: bool) -> bool:
        return first + other == 1

    chain = [True]  # an ally of level 0 speaks
    while len(chain) < level + 2:
        chain.append(max((True, False), key=lambda speaks: heard(speaks, chain[-1])))
    reasoning = radio.reason_about(level)
    assert [answers == ("SPEAK",) for answers in reasoning.by_depth] == chain
    right = [heard(speaks, chain[level]) for speaks in chain]
    assert [reasoning.hit(depth) == 1 for depth in range(level + 2)] == right
    wrong = [depth for depth, good in enumerate(right) if not good]
    assert reasoning.depth == (wrong[-1] + 1 if wrong else 0)
    assert reasoning.block == (1 if level == 0 else None)
