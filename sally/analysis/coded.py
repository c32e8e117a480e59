"""Columns of numbers of which few are different: each is written once, and rows say which."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST = 1 << 16  # different numbers up to which a column is worth it
T = TypeVar("T", bound=np.generic)


class Column(Generic[T]):
    """A column of numbers; what it is asked for is worked out of the different ones."""

    def __init__(self, different: NDArray[T], which: NDArray[Any] | None) -> None:
        self._different, self._which = different, which  # None: every row has its own

    def __len__(self) -> int:
        return len(self._different if self._which is None else self._which)

    def __getitem__(self, rows: Any) -> Any:
        """The numbers of some rows, or of one."""
        return self._different[rows if self._which is None else self._which[rows]]

    def take(self, rows: NDArray[Any]) -> Column[T]:
        """Some rows in this order."""
        if self._which is None:
            return Column(self._different[rows], None)
        return Column(self._different, self._which[rows])


class Coding:
    """A column of numbers, piece by piece; bits decide what is different, so nothing is lost."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._pieces: list[NDArray[Any]] = []  # numbers, or from the first coded one on codes
        self._plain = False  # whether there are too many different ones

    def add(self, numbers: Floats) -> None:
        """Take some rows."""
        if self._plain:
            self._pieces.append(numbers)
            return
        different, which = np.unique(numbers.view(np.uint64), return_inverse=True)
        known = self._known
        codes = [known.setdefault(bits, len(known)) for bits in different.tolist()]
        self._pieces.append(np.array(codes, dtype=np.uint32).astype(self._kind())[which])
        if len(known) > MOST:
            table = self._table()
            self._pieces = [table[piece] for piece in self._pieces]
            self._plain, self._known = True, {}

    def add_none(self, rows: int) -> None:
        """Take so many rows without a number."""
        self.add(np.full(rows, np.nan))

    def _kind(self) -> type[np.unsignedinteger[Any]]:
        many = len(self._known)
        return np.uint8 if many <= 1 << 8 else np.uint16 if many <= MOST else np.uint32

    def _table(self) -> Floats:
        return np.array(list(self._known), dtype=np.uint64).view(np.float64)

    def column(self) -> Column[np.float64]:
        """All rows; what was taken is let go."""
        pieces, self._pieces = self._pieces, []
        if self._plain:
            return Column(np.concatenate(pieces), None)
        none = np.array([], dtype=np.uint8)
        codes = np.concatenate([*pieces, none])
        return Column(self._table(), codes)
