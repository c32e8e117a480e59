"""The frozen sets keep their promises and come out of their seeds again."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from benchmarks.problem_sets.mindgames import (
    holds,
    make,
    sample_balanced,
    set_as_json,
    winning_sets,
)
from sally.core.errors import BadInput
from sally.games.mindgames.frozen import COLLECTIONS, Collection, frozen, puzzle
from sally.games.mindgames.matrices import Solutions, all_matrices, symmetry_classes
from sally.games.mindgames.puzzles import Puzzle

every_set = pytest.mark.parametrize("name", COLLECTIONS)


@every_set
def test_frozen_file_equals_generator_output_exactly(name: Collection) -> None:
    stored = files("sally.games.mindgames").joinpath("instances", f"{name}.json").read_text("utf-8")
    assert set_as_json(make(name)) == stored


@every_set
def test_every_puzzle_satisfies_the_conditions_of_its_kind(name: Collection) -> None:
    kind = "standard" if name in ("standard", "variants") else name.removeprefix("balanced_")
    for current_puzzle in frozen(name).puzzles:
        assert current_puzzle.kind == kind and holds(current_puzzle)


def test_collections_have_the_published_sizes() -> None:
    assert {name: len(frozen(name).puzzles) for name in COLLECTIONS} == {
        "standard": 40,
        "variants": 20,
        "always_win": 20,
        "balanced_never_win": 20,
        "balanced_can_win": 20,
    }


def test_full_disclosure_wins_half_of_balanced_can_win_puzzles() -> None:
    for number, current_puzzle in enumerate(frozen("balanced_can_win").puzzles):
        assert (current_puzzle.trap == current_puzzle.goal) == (number % 2 == 0)
        assert (current_puzzle.hidden in winning_sets(current_puzzle)) == (number % 2 == 0)


def test_full_disclosure_moves_target_in_half_of_balanced_never_win() -> None:
    for number, current_puzzle in enumerate(frozen("balanced_never_win").puzzles):
        assert (current_puzzle.trap == current_puzzle.initial) == (number % 2 == 0)
        assert current_puzzle.goal not in (current_puzzle.trap, current_puzzle.initial)


@pytest.mark.parametrize("kind", ["never_win", "can_win"])
def test_balanced_draws_satisfy_their_conditions_for_any_seed(kind: Any) -> None:
    puzzles = sample_balanced(kind, 6, seed=9)
    assert all(map(holds, puzzles)) and puzzles == sample_balanced(kind, 6, seed=9)
    assert puzzles != sample_balanced(kind, 6, seed=10)


def _class_of(item: Puzzle, found: Solutions, classes: Any) -> int:
    """The symmetry class of a standard puzzle, found by looking it up among all matrices."""
    order = (item.goal, item.trap, item.initial)
    rows = [item.utilities[p] for p in order]
    hidden = [[(p, a) in item.hidden for a in range(3)] for p in order]
    same = (
        (found.utilities == rows).all(axis=(1, 2))
        & (found.target_values == item.target_values).all(axis=1)
        & (found.hidden == hidden).all(axis=(1, 2))
    )
    (place,) = same.nonzero()[0]
    return int(classes[place])


def test_standard_puzzles_of_both_sets_are_in_distinct_classes() -> None:
    puzzles = [*frozen("standard").puzzles, *frozen("variants").puzzles]
    solutions = all_matrices()
    classes = symmetry_classes(solutions)
    assert len(
        {_class_of(current_puzzle, solutions, classes) for current_puzzle in puzzles}
    ) == len(puzzles)


def test_roles_are_spread_over_all_letters() -> None:
    for role in ("goal", "trap", "initial"):
        places = [getattr(current_puzzle, role) for current_puzzle in frozen("standard").puzzles]
        assert {places.count(row) > 5 for row in range(3)} == {True}


def test_number_outside_a_set_is_refused() -> None:
    with pytest.raises(BadInput, match="0 to 19, not -1"):
        puzzle("variants", -1)
