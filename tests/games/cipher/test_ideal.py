"""The ideal encoder: enumeration of the pool, and exact play in a small game."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import sally
from sally.analysis.profile.ideal_scale import ideal_rows
from sally.core.errors import BadInput
from sally.core.match.drive import Driver
from sally.core.match.playback import replay_episode
from sally.core.match.player import Forfeit
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.replays import replay_for_measures
from sally.games.association.minds import Mind
from sally.games.cipher.decisions import position_of
from sally.games.cipher.ideal import IDEAL, EncoderPool
from sally.games.cipher.instances import PastRound, Problem, frozen
from sally.games.cipher.interceptors import (
    POOL,
    PRIOR,
    Stage,
    adaptive_hints,
    opening,
    perfect_worth,
    survival,
    worth_of,
)
from sally.games.cipher.listeners import (
    CODES,
    Listener,
    Position,
    best_hints,
    decoder_odds,
    digits,
    likeliest,
    listener_odds,
    unsaid,
)
from sally.games.cipher.rules import Cipher, record_of
from sally.runner.seating import players_of
from tests.games.association.tables import match_at
from tests.games.cipher import reference

MIND = Mind()
WHICH = frozen("which").rows
SMALL = WHICH[1][0]  # after three past rounds
GAME = Cipher(
    games=1, problems=(Problem(SMALL.keywords, SMALL.past),), rounds=2, tokens=1
)  # two more rounds, lost with the first token


@lru_cache(maxsize=100_000)
def guesses(name: str, at: Position, hints: Any) -> dict[int, float]:
    """Return the codes that an interceptor of the pool may guess, with their odds."""
    if name == "random":
        return dict.fromkeys(at.codes_left, 1 / len(at.codes_left))
    listener = Listener("history" if name == "by_history" else "bayes")
    return {likeliest(listener_odds(listener, at.filed, hints, at.codes_left), at.codes_left): 1.0}


@lru_cache(maxsize=100_000)
def read(at: Position, hints: Any) -> bool:
    return (
        likeliest(decoder_odds(MIND, at.keywords, hints, at.codes_left), at.codes_left) == at.code
    )


def position(past: tuple[PastRound, ...], code: int) -> Position:
    record = record_of(past, ())
    return Position(SMALL.keywords, record.filed, record.remaining_codes, code)


def team(encoder: str, interceptor: str) -> dict[str, Any]:
    return {"encoder": encoder, "decoder": "by_keywords", "interceptor": interceptor}


# --- the observer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("interceptor", POOL)
def test_forecast_equals_enumeration_of_the_pool(interceptor: str) -> None:
    episode = sally.play("cipher", team("top16", interceptor), 4, number=3, games=2)
    problem = IDEAL(replay_for_measures(episode), Seat("encoder"))
    assert problem is not None and isinstance(problem.ideal, EncoderPool)
    pool, belief = problem.ideal, problem.ideal.start()
    joint = dict.fromkeys(POOL, 1.0)  # of each interceptor and all its guesses so far
    for single_round, seen_round in zip(pool.rounds, problem.rounds, strict=True):
        at = single_round.position
        odds = {name: guesses(name, at, single_round.hints) for name in POOL}
        total = sum(joint.values())
        expected_ratios = [
            sum(joint[n] * odds[n].get(c, 0.0) for n in POOL) / total for c in at.codes_left
        ]
        assert pool.forecast(belief) == pytest.approx(np.array(expected_ratios), abs=1e-12)
        joint = {n: joint[n] * odds[n].get(at.codes_left[seen_round.other_move], 0.0) for n in POOL}
        belief = pool.update_belief(belief, seen_round.own_move, seen_round.other_move)
    assert joint[interceptor] == max(joint.values()) > 0


# --- exact play in a small game -------------------------------------------------------------------


def exact(past: Any, code: int, weights: dict[str, float], rounds_left: int, pick: Any) -> float:
    """Return the expected payoff over the pool by listing interceptors, guesses and codes.

    `pick(at, weights, left)` lists the hints among which the best is taken; weights need not sum
    to 1.
    """
    current_position, results = position(past, code), []
    for hints in pick(current_position, weights, rounds_left):
        total = 0.0
        by_guess: dict[int, dict[str, float]] = {}
        for name, weight in weights.items():
            for guess, chance in guesses(name, current_position, hints).items():
                by_guess.setdefault(guess, {})[name] = weight * chance
        alike: dict[Any, tuple[dict[str, float], int]] = {}  # guesses that tell the same
        for guess, after in by_guess.items():
            key = guess == code, tuple(sorted(after.items()))
            alike[key] = after, alike.get(key, (after, 0))[1] + 1
        then = (*past, PastRound(code, tuple(hints)))
        for (caught, _), (after, many) in alike.items():
            mass = many * sum(after.values())
            if caught or not read(current_position, hints):
                total -= mass
            elif rounds_left == 1:
                total += mass
            else:
                codes = record_of(then, ()).remaining_codes
                total += many * sum(
                    exact(then, c, after, rounds_left - 1, pick) for c in codes
                ) / len(codes)  # fmt: skip
        results.append(total)
    return max(results)


def start() -> dict[str, float]:
    return dict(zip(POOL, PRIOR, strict=True))


def menu(width: int) -> Any:
    def pick(actual_position: Position, weights: Any, rounds_left: int) -> Any:
        return product(
            *(
                unsaid(MIND, actual_position, digit)[:width]
                for digit in digits(actual_position.code)
            )
        )

    return pick


def adaptive(width: int) -> Any:
    def pick(actual_position: Position, weights: Any, rounds_left: int) -> Any:
        total = sum(weights.values())
        odds = tuple(weights.get(name, 0.0) / total for name in POOL)
        stage = Stage(GAME.rounds - rounds_left, 0, 0, len(actual_position.codes_left), True)
        return [adaptive_hints(GAME, actual_position, stage, odds, width)]

    return pick


BOUND = (2 + 2 * (1 - 1 / 21) * (1 - 1 / 20) - 1) / 3  # only `random` hits, and by chance


def test_player_is_exactly_optimal_where_the_bound_is_attained() -> None:
    value = float(np.array(PRIOR) @ (2 * survival(GAME, opening(SMALL.past)) - 1))
    assert value == pytest.approx(BOUND)
    code = SMALL.codes[0]
    assert exact(SMALL.past, code, start(), 2, adaptive(40)) == pytest.approx(BOUND)


def late(seed: int) -> tuple[tuple[PastRound, ...], int]:
    """Return 19 past rounds in which three hints of ten are for a wrong digit, and a code."""
    draws = Stream(seed, "small")
    codes, past = draws.shuffled(CODES), []
    for code in codes[:19]:
        meant = [digit if draws.below(10) < 7 else digit % 4 + 1 for digit in digits(code)]
        current_position = position((), code)
        first, second, third = (
            draws.pick(unsaid(MIND, current_position, digit)[:30]) for digit in meant
        )
        past.append(PastRound(code, (first, second, third)))
    return tuple(past), codes[19]


@pytest.mark.parametrize(("seed", "gap"), [(6, 0.0), (13, 1 / 6)])
def test_player_may_miss_the_optimum_with_three_words_per_digit(seed: int, gap: float) -> None:
    """Late in a game with so few words, not every later round has hints that are safe."""
    past, code = late(seed)
    best = exact(past, code, start(), 2, menu(3))
    assert -0.6 < best < 1 / 3 + 2 / 3 * (1 - 1 / 5) * (1 - 1 / 4)
    assert best - exact(past, code, start(), 2, adaptive(3)) == pytest.approx(gap)


def test_no_encoder_of_the_game_earns_more_in_expectation() -> None:
    code = SMALL.codes[0]
    mine = exact(SMALL.past, code, start(), 2, adaptive(40))

    def crossing(way: Any) -> Any:
        return lambda at, weights, left: [best_hints(MIND, Listener(way), at).hints]

    def nearest(actual_position: Position, weights: Any, rounds_left: int) -> Any:
        return [
            tuple(unsaid(MIND, actual_position, digit)[0] for digit in digits(actual_position.code))
        ]

    for pick in (crossing("history"), crossing("bayes"), crossing("blind"), nearest):
        assert exact(SMALL.past, code, start(), 2, pick) <= mine + 1e-9


def test_search_scores_every_triple_as_the_listeners_do() -> None:
    """The best worth among the triples is that of the hints found, listed one by one."""
    for problem, weights in ((WHICH[1][2], PRIOR), (WHICH[4][0], (0.1, 0.9, 0.0))):
        current_position = position_of(problem)
        game = Cipher(games=1, problems=(problem,), rounds=1, tokens=1)
        stage = opening(problem.past)
        triples = product(
            *(unsaid(MIND, current_position, digit)[:5] for digit in digits(current_position.code))
        )
        listed = [worth_of(game, current_position, stage, weights, hints) for hints in triples]
        actual_adaptive_hints = adaptive_hints(game, current_position, stage, weights, 5)
        assert worth_of(
            game, current_position, stage, weights, actual_adaptive_hints
        ) == pytest.approx(max(listed))


def test_survival_against_deaf_interceptor_equals_chance() -> None:
    chance = survival(Cipher(), opening(()))
    assert chance == pytest.approx([1, 1, 1 - reference.chance_of_random_interceptor()])


@pytest.mark.parametrize("past", [(), SMALL.past])
def test_mean_value_of_perfect_hints_over_codes_equals_the_value(past: Any) -> None:
    """So that luck is zero on average, whatever the hints."""
    for weights in (PRIOR, (0.7, 0.1, 0.2)):
        stage, remaining = opening(past), record_of(past, ()).remaining_codes
        worths = [perfect_worth(GAME, position(past, code), stage, weights) for code in remaining]
        value = np.array(weights) @ (2 * survival(GAME, stage) - 1)
        assert np.mean(worths) == pytest.approx(value)


# --- rows -----------------------------------------------------------------------------------------


def test_regret_parts_add_up_and_ideal_player_has_no_move_loss() -> None:
    episodes = [
        sally.play(
            "cipher", team(player, name), 2, number=1, games=1, probes={"encoder": ["their_guess"]}
        )
        for player in ("bayes_adaptive", "nearest")
        for name in POOL
    ]
    rows: dict[str, Any] = {row.player: row for row in ideal_rows(episodes)}
    mine, clear = rows["bayes_adaptive"], rows["nearest"]
    assert mine.by_moves.value == pytest.approx(0) and clear.by_moves.value > 1
    assert mine.knowing_of_ideal.value == pytest.approx(1)
    assert mine.pool_inference.value is None  # predictions are about the hints already chosen
    assert {row.seat for row in rows.values()} == {"encoder"} and mine.per == "episode"
    for row in rows.values():
        assert row.adaptive == pytest.approx(
            (2 + (1 - 2 * reference.chance_of_random_interceptor())) / 3
        )
        parts = row.price.value + row.by_moves.value + row.pool_luck.value
        assert row.pool_regret.value == pytest.approx(parts)


def test_listeners_outside_the_pool_have_no_ideal_line() -> None:
    other_fields = {"encoder": "nearest", "decoder": "by_keywords"}
    for changed in (
        {"interceptor": "first_left"},
        {"interceptor": ("by_history", {"kind": "form"})},
        {"interceptor": "by_history", "decoder": "greedy_first"},
    ):
        assert not ideal_rows([sally.play("cipher", {**other_fields, **changed}, 1, games=1)])
    with pytest.raises(BadInput, match="bayes_adaptive can play as encoder"):
        sally.play("cipher", {**team("nearest", "by_history"), "decoder": "bayes_adaptive"}, 1)


def test_only_the_encoder_has_an_ideal_line() -> None:
    match = replay_for_measures(sally.play("cipher", team("nearest", "by_history"), 1, games=1))
    assert IDEAL(match, Seat("encoder")) is not None
    assert IDEAL(match, Seat("decoder")) is None and IDEAL(match, Seat("interceptor")) is None


def test_episode_with_void_round_is_excluded() -> None:
    lineup: dict[str, Any] = {
        seat: (name, {}) for seat, name in team("nearest", "by_history").items()
    }
    match = match_at("cipher", {"games": 1, "rounds": 1, "tokens": 1}, **lineup)
    match.answer((match.turn, "encoder", "", ""), Forfeit("unreadable"))
    Driver(match, players_of(match, match.setup.lineup)).run()
    episode = match.episode()
    full_match = Played(match.spec, episode, replay_episode(match.spec, episode))
    assert IDEAL(full_match, Seat("encoder")) is None
