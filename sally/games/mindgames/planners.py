"""Exact planners for the persuader: functions from its knowledge to its next claims."""

import itertools
from collections.abc import Iterable

import msgspec

from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims
from sally.games.mindgames.puzzles import Cell, Puzzle, all_cells


class PersuaderKnowledge(msgspec.Struct, frozen=True):
    """A persuader's knowledge: the table, its goal, and what it has learned about the target.

    `likes` and `known` are None until they are revealed or asked about.
    """

    utilities: tuple[tuple[int, ...], ...]
    goal: int
    likes: tuple[int, ...] | None = None
    known: frozenset[Cell] | None = None
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
        known=puzzle.visible if revealed else None,
    )


def worth(
    seen: PersuaderKnowledge, likes: tuple[int, ...], cells: Iterable[Cell]
) -> tuple[int, ...]:
    """Return the target's value of each proposal if the target knows exactly these cells."""
    totals = [0] * len(seen.utilities)
    for row, column in frozenset(cells):
        totals[row] += likes[column] * seen.utilities[row][column]
    return tuple(totals)


def lead(seen: PersuaderKnowledge, likes: tuple[int, ...], cells: Iterable[Cell]) -> int:
    """Return the goal's lead over the best other proposal (negative if the goal is behind)."""
    totals = worth(seen, likes, cells)
    return totals[seen.goal] - max(t for row, t in enumerate(totals) if row != seen.goal)


def smallest_win(seen: PersuaderKnowledge) -> tuple[Cell, ...] | None:
    """Return the smallest set of cells, unknown to the target, whose disclosure makes the goal
    strictly best; None if no set does."""
    if seen.likes is None or seen.known is None:
        raise ValueError("A plan needs the target's likes and knowledge; ask for both first.")
    untold = [cell for cell in seen.cells if cell not in seen.known]
    for size in range(len(untold) + 1):
        for cells in itertools.combinations(untold, size):
            if lead(seen, seen.likes, seen.known | frozenset(cells)) > 0:
                return cells
    return None


def disclose(seen: PersuaderKnowledge, cells: Iterable[Cell], names: Names) -> Claims:
    """Return the claims that disclose these cells truthfully."""
    return claims(
        Disclosure(names.proposals[r], names.attributes[c], seen.utilities[r][c]) for r, c in cells
    )


def ask_everything(names: Names) -> Claims:
    """Return the claims that ask for all of the target's knowledge and likes."""
    return claims(
        motivational=names.attributes,
        informational=[Asked(p, a) for p in names.proposals for a in names.attributes],
    )


def revealed(seen: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose the smallest winning set at once, and nothing afterwards."""
    return disclose(seen, smallest_win(seen) or (), names) if seen.turn == 0 else Claims()


def hidden(seen: PersuaderKnowledge, names: Names) -> Claims:
    """Ask for the target's knowledge and likes, if unknown; then disclose the smallest winning set.

    Once the goal leads, the smallest set is empty, and nothing more is disclosed.
    """
    if seen.likes is None or seen.known is None:
        return ask_everything(names)
    return disclose(seen, smallest_win(seen) or (), names)


def greedy(seen: PersuaderKnowledge, names: Names) -> Claims:
    """In each turn, disclose one cell of the table (the effect of one proposal on one attribute).

    The cell is the one that most increases the lead of the goal (the proposal that the persuader
    wants chosen) over the best other proposal. Nothing is disclosed if the goal already leads or if
    no cell increases its lead. If the target's likes and knowledge are hidden, ask for them first.
    """
    if seen.likes is None or seen.known is None:
        return ask_everything(names)
    likes, known = seen.likes, seen.known
    now = lead(seen, likes, known)
    untold = [cell for cell in seen.cells if cell not in known]
    best = max(untold, key=lambda cell: lead(seen, likes, known | {cell}), default=None)
    if now > 0 or best is None or lead(seen, likes, known | {best}) <= now:
        return Claims()
    return disclose(seen, [best], names)


def tell_all(seen: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose every cell at once."""
    return disclose(seen, seen.cells, names) if seen.turn == 0 else Claims()


def goal_only(seen: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose everything about the goal and nothing about the other proposals."""
    about = [cell for cell in seen.cells if cell[0] == seen.goal]
    return disclose(seen, about, names) if seen.turn == 0 else Claims()
