"""The target chooses the best it knows of, and random talkers fare as the formulas say."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.problem_sets.mindgames import sample
from sally.games.mindgames.puzzles import Puzzle
from sally.games.mindgames.target import (
    Memory,
    Mind,
    choice,
    choice_of,
    first_mind,
    learn_cells,
    random_success_formula,
    ranking,
    values,
)

PUZZLES = sample(252, seed=20)
MEMORIES: tuple[Memory, ...] = ("sequential", "frozen")

# Likes the first attribute, dislikes the second, does not care about the third.
TOY = Puzzle(
    utilities=((1, -1, 1), (1, 1, 0), (0, -1, -1)),
    hidden=((0, 1), (1, 1)),
    target_values=(1, -1, 0),
    persuader_values=(0, 0, 1),
    goal=0,
    trap=1,
    initial=2,
    winning=(),
)


def test_unknown_cells_count_as_zero() -> None:
    assert values(TOY, TOY.cells) == (2, 0, 1)
    assert values(TOY, TOY.visible) == (1, 1, 1)
    assert values(TOY, []) == (0, 0, 0)


def test_ranking_groups_ties() -> None:
    assert ranking((2, 0, 1)) == ((0,), (2,), (1,))
    assert ranking((1, 0, 1)) == ((0, 2), (1,))
    assert ranking((1, 1, 1)) == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("worth", "remembered", "chosen"),
    [((3, 1, 2), 1, 0), ((2, 2, 0), 1, 1), ((2, 2, 0), 2, 2), ((0, 0, 0), 0, 0)],
)
def test_tie_keeps_the_remembered_choice_even_if_worse(
    worth: tuple[int, ...], remembered: int, chosen: int
) -> None:
    assert choice(worth, remembered) == chosen


@pytest.mark.parametrize("puzzle", PUZZLES[:30])
def test_choice_is_initial_without_disclosure_and_trap_after_full_disclosure(
    puzzle: Puzzle,
) -> None:
    start = first_mind(puzzle)
    assert choice_of(puzzle, start) == puzzle.initial
    for memory in MEMORIES:
        assert choice_of(puzzle, learn_cells(puzzle, start, puzzle.cells, memory)) == puzzle.trap
        assert choice_of(puzzle, learn_cells(puzzle, start, puzzle.winning, memory)) == puzzle.goal


def test_tie_after_winning_keeps_the_goal_only_in_sequential_memory() -> None:
    for puzzle in PUZZLES:
        spoil = next(cell for cell in puzzle.hidden if cell not in puzzle.winning)
        ends = {}
        for memory in MEMORIES:
            won = learn_cells(puzzle, first_mind(puzzle), puzzle.winning, memory)
            ends[memory] = choice_of(puzzle, learn_cells(puzzle, won, [spoil], memory))
        assert ends == {"sequential": puzzle.goal, "frozen": puzzle.initial}


@given(st.sampled_from(PUZZLES), st.data())
@settings(max_examples=150, deadline=None)
def test_with_sequential_memory_the_trap_is_absorbing(puzzle: Puzzle, data: st.DataObject) -> None:
    mind = first_mind(puzzle)
    trapped = False
    for cell in data.draw(st.lists(st.sampled_from(puzzle.cells), max_size=12)):
        mind = learn_cells(puzzle, mind, [cell], "sequential")
        chosen = choice_of(puzzle, mind)
        assert not trapped or chosen == puzzle.trap
        trapped = chosen == puzzle.trap


@given(st.sampled_from(PUZZLES), st.data())
@settings(max_examples=100, deadline=None)
def test_telling_known_things_again_changes_nothing(puzzle: Puzzle, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.sampled_from(puzzle.cells), max_size=6))
    for memory in MEMORIES:
        mind = learn_cells(puzzle, first_mind(puzzle), cells, memory)
        assert learn_cells(puzzle, mind, cells, memory) == mind


def random_success(puzzle: Puzzle, n: int, memory: Memory) -> Fraction:
    """Return the exact chance that `n` uniform disclosures with replacement, one a turn, win."""
    odds: dict[Mind, Fraction] = {first_mind(puzzle): Fraction(1)}
    for _ in range(n):
        fractions_after: dict[Mind, Fraction] = {}
        for mind, chance in odds.items():
            for cell in puzzle.cells:
                later_mind = learn_cells(puzzle, mind, [cell], memory)
                fractions_after[later_mind] = fractions_after.get(
                    later_mind, Fraction(0)
                ) + chance / len(puzzle.cells)
        odds = fractions_after
    return sum(
        (chance for mind, chance in odds.items() if choice_of(puzzle, mind) == puzzle.goal),
        Fraction(0),
    )


def test_random_success_is_equal_for_every_puzzle_and_follows_the_formula() -> None:
    for memory in MEMORIES:
        for n in range(5):
            expected = random_success_formula(n, memory)
            assert {random_success(puzzle, n, memory) for puzzle in PUZZLES[::12]} == {expected}
        assert random_success(PUZZLES[0], 8, memory) == random_success_formula(8, memory)


def test_published_random_figures() -> None:
    frozen = [random_success_formula(n, "frozen") for n in range(30)]
    assert frozen.index(max(frozen)) == 6
    assert round(float(frozen[6]), 4) == 0.0752
    assert round(float(frozen[8]), 4) == 0.0650
    assert round(float(random_success_formula(8, "sequential")), 3) == 0.129
    assert frozen[8] == Fraction(7, 9) ** 8 * (1 - 2 * Fraction(6, 7) ** 8 + Fraction(5, 7) ** 8)


def test_target_states_compare_and_hash_by_value() -> None:
    assert first_mind(TOY) == Mind(known=TOY.visible, remembered=TOY.initial)
    assert hash(first_mind(TOY)) == hash(first_mind(TOY))
