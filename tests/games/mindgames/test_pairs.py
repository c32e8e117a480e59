"""Pairs of MindGames: notes as moves, what the members share, and what the certificate refuses."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.positions import open_position, page_of, position_setup, right_answers
from sally.analysis.pairs.score import read_position
from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.rules.pair import Pair, PairRecipe, draw_pair
from sally.games.mindgames.pairs import CELLS, PAIRS, TargetMind
from sally.games.mindgames.rules import PERSUADER, TARGET, MindGame, Tell
from sally.runner.seating import players_of, resolve_setup
from tests.games.mindgames.table import PUZZLE


def puzzle_of(pair: Pair, member: int) -> dict[str, Any]:
    puzzle: dict[str, Any] = pair.members[member].params["puzzle"]
    return puzzle


def test_note_is_read_without_a_reader_and_decides_the_choice() -> None:
    notes = (((0, 1), (2, 1)), ((0, 1), (1, 0)))
    game = MindGame(puzzle=PUZZLE, messages=1, notes=notes, condition="revealed")
    start = game.start()
    assert game.options(start, PERSUADER) == (Tell(0), Tell(1))
    chosen = []
    for note in (0, 1):
        state = game.step(start, {PERSUADER: Tell(note)})
        assert game.to_move(state) == (TARGET,)
        (reply,) = game.options(state, TARGET)
        state = game.step(state, {TARGET: reply})  # type: ignore[dict-item]
        assert game.to_move(state) == ()
        chosen.append(game.current_choice(state))
    assert chosen[0] == PUZZLE.goal != chosen[1]


@pytest.mark.parametrize(
    ("notes", "variant", "problem"),
    [
        ((((0, 7),), ((0, 1),)), "plain", "cells of the puzzle"),
        ((((0, 1),),), "plain", "2 to 8"),
        ((((0, 1),), ((0, 2),)), "discrete_game", "discrete_game has none"),
    ],
)
def test_unusable_notes_are_refused(notes: Any, variant: Any, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        MindGame(puzzle=PUZZLE, notes=notes, variant=variant)


def test_members_of_knows_share_all_but_what_was_read() -> None:
    for number in range(20):
        pair = draw_pair(PAIRS[0], 1, 3, number)
        first, second = (puzzle_of(pair, member) for member in (0, 1))
        for field in ("utilities", "target_values", "goal"):
            assert first[field] == second[field]
        read = [
            {tuple(c) for c in CELLS} - {tuple(c) for c in p["hidden"]} for p in (first, second)
        ]
        assert len(read[0]) == len(read[1]) == 3 and len(read[0] ^ read[1]) == 4
        effects = [sorted((r, first["utilities"][r][c]) for r, c in cells) for cells in read]
        assert effects[0] == effects[1]


def test_members_of_likes_share_all_but_two_likes() -> None:
    for number in range(20):
        pair = draw_pair(PAIRS[1], 1, 3, number)
        first, second = (puzzle_of(pair, member) for member in (0, 1))
        for field in ("utilities", "hidden", "goal"):
            assert first[field] == second[field]
        likes = first["target_values"], second["target_values"]
        assert sorted(likes[0]) == sorted(likes[1])
        assert sum(a != b for a, b in zip(*likes, strict=True)) == 2


@pytest.mark.parametrize("recipe", PAIRS, ids=lambda recipe: recipe.name)
def test_right_note_wins_and_every_other_loses(recipe: PairRecipe) -> None:
    for number in range(10):
        pair = draw_pair(recipe, 1, 4, number)
        for member in (0, 1):
            position = open_position(recipe, pair, member)
            payoffs = []
            for action in position.asks["do"].options:
                state = position.game.step(position.state, {PERSUADER: action})
                (reply,) = position.game.options(state, TARGET)
                state = position.game.step(state, {TARGET: reply})
                payoffs.append(position.game.payoffs(state)[PERSUADER])
            (right,) = right_answers(recipe, position)["do"]
            assert payoffs == [float(note == right.note) for note in range(len(payoffs))]


def test_random_player_draws_notes_and_predictions() -> None:
    recipe = PAIRS[0]
    answers = []
    for number in range(12):
        pair = draw_pair(recipe, 1, 4, number)
        setup = resolve_setup(position_setup(recipe, pair, 0, PlayerSpec("random"), seed=number))
        match: Match = Match(registry.game("mindgames"), setup)
        Driver(match, players_of(match)).run()
        read = read_position(match.episode())
        assert read is not None
        answers.append((read.answers["know"], read.answers["do"].note, read.right["know"][0]))
    assert len({note for _, note, _ in answers}) > 1
    assert any(predicted != right for predicted, _, right in answers)


def test_player_that_writes_is_refused_in_a_game_with_notes() -> None:
    pair = draw_pair(PAIRS[0], 1, 4, 0)
    with pytest.raises(BadInput, match="this game has notes"):
        resolve_setup(position_setup(PAIRS[0], pair, 0, PlayerSpec("revealed")))


@pytest.mark.parametrize("recipe", PAIRS, ids=lambda recipe: recipe.name)
def test_page_states_the_mind_but_no_answer(recipe: PairRecipe) -> None:
    position = open_position(recipe, draw_pair(recipe, 1, 3, 0), 0)
    page = page_of(position.asks["do"])
    assert "It chooses the proposal with most points" in page
    assert page.count("\n- P: ") == page.count("\n- S: ") == 1
    assert "characters" not in page and "Messages left" not in page


def test_target_without_a_single_best_proposal_has_no_certificate() -> None:
    pair = draw_pair(PAIRS[0], 1, 3, 0)
    puzzle = puzzle_of(pair, 0)
    params = {**pair.members[0].params, "puzzle": {**puzzle, "hidden": [list(c) for c in CELLS]}}
    member = msgspec.structs.replace(pair.members[0], params=params)
    problems = certify(msgspec.structs.replace(pair, members=(member, pair.members[1]))).problems
    assert any(problem.startswith("C3: member 0") for problem in problems)


def test_tie_is_no_choice() -> None:
    assert TargetMind((1, 1, 1), frozenset()).choice(((1, 0, 0), (0, 1, 0), (0, 0, 1))) is None
