"""Reader of a data frame in an .RData file, column by column.

The published frames have some 130,000 rows and two dozen columns. General readers build an object
for every cell and need gigabytes; this one keeps numbers in arrays and stores equal texts once. The
format is R's serialization in big-endian binary (R Internals, section 1.8), versions 2 and 3.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

MISSING = -(2**31)  # NA of whole numbers and truth values
_NIL, _REFERENCE, _ALTREP, _ENVIRONMENT, _POINTER = 254, 255, 238, 4, 22
_SYMBOL, _BUILTIN, _WEAK_REFERENCE, _S4 = 1, (7, 8), 23, 25
_CHARACTERS, _LOGICAL, _WHOLE, _REAL, _COMPLEX, _TEXTS, _LIST, _EXPRESSION, _RAW = (
    9, 10, 13, 14, 15, 16, 19, 20, 24)  # fmt: skip
_EMPTY = {241, 242, 250, 251, 252, 253, _NIL}  # environments and markers without content
_NAMED = {247, 248, 249}  # namespaces, packages and other environments stored by name
_ATTRIBUTED = {239: 2, 240: 6}  # pairlists and calls with attributes
_LINKED = {2, 3, 5, 6, 17}  # pairlists, closures, promises, calls and dots
Column = Sequence[Any]  # texts, floats or whole numbers; None is missing


class BadFrame(ValueError):
    """Raised for a file from which the frame cannot be read; the message says why."""


def read_frame(data: bytes, name: str) -> dict[str, Column]:
    """Return the columns of the data frame called `name` in an .RData file.

    Raises:
        BadFrame: The data is not an .RData file in binary form, or has no such frame.
    """
    plain = _decompress(data)
    if plain[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
        raise BadFrame("it does not start with RDX2 or RDX3, the header of a binary R file")
    try:
        columns, names = _Reader(plain, 7).frame(name)
        return dict(zip(map(str, names), map(_column, columns), strict=True))
    except BadFrame:
        raise
    except (struct.error, IndexError, RecursionError, ValueError) as error:
        raise BadFrame(f"it is truncated or damaged ({error})") from None


def _decompress(data: bytes) -> bytes:
    try:
        if data[:2] == b"\x1f\x8b":
            return gzip.decompress(data)
        if data[:3] == b"BZh":
            return bz2.decompress(data)
        if data[:6] == b"\xfd7zXZ\x00":
            return lzma.decompress(data)
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        raise BadFrame(f"it cannot be decompressed ({error})") from None
    return data


class _Vector:
    """A vector with its attributes; values are an array, a list of texts or a list of vectors."""

    __slots__ = ("attributes", "kind", "values")

    def __init__(self, kind: int, values: Any) -> None:
        self.kind, self.values, self.attributes = kind, values, dict[str, Any]()


def _column(vector: Any) -> Column:
    """Return the values of a column: labels for a factor, None for missing values."""
    if not isinstance(vector, _Vector):
        raise BadFrame("a column is not a vector")
    values = vector.values
    levels = vector.attributes.get("levels")
    if isinstance(levels, _Vector):
        return [None if n == MISSING else levels.values[n - 1] for n in values.tolist()]
    if vector.kind in (_WHOLE, _LOGICAL):
        return [None if n == MISSING else n for n in values.tolist()]
    if vector.kind == _REAL:
        return [None if x != x else x for x in values.tolist()]
    return list(values)


class _Reader:
    """A cursor over serialized R data."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data, self.at = data, position
        self.references: list[Any] = []
        self.texts: dict[bytes, str] = {}

    def frame(self, name: str) -> tuple[list[Any], list[Any]]:
        """Return the columns of the frame called `name`, and their names.

        Nothing after the names is read, such as the pointers and functions that packages attach.
        """
        version, _, _ = (self._int() for _ in range(3))
        if version == 3:
            self._take(self._int())  # the native encoding
        while (flags := self._int()) & 0xFF == 2:  # the saved objects are a pairlist
            if flags & 0x200:
                self.item()
            if (self.item() if flags & 0x400 else "") == name:
                return self._columns(name)
            self.item()
        raise BadFrame(f"it has no data frame called {name}")

    def _columns(self, name: str) -> tuple[list[Any], list[Any]]:
        flags = self._int()
        if flags & 0xFF == _LIST and flags & 0x200:
            columns = [self.item() for _ in range(self._length())]
            while (attribute := self._int()) & 0xFF == 2:
                called = self.item() if attribute & 0x400 else ""
                value = self.item()
                if called == "names" and isinstance(value, _Vector):
                    return columns, value.values
        raise BadFrame(f"{name} is not a data frame")

    def _int(self) -> int:
        (value,) = struct.unpack_from(">i", self.data, self.at)
        self.at += 4
        return int(value)

    def _take(self, size: int) -> bytes:
        chunk = self.data[self.at : self.at + size]
        if len(chunk) < size:
            raise IndexError("the data end too early")
        self.at += size
        return chunk

    def _length(self) -> int:
        size = self._int()
        return size if size >= 0 else (self._int() << 32) + (self._int() & 0xFFFFFFFF)

    def item(self) -> Any:
        """Read one R object and return it: a pairlist, a vector or a name; None for types not
        needed."""
        flags = self._int()
        kind = flags & 0xFF
        if kind in _LINKED or kind in _ATTRIBUTED:
            return self._pairs(flags)
        if kind in _EMPTY:
            return None
        if kind == _SYMBOL:
            name = self.item()
            self.references.append(name)
            return name
        if kind == _REFERENCE:
            return self.references[((flags >> 8) or self._int()) - 1]
        if kind == _CHARACTERS:
            return self._text()
        if kind == _ALTREP:
            return self._compact()
        if kind in _BUILTIN:
            return self._text()
        if kind in (_ENVIRONMENT, _POINTER, _WEAK_REFERENCE) or kind in _NAMED:
            self.references.append(None)
            self._skip(kind)
        elif kind != _S4:
            return self._vector(kind, flags)
        if flags & 0x200 and kind != _ENVIRONMENT:
            self.item()
        return None

    def _skip(self, kind: int) -> None:
        """Read the content of an environment, which is not needed, or of a pointer, which cannot be
        saved."""
        if kind in _NAMED or kind == _ENVIRONMENT:
            self._int()  # 0, or whether it is locked
        parts = {_ENVIRONMENT: 4, _POINTER: 2, _WEAK_REFERENCE: 0}
        for _ in range(parts[kind] if kind in parts else self._int()):
            self.item()

    def _pairs(self, flags: int) -> list[tuple[str, Any]]:
        """Read a linked list of (tag, value) pairs, iteratively rather than by recursion."""
        pairs: list[tuple[str, Any]] = []
        while True:
            kind = flags & 0xFF
            if kind in _ATTRIBUTED:
                flags |= 0x200
            elif kind == _NIL:
                return pairs
            elif kind not in _LINKED:
                self.at -= 4
                pairs.append(("", self.item()))
                return pairs
            if flags & 0x200:
                self.item()
            tag = self.item() if flags & 0x400 else ""
            pairs.append((str(tag), self.item()))
            flags = self._int()

    def _text(self) -> str | None:
        size = self._int()
        if size == -1:
            return None
        raw = self._take(size)
        cached_text = self.texts.get(raw)
        if cached_text is None:
            cached_text = self.texts.setdefault(raw, raw.decode("utf-8", "replace"))
        return cached_text

    def _compact(self) -> Any:
        """Read a vector in one of R's compact forms: a wrapper, an arithmetic sequence, or texts
        stored as the numbers from which they are made."""
        info, state, _ = self.item(), self.item(), self.item()
        called = str(info[0][1]) if isinstance(info, list) and info else ""
        if called.startswith("wrap_"):
            return state.values[0] if isinstance(state, _Vector) else state[0][1]
        if called == "compact_intseq":
            n, first, step = (int(x) for x in state.values[:3])
            return _Vector(_WHOLE, np.arange(first, first + n * step, step or 1, dtype=">i4"))
        if called == "deferred_string":
            inner = state[0][1]
            return _Vector(_TEXTS, [None if x is None else f"{x:g}" for x in _column(inner)])
        raise ValueError(f"it contains a compact vector of the unknown kind {called!r}")

    def _vector(self, kind: int, flags: int) -> _Vector:
        size = self._length()
        widths = {_LOGICAL: ">i4", _WHOLE: ">i4", _REAL: ">f8", _COMPLEX: ">c16", _RAW: "u1"}
        values: Any
        if kind in widths:
            form = np.dtype(widths[kind])
            values = np.frombuffer(self._take(size * form.itemsize), form)
        elif kind == _TEXTS:
            values = []
            for _ in range(size):
                self.at += 4  # the flags of a text
                values.append(self._text())
        elif kind in (_LIST, _EXPRESSION):
            values = [self.item() for _ in range(size)]
        else:
            raise ValueError(f"it contains an object of the unknown type {kind}")
        vector = _Vector(kind, values)
        if flags & 0x200:
            vector.attributes = dict(self.item() or ())
        return vector
