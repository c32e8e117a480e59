"""Planners played out against the exact target, over one puzzle of every class."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from benchmarks.problem_sets.mindgames import sample
from sally.games.mindgames.claims import Claims, Names, disclosed_cells, falsehoods
from sally.games.mindgames.planners import (
    PersuaderKnowledge,
    at_start,
    disclose,
    disclose_smallest_win,
    goal_only,
    greedy,
    hidden,
    smallest_win,
    tell_all,
)
from sally.games.mindgames.puzzles import Puzzle
from sally.games.mindgames.replies import answer, known_cells
from sally.games.mindgames.target import (
    Memory,
    choice_of,
    first_mind,
    learn_cells,
    random_success_formula,
)

NAMES = Names(proposals=("A", "B", "C"), attributes=("x", "y", "z"))
PUZZLES = sample(252, seed=30)
MEMORIES: tuple[Memory, ...] = ("sequential", "frozen")
Planner = Callable[[PersuaderKnowledge, Names], Claims]


def play_games(puzzle: Puzzle, planner: Planner, memory: Memory, *, shown: bool) -> Iterator[int]:
    """The target's choice after each of eight messages; the planner learns only from answers."""
    persuader_knowledge = at_start(puzzle, revealed=shown)
    mind = first_mind(puzzle)
    for turn in range(8):
        said = planner(persuader_knowledge, NAMES)
        assert not falsehoods(said, puzzle, NAMES)
        mind = learn_cells(puzzle, mind, disclosed_cells(said, NAMES), memory)
        heard = answer(puzzle, mind, said, NAMES)
        likes, knowledge = persuader_knowledge.likes, persuader_knowledge.known_cells
        if len(heard.motivation) == 3:
            likes = tuple(v for _, v in heard.motivation)
        if said.informational:
            knowledge = known_cells(heard)
        if knowledge is not None:
            knowledge |= known_cells(heard)
        persuader_knowledge = PersuaderKnowledge(
            persuader_knowledge.utilities, persuader_knowledge.goal, likes, knowledge, turn + 1
        )
        yield choice_of(puzzle, mind)


@pytest.mark.parametrize("memory", MEMORIES)
def test_revealed_planner_wins_every_puzzle_with_its_first_message(memory: Memory) -> None:
    for puzzle in PUZZLES:
        assert set(play_games(puzzle, disclose_smallest_win, memory, shown=True)) == {puzzle.goal}


@pytest.mark.parametrize("memory", MEMORIES)
def test_hidden_planner_asks_once_and_wins_every_puzzle(memory: Memory) -> None:
    for puzzle in PUZZLES:
        choices = list(play_games(puzzle, hidden, memory, shown=False))
        assert choices == [puzzle.initial] + [puzzle.goal] * 7


def test_smallest_winning_set_is_the_puzzle_s_own() -> None:
    for puzzle in PUZZLES:
        assert smallest_win(at_start(puzzle, revealed=True)) == puzzle.winning


def test_plan_without_target_values_is_refused() -> None:
    with pytest.raises(ValueError, match="ask for both first"):
        smallest_win(at_start(PUZZLES[0], revealed=False))


@pytest.mark.parametrize("memory", MEMORIES)
def test_full_disclosure_leads_to_the_trap(memory: Memory) -> None:
    for puzzle in PUZZLES:
        assert set(play_games(puzzle, tell_all, memory, shown=False)) == {puzzle.trap}


@pytest.mark.parametrize("memory", MEMORIES)
def test_disclosing_only_the_goal_never_wins(memory: Memory) -> None:
    for puzzle in PUZZLES:
        assert puzzle.goal not in play_games(puzzle, goal_only, memory, shown=False)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("shown", [True, False])
def test_greedy_planner_wins_if_it_knows_or_asks(memory: Memory, shown: bool) -> None:
    for puzzle in PUZZLES:
        choices = list(play_games(puzzle, greedy, memory, shown=shown))
        assert choices[0] != puzzle.goal and choices[-1] == puzzle.goal


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("n", [4, 8])
def test_random_disclosure_win_rate_equals_the_formula(memory: Memory, n: int) -> None:
    rng = np.random.default_rng(5)
    games = 3000
    puzzle = PUZZLES[0]

    def planner(seen: PersuaderKnowledge, names: Names) -> Claims:
        cells = [seen.cells[int(rng.integers(len(seen.cells)))]] if seen.turn < n else []
        return disclose(seen, cells, names)

    won = sum(
        list(play_games(puzzle, planner, memory, shown=False))[-1] == puzzle.goal
        for _ in range(games)
    )
    p = float(random_success_formula(n, memory))
    assert abs(won / games - p) < 4 * (p * (1 - p) / games) ** 0.5
