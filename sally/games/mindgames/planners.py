"""Exact planners for the persuader: functions from its knowledge to its next claims."""

import itertools
from collections.abc import Iterable

import msgspec

from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims
from sally.games.mindgames.puzzles import Cell, Puzzle, all_cells


class PersuaderKnowledge(msgspec.Struct, frozen=True):
    """A persuader's knowledge: the table, its goal, and what it has learned about the target.

    `likes` and `known_cells` are None until they are revealed or asked about.
    """

    utilities: tuple[tuple[int, ...], ...]
    goal: int
    likes: tuple[int, ...] | None = None
    known_cells: frozenset[Cell] | None = None
    turn: int = 0

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell, row by row."""
        return all_cells(len(self.utilities), len(self.utilities[0]))


def at_start(puzzle: Puzzle, *, revealed: bool) -> PersuaderKnowledge:
    """Return the persuader's knowledge before its first message."""
    return PersuaderKnowledge(
        utilities=puzzle.utilities,
        goal=puzzle.goal,
        likes=puzzle.target_values if revealed else None,
        known_cells=puzzle.visible if revealed else None,
    )


def proposal_values(
    persuader: PersuaderKnowledge, likes: tuple[int, ...], cells: Iterable[Cell]
) -> tuple[int, ...]:
    """Return the target's value of each proposal if the target knows exactly these cells."""
    totals = [0] * len(persuader.utilities)
    for row, column in frozenset(cells):
        totals[row] += likes[column] * persuader.utilities[row][column]
    return tuple(totals)


def lead(persuader: PersuaderKnowledge, likes: tuple[int, ...], cells: Iterable[Cell]) -> int:
    """Return the goal's lead over the best other proposal (negative if the goal is behind)."""
    totals = proposal_values(persuader, likes, cells)
    return totals[persuader.goal] - max(t for row, t in enumerate(totals) if row != persuader.goal)


def smallest_win(persuader: PersuaderKnowledge) -> tuple[Cell, ...] | None:
    """Return the smallest set of cells, unknown to the target, whose disclosure makes the goal
    strictly best; None if no set does."""
    if persuader.likes is None or persuader.known_cells is None:
        raise ValueError("A plan needs the target's likes and knowledge; ask for both first.")
    untold = [cell for cell in persuader.cells if cell not in persuader.known_cells]
    for size in range(len(untold) + 1):
        for cells in itertools.combinations(untold, size):
            if lead(persuader, persuader.likes, persuader.known_cells | frozenset(cells)) > 0:
                return cells
    return None


def disclose(persuader: PersuaderKnowledge, cells: Iterable[Cell], names: Names) -> Claims:
    """Return the claims that disclose these cells truthfully."""
    return claims(
        Disclosure(names.proposals[r], names.attributes[c], persuader.utilities[r][c])
        for r, c in cells
    )


def ask_everything(names: Names) -> Claims:
    """Return the claims that ask for all of the target's knowledge and likes."""
    return claims(
        motivational=names.attributes,
        informational=[Asked(p, a) for p in names.proposals for a in names.attributes],
    )


def disclose_smallest_win(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose the smallest winning set at once, and nothing afterwards."""
    return (
        disclose(persuader, smallest_win(persuader) or (), names)
        if persuader.turn == 0
        else Claims()
    )


def hidden(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Ask for the target's knowledge and likes, if unknown; then disclose the smallest winning set.

    Once the goal leads, the smallest set is empty, and nothing more is disclosed.
    """
    if persuader.likes is None or persuader.known_cells is None:
        return ask_everything(names)
    return disclose(persuader, smallest_win(persuader) or (), names)


def greedy(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """In each turn, disclose one cell of the table (the effect of one proposal on one attribute).

    The cell is the one that most increases the lead of the goal (the proposal that the persuader
    wants chosen) over the best other proposal. Nothing is disclosed if the goal already leads or if
    no cell increases its lead. If the target's likes and knowledge are hidden, ask for them first.
    """
    if persuader.likes is None or persuader.known_cells is None:
        return ask_everything(names)
    likes, known_cells = persuader.likes, persuader.known_cells
    now = lead(persuader, likes, known_cells)
    untold = [cell for cell in persuader.cells if cell not in known_cells]
    best = max(untold, key=lambda cell: lead(persuader, likes, known_cells | {cell}), default=None)
    if now > 0 or best is None or lead(persuader, likes, known_cells | {best}) <= now:
        return Claims()
    return disclose(persuader, [best], names)


def tell_all(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose every cell at once."""
    return disclose(persuader, persuader.cells, names) if persuader.turn == 0 else Claims()


def goal_only(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose everything about the goal and nothing about the other proposals."""
    about = [cell for cell in persuader.cells if cell[0] == persuader.goal]
    return disclose(persuader, about, names) if persuader.turn == 0 else Claims()
