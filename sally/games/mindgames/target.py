"""The exact target: it believes all messages, computes the value of each proposal from the cells
it knows, and chooses the best one."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

import msgspec

from sally.games.mindgames.puzzles import Cell, Puzzle

Memory = Literal["sequential", "frozen"]


class Mind(msgspec.Struct, frozen=True):
    """The target's knowledge, and the proposal that it chooses if the best ones are tied."""

    known: frozenset[Cell]
    remembered: int


def first_mind(puzzle: Puzzle) -> Mind:
    """Return the target's mind before the first message."""
    return Mind(known=puzzle.visible, remembered=puzzle.initial)


def values(puzzle: Puzzle, known_cells: Iterable[Cell]) -> tuple[int, ...]:
    """Return the target's value of each proposal; an unknown cell counts as 0."""
    totals = [0] * len(puzzle.utilities)
    for proposal, attribute in frozenset(known_cells):
        totals[proposal] += puzzle.target_values[attribute] * puzzle.utilities[proposal][attribute]
    return tuple(totals)


def ranking(proposal_values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the proposals best first; those of equal value share a rank, in letter order."""
    return tuple(
        tuple(p for p, v in enumerate(proposal_values) if v == level)
        for level in sorted(set(proposal_values), reverse=True)
    )


def choice(proposal_values: tuple[int, ...], remembered: int) -> int:
    """Return the unique best proposal or, on a tie at the top, the remembered choice."""
    best = max(proposal_values)
    return proposal_values.index(best) if proposal_values.count(best) == 1 else remembered


def choice_of(puzzle: Puzzle, mind: Mind) -> int:
    """Return the target's choice in this state of mind."""
    return choice(values(puzzle, mind.known), mind.remembered)


def learn_cells(puzzle: Puzzle, mind: Mind, cells: Iterable[Cell], memory: Memory) -> Mind:
    """Return the target's mind after a turn in which it learned `cells`.

    With sequential memory, the current choice is remembered after every turn; doing so before every
    turn would be equivalent, because unchanged knowledge gives the same choice.
    """
    new_mind = Mind(known=mind.known | frozenset(cells), remembered=mind.remembered)
    return remember_choice(puzzle, new_mind) if memory == "sequential" else new_mind


def remember_choice(puzzle: Puzzle, mind: Mind) -> Mind:
    """Return a mind with the same knowledge that remembers the current choice."""
    return Mind(known=mind.known, remembered=choice_of(puzzle, mind))


def random_success_formula(n: int, memory: Memory, cells: int = 9) -> Fraction:
    """Return the chance that `n` uniform disclosures with replacement, one per turn, win.

    The chance is the same for every standard puzzle with this many cells. In such a puzzle, the
    goal becomes the best proposal once two winning cells are disclosed; each of two spoiling cells
    undoes this.

    With frozen memory, both winning cells and neither spoiling cell must be drawn (inclusion and
    exclusion). With sequential memory, the choice of the goal is remembered once both winning cells
    are known, and persists in the tie that one spoiling cell causes; the sum over the turn in which
    that cell is drawn is geometric.
    """
    if memory == "frozen":
        ways = Fraction((cells - 2) ** n - 2 * (cells - 3) ** n + (cells - 4) ** n)
    else:
        ways = Fraction(2 * (cells - 1) ** n + (cells - 4) ** n, 3) - (cells - 2) ** n
    return ways / Fraction(cells**n)
