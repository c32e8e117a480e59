"""The matrices come out as many as the protocol says, and each keeps its promise."""

from collections import Counter
from itertools import combinations

import msgspec
import numpy as np
import pytest

from benchmarks.problem_sets.mindgames import (
    holds,
    reletter,
    sample,
    sample_kind,
    winning_sets,
    wins,
)
from sally.games.mindgames.matrices import (
    Solutions,
    all_matrices,
    count_with_persuader,
    symmetry_classes,
)
from sally.games.mindgames.puzzles import Kind, Puzzle
from sally.games.mindgames.target import values

OTHER_KINDS: tuple[Kind, ...] = ("never_win", "always_win", "can_win")


@pytest.fixture(scope="module")
def everything() -> Solutions:
    return all_matrices()


def test_matrix_counts_equal_the_protocol(everything: Solutions) -> None:
    assert len(everything) == 12_024
    assert count_with_persuader(everything) == 76_728
    assert symmetry_classes(everything).max() + 1 == 252


def test_matrix_counts_with_two_attributes_are_56_and_24() -> None:
    small = all_matrices(attributes=2)
    assert (count_with_persuader(small), len(small)) == (56, 24)


def test_three_hidden_cells_are_not_enough() -> None:
    assert len(all_matrices(max_hidden=3)) == 0


def test_matrices_are_unique(everything: Solutions) -> None:
    n = len(everything)
    rows = np.concatenate(
        [
            everything.utilities.reshape(n, -1),
            everything.target_values,
            everything.hidden.reshape(n, -1),
        ],
        axis=1,
    )
    assert len(np.unique(rows, axis=0)) == n


def test_every_matrix_has_four_hidden_cells_of_which_two_win(everything: Solutions) -> None:
    assert set(everything.hidden.sum(axis=(1, 2))) == {4}
    assert set(everything.winning.sum(axis=(1, 2))) == {2}
    assert not (everything.winning & ~everything.hidden).any()


def test_one_puzzle_of_each_class_satisfies_standard_conditions() -> None:
    puzzles = sample(252, seed=7)
    assert all(holds(puzzle) for puzzle in puzzles)
    for puzzle in puzzles:
        assert winning_sets(puzzle) == (puzzle.winning,)
        about_goal = [cell for cell in puzzle.hidden if cell[0] == puzzle.goal]
        assert not any(
            wins(puzzle, combination)
            for size in range(len(about_goal) + 1)
            for combination in combinations(about_goal, size)
        )


def test_sample_uses_each_class_once_before_repeating() -> None:
    def fingerprint(puzzle: Puzzle) -> tuple[object, ...]:
        order = (puzzle.goal, puzzle.trap, puzzle.initial)
        back = reletter(puzzle, tuple(order.index(p) for p in range(3)))
        faces = []
        for a, like in enumerate(back.target_values):
            column = tuple(row[a] for row in back.utilities)
            dark = tuple((p, a) in back.hidden for p in range(3))
            faces.append(min(((like, *column), dark), ((-like, *(-u for u in column)), dark)))
        return tuple(sorted(faces))

    puzzles = sample(252, seed=3)
    assert len({fingerprint(puzzle) for puzzle in puzzles}) == 252


def test_puzzles_follow_the_seed() -> None:
    assert sample(5, seed=11) == sample(5, seed=11)
    assert sample(5, seed=11) != sample(5, seed=12)


def test_letters_are_dealt_anew() -> None:
    dealt = sample(120, seed=1)
    assert len({(p.goal, p.trap, p.initial) for p in dealt}) == 6


def test_relettering_only_permutes_rows() -> None:
    puzzle = sample(1, seed=2)[0]
    order = (2, 0, 1)
    moved = reletter(puzzle, order)
    roles = (puzzle.goal, puzzle.trap, puzzle.initial)
    assert (moved.goal, moved.trap, moved.initial) == tuple(order[row] for row in roles)
    assert moved.utilities[2] == puzzle.utilities[0]
    assert values(moved, moved.cells)[0] == values(puzzle, puzzle.cells)[1]
    assert holds(moved)


def test_puzzle_survives_plain_json() -> None:
    puzzle = sample(1, seed=5)[0]
    plain = msgspec.json.decode(msgspec.json.encode(puzzle))
    assert msgspec.convert(plain, Puzzle) == puzzle


def test_puzzle_with_an_unknown_field_is_refused() -> None:
    plain = msgspec.to_builtins(sample(1, seed=5)[0]) | {"colour": "red"}
    with pytest.raises(msgspec.ValidationError, match="colour"):
        msgspec.convert(plain, Puzzle)


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_other_kinds_satisfy_their_conditions_over_all_16_subsets(kind: Kind) -> None:
    puzzles = sample_kind(kind, 25, seed=4)
    won = Counter(
        sum(
            wins(p, combination)
            for size in range(5)
            for combination in combinations(p.hidden, size)
        )
        for p in puzzles
    )
    assert all(len(p.hidden) == 4 and p.kind == kind for p in puzzles)
    if kind == "never_win":
        assert set(won) == {0}
    elif kind == "always_win":
        assert set(won) == {16}
    else:
        assert 0 not in won and 16 not in won
    assert sample_kind(kind, 25, seed=4) == puzzles


def test_violated_condition_is_detected() -> None:
    puzzle = sample(1, seed=9)[0]
    assert not holds(msgspec.structs.replace(puzzle, kind="never_win"))
    assert not holds(msgspec.structs.replace(puzzle, kind="always_win"))
    assert not holds(msgspec.structs.replace(puzzle, winning=puzzle.hidden[:1]))
