"""Dictionary-encoded columns: each distinct value is held once, and rows hold its code."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Generic, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST = 1 << 16  # distinct numbers up to which encoding saves memory
NOT_A_NUMBER = int(np.array(np.nan).view(np.uint64))
T = TypeVar("T", bound=np.generic)


class Dictionary:
    """Distinct values, coded in order of their first appearance."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.values: list[Any] = []
        self._codes: dict[Hashable, int] = {}
        for value in values:
            self.code(value)

    def code(self, value: Any, key: Hashable = None) -> int:
        """Return the code of a value, looked up by `key` if the value is not hashable."""
        code = self._codes.setdefault(value if key is None else key, len(self._codes))
        if code == len(self.values):
            self.values.append(value)
        return code


def transposed(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Transpose rows of a fixed width: return a list of columns."""
    return [[row[n] for row in rows] for n in range(width)]


class EncodedColumn(Generic[T]):
    """A dictionary-encoded column of numbers."""

    def __init__(self, different: NDArray[T], which: NDArray[Any] | None) -> None:
        self._different, self._which = different, which  # None: one number for each row

    def __len__(self) -> int:
        return len(self._different if self._which is None else self._which)

    def __getitem__(self, rows: Any) -> Any:
        """Return the numbers stored in the given rows, or the number stored in one row."""
        return self._different[rows if self._which is None else self._which[rows]]

    def take(self, rows: NDArray[Any]) -> EncodedColumn[T]:
        """Return the given rows, in the given order."""
        if self._which is None:
            return EncodedColumn(self._different[rows], None)
        if len(self._different) == 1:
            return EncodedColumn(self._different, np.broadcast_to(np.uint8(0), len(rows)))
        return EncodedColumn(self._different, self._which[rows])


class ColumnEncoder:
    """Builder of a column from chunks; numbers count as equal only if all of their bits are
    equal."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._pieces: list[NDArray[Any] | int] = []  # codes; an int: so many rows without a number
        self._plain = False  # whether there are too many distinct numbers to encode

    def add(self, numbers: Floats) -> None:
        """Append rows that contain these numbers."""
        if self._plain:
            self._pieces.append(numbers)
            return
        different, which = np.unique(numbers.view(np.uint64), return_inverse=True)
        known = self._known
        codes = [known.setdefault(bits, len(known)) for bits in different.tolist()]
        self._pieces.append(np.array(codes, dtype=np.uint32).astype(self._kind())[which])
        if len(known) > MOST:
            table = self._table()
            self._pieces = [p if isinstance(p, int) else table[p] for p in self._pieces]
            self._plain, self._known = True, {}

    def add_none(self, rows: int) -> None:
        """Add rows in which the number is missing."""
        self._pieces.append(rows)

    def _kind(self) -> type[np.unsignedinteger[Any]]:
        many = len(self._known)
        return np.uint8 if many <= 1 << 8 else np.uint16 if many <= MOST else np.uint32

    def _table(self) -> Floats:
        return np.array(list(self._known), dtype=np.uint64).view(np.float64)

    def column(self) -> EncodedColumn[np.float64]:
        """Return the whole column and free the chunks."""
        pieces, self._pieces = self._pieces, []
        if self._plain:
            blank = (np.full(p, np.nan) if isinstance(p, int) else p for p in pieces)
            return EncodedColumn(np.concatenate(list(blank)), None)
        if not self._known:
            rows = sum(p for p in pieces if isinstance(p, int))
            return EncodedColumn(np.array([np.nan]), np.broadcast_to(np.uint8(0), rows))
        none = self._known.setdefault(NOT_A_NUMBER, len(self._known))
        kind = self._kind()
        codes = (np.full(p, none, kind) if isinstance(p, int) else p for p in pieces)
        return EncodedColumn(self._table(), np.concatenate(list(codes)))


# --- columns of one number ------------------------------------------------------------------------


def lean(column: Floats) -> Floats:
    """Return the column, or a broadcast view of one number if all rows are equal."""
    bits = column.view(np.uint64)
    return np.broadcast_to(column[0].copy(), column.shape) if (bits == bits[0]).all() else column


def is_one_number(columns: list[Floats | int]) -> TypeGuard[list[Floats]]:
    """Return whether all of the given columns are broadcast views of a single number, and this
    number is the same in all of them, bit by bit."""
    one = [c for c in columns if not isinstance(c, int) and c.strides == (0,) and len(c)]
    return len(one) == len(columns) and len({c[:1].tobytes() for c in one}) == 1


def taken(column: Floats, rows: NDArray[Any]) -> Floats:
    """Return some rows of a column; for a broadcast view, the result is a broadcast view too."""
    if column.strides != (0,) or not len(column):
        some: Floats = column[rows]
        return some
    many = int(rows.sum()) if rows.dtype == np.bool_ else len(rows)
    return np.broadcast_to(column[0].copy(), many)
