"""One MindGames matrix as data: effects, values and hidden cells."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Literal

import msgspec

Cell = tuple[int, int]
Kind = Literal["standard", "never_win", "always_win", "can_win"]

PROPOSALS = 3
MOST_HIDDEN = 4
GOAL, TRAP, INITIAL = 0, 1, 2  # rows of an enumerated matrix, before letters are dealt


class Puzzle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One instance: rows are proposals in letter order, columns are attributes."""

    utilities: tuple[tuple[int, ...], ...]
    hidden: tuple[Cell, ...]
    target_values: tuple[int, ...]
    persuader_values: tuple[int, ...]
    goal: int
    trap: int
    initial: int
    winning: tuple[Cell, ...]
    letters: tuple[str, ...] = ("A", "B", "C")
    kind: Kind = "standard"

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every (proposal, attribute) pair, row by row."""
        return all_cells(len(self.utilities), len(self.target_values))

    @property
    def visible(self) -> frozenset[Cell]:
        """The cells that the target knows before the first message."""
        return _other_cells(len(self.utilities), len(self.target_values), self.hidden)

    def utility(self, cell: Cell) -> int:
        """Return the proposal's effect on the attribute: -1, 0 or 1."""
        return self.utilities[cell[0]][cell[1]]


@lru_cache(maxsize=16)
def all_cells(proposals: int, attributes: int) -> tuple[Cell, ...]:
    """Return every (proposal, attribute) pair of a table of this size, row by row."""
    return tuple(itertools.product(range(proposals), range(attributes)))


@lru_cache(maxsize=1024)
def _other_cells(proposals: int, attributes: int, cells: tuple[Cell, ...]) -> frozenset[Cell]:
    return frozenset(all_cells(proposals, attributes)).difference(cells)
