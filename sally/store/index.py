"""A cache of columns computed from the lines of a store; it can always be rebuilt.

`index.sqlite` in a local store holds columns for each piece of up to `PIECE` lines, keyed by the
hash of the piece, so the columns of an edited line are computed again. A file with unchanged size
and times is not read again. Every row is authenticated with a key of this user, so rows that came
with someone else's store are ignored. The index may be deleted at any time; where it cannot be
written, everything works without it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from sally.core.cache_dir import cache_folder
from sally.core.errors import BadInput
from sally.store.places import Folder, Place, Where, place
from sally.store.reading import all_lines, lines_of, ready

INDEX = "index.sqlite"
PIECE = 1000  # lines per piece
SMALL = 4_000_000  # bytes up to which reading a store is faster than indexing it
SETTLED = 2.0  # seconds after which another write would change the file times
KEEP_SECONDS = 2.0  # interval of commits
BUSY_SECONDS = 2.0  # how long to wait for another writing process
MOST_ASKED = 500  # names per query; SQLite allows at least 999 parameters
FORMAT = "2"  # version of the tables below; part of every hash

At = tuple[str, int]  # file, line number
Line = tuple[str, int, bytes]  # file, line number, content
Columns = Mapping[str, bytes]  # by name
Work = Callable[[Sequence[Line], Sequence[str]], Columns]  # (lines, names) -> columns
Asked = tuple[Sequence[Line], Sequence[str]]
Made = tuple[bytes, Columns]  # hash of a piece's lines, and its columns
Many = Callable[[Iterable[Asked]], Iterable[Columns]]

TABLES = """
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, stat TEXT, seal BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pieces (
  file TEXT, number INTEGER, start INTEGER, size INTEGER, lines INTEGER, digest BLOB,
  PRIMARY KEY (file, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS columns (
  digest BLOB, name TEXT, code TEXT, data BLOB, seal BLOB,
  PRIMARY KEY (digest, name)) WITHOUT ROWID;
"""


class LineRange(msgspec.Struct, frozen=True):
    """A range of consecutive lines of a file."""

    file: str
    number: int  # of the first line
    start: int  # byte
    size: int
    lines: int
    digest: bytes


def columns(
    where: Where, names: Sequence[str], code: str, work: Work, many: Many | None = None
) -> Iterator[tuple[list[At], Columns]]:
    """Yield, for each piece of a store (a range of lines), the positions of the lines and the
    values of the columns.

    Args:
        where: The store.
        names: The columns wanted.
        code: Fingerprint of the code the columns depend on; if it changes, they are recomputed.
        work: Computes columns of some lines; a column it omits is requested again next time.
        many: Computes columns of several pieces at once, in order; by default, `work` for each.

    Raises:
        BadInput: The store cannot be read.
    """
    at = place(where)
    each = many or (lambda asked: (work(*one) for one in asked))
    try:
        files, ours = ready(at)
        base = _open(at) if ours and isinstance(at, Folder) and _is_big(at, files) else None
        if base is None:
            yield from _without_index(at, files, names, each)
            return
        try:
            yield from base.columns(files, names, code, work, each)
        finally:
            base.close()
    except OSError as why:
        raise BadInput(f"The store {at} cannot be read: {why.strerror}.") from None


def fill(where: Where, file: str, code: str, made: Sequence[Made]) -> None:
    """Store columns computed while the lines of a file were being written.

    Nothing is stored if the lines of the file differ from the lines from which the columns were
    computed.
    """
    at = place(where)
    base = _open(at) if isinstance(at, Folder) else None
    if base is None:
        return
    try:
        base.fill(file, code, made)
    finally:
        base.close()


def sum_of_lines(whole: bytes) -> bytes:
    """Return the hash of some lines, independent of the user's key."""
    return blake2b(whole, digest_size=16).digest()


def _without_index(
    at: Place, files: Sequence[str], names: Sequence[str], each: Many
) -> Iterator[tuple[list[At], Columns]]:
    places: deque[list[At]] = deque()

    def asked() -> Iterator[Asked]:
        lines = all_lines(at, files)
        while some := list(islice(lines, PIECE)):
            places.append([(name, number) for name, number, _ in some])
            yield some, names

    for found in each(asked()):
        yield places.popleft(), found


def _is_big(at: Folder, files: Sequence[str]) -> bool:
    """Return whether a store is large enough for an index."""
    total = 0
    for name in files:
        with suppress(FileNotFoundError):  # renamed meanwhile
            total += (at.path / name).stat().st_size
    return total > SMALL


class _Database:
    """The SQLite database of one store."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self._folder, self._key = folder, key
        self._db = sqlite3.connect(folder / INDEX, timeout=BUSY_SECONDS)
        self._db.execute("PRAGMA synchronous=OFF")  # lost rows are computed again
        self._db.executescript(TABLES)
        self._kept = time.monotonic()
        self._changed: set[bytes] = set()
        self._recut = False
        self._mute = False  # set after a failed write

    def close(self) -> None:
        with suppress(sqlite3.Error):
            if self._recut and not self._mute:  # remove columns without a piece
                here = "SELECT digest FROM pieces"
                self._db.execute(f"DELETE FROM columns WHERE digest NOT IN ({here})")
            self._db.commit()
        self._db.close()

    def columns(
        self, files: Sequence[str], names: Sequence[str], code: str, work: Work, each: Many
    ) -> Iterator[tuple[list[At], Columns]]:
        """Yield the columns of all pieces (ranges of lines), in the order of the files."""
        self._forget(files)
        pieces = [piece for name in files for piece in self._pieces(name)]
        lacking = {i: lack for i, p in enumerate(pieces) if (lack := self._lack(p, names, code))}
        made = iter(each((self._lines(pieces[i]), lack) for i, lack in lacking.items()))
        for i, piece in enumerate(pieces):
            found = self._kept_columns(piece, names, code)
            if i in lacking:
                self._keep(piece, new := next(made), code)
                found |= new
            lacked = lacking.get(i, ())
            if unsealed := [n for n in names if n not in found and n not in lacked]:
                self._keep(piece, new := work(self._lines(piece), unsealed), code)
                found |= new
            yield [(piece.file, piece.number + n) for n in range(piece.lines)], found

    def fill(self, file: str, code: str, made: Sequence[Made]) -> None:
        """Store columns; the file is read first, so that the database is locked only briefly."""
        pieces, sums = list[LineRange](), list[bytes]()
        for piece, whole in self._cut(file):
            pieces.append(piece)
            sums.append(sum_of_lines(whole))
        if sums != [each for each, _ in made]:
            return
        self._put_pieces(file, pieces)
        for piece, (_, found) in zip(pieces, made, strict=True):
            self._keep(piece, found, code)

    # --- pieces ---------------------------------------------------------------------------------

    def _pieces(self, name: str) -> list[LineRange]:
        stat = _stat(self._folder / name)
        known = self._known(name)
        if stat and known is not None and known[0] == stat:
            return known[1]
        found = [piece for piece, _ in self._cut(name)]
        self._recut = True
        if stat == _stat(self._folder / name):  # the file did not change meanwhile
            self._remember(name, stat, found)
        return found

    def _known(self, name: str) -> tuple[str, list[LineRange]] | None:
        row = self._query("SELECT stat, seal FROM files WHERE name = ?", name)
        if not row:
            return None
        rows = self._query(
            "SELECT file, number, start, size, lines, digest FROM pieces WHERE file = ? "
            "ORDER BY number",
            name,
        )
        pieces = [LineRange(*each) for each in rows]
        stat, seal = row[0]
        return (stat, pieces) if seal == self._seal(name, stat, pieces) else None

    def _cut(self, name: str) -> Iterator[tuple[LineRange, bytes]]:
        """Yield the pieces of a file (ranges of lines) and their bytes, without a line that is
        still being written."""
        lines, start = lines_of(self._folder / name), 0
        while some := list(islice(lines, PIECE)):
            whole = b"".join(line for _, line in some)
            digest = self._hash(FORMAT.encode(), whole)
            yield LineRange(name, some[0][0], start, len(whole), len(some), digest), whole
            start += len(whole)

    def _remember(self, name: str, stat: str, pieces: list[LineRange]) -> None:
        seal = self._seal(name, stat, pieces)
        self._put_pieces(name, pieces)
        self._write("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", [(name, stat, seal)])

    def _put_pieces(self, name: str, pieces: Sequence[LineRange]) -> None:
        self._write("DELETE FROM pieces WHERE file = ?", [(name,)])
        rows = [(p.file, p.number, p.start, p.size, p.lines, p.digest) for p in pieces]
        self._write("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _lines(self, piece: LineRange) -> list[Line]:
        with (self._folder / piece.file).open("rb") as file:
            file.seek(piece.start)
            whole = file.read(piece.size)
        if self._hash(FORMAT.encode(), whole) != piece.digest:
            self._changed.add(piece.digest)  # the file changed meanwhile: do not store its columns
        lines = whole.split(b"\n")
        ended = [line + b"\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
        return [(piece.file, piece.number + i, line) for i, line in enumerate(ended)]

    def _forget(self, files: Sequence[str]) -> None:
        """Delete the rows of files that no longer exist."""
        here = set(files)
        known = self._query("SELECT name FROM files UNION SELECT file FROM pieces")
        gone = [row for row in known if row[0] not in here]
        self._write("DELETE FROM files WHERE name = ?", gone)
        self._write("DELETE FROM pieces WHERE file = ?", gone)

    # --- columns --------------------------------------------------------------------------------

    def _lack(self, piece: LineRange, names: Sequence[str], code: str) -> list[str]:
        query = "SELECT name FROM columns WHERE digest = ? AND code = ?"
        there = {name for (name,) in self._query(query, piece.digest, code)}
        return [name for name in names if name not in there]

    def _kept_columns(self, piece: LineRange, names: Sequence[str], code: str) -> dict[str, bytes]:
        found, start = {}, "SELECT name, data, seal FROM columns WHERE digest = ? AND code = ?"
        for some in batched(names, MOST_ASKED):
            query = f"{start} AND name IN ({', '.join('?' * len(some))})"
            for name, data, seal in self._query(query, piece.digest, code, *some):
                if seal == self._hash(piece.digest, name.encode(), code.encode(), data):
                    found[name] = data
        return found

    def _keep(self, piece: LineRange, found: Columns, code: str) -> None:
        if piece.digest in self._changed:
            return
        rows = [
            (
                piece.digest,
                name,
                code,
                data,
                self._hash(piece.digest, name.encode(), code.encode(), data),
            )
            for name, data in found.items()
        ]
        self._write("INSERT OR REPLACE INTO columns VALUES (?, ?, ?, ?, ?)", rows)
        if time.monotonic() - self._kept > KEEP_SECONDS:
            with suppress(sqlite3.Error):
                self._db.commit()
            self._kept = time.monotonic()

    # --- the database ---------------------------------------------------------------------------

    def _query(self, query: str, *given: object) -> list[Any]:
        """Return the rows of a query; no rows if the index cannot be read."""
        try:
            return self._db.execute(query, given).fetchall()
        except sqlite3.Error:
            return []

    def _write(self, query: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write rows; after a failure (full disk, locked database) write nothing more."""
        if self._mute:
            return
        try:
            self._db.executemany(query, rows)
        except sqlite3.Error:
            self._mute = True

    def _hash(self, *parts: bytes) -> bytes:
        found = blake2b(digest_size=16, key=self._key)
        for part in parts:
            found.update(len(part).to_bytes(8, "little") + part)
        return found.digest()

    def _seal(self, name: str, stat: str, pieces: Sequence[LineRange]) -> bytes:
        return self._hash(name.encode(), stat.encode(), msgspec.msgpack.encode(pieces))


def batched(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Split names into chunks of `size`."""
    return (names[n : n + size] for n in range(0, len(names), size))


def _open(at: Folder) -> _Database | None:
    """Open the index of a store, replacing a corrupt one; return None if it cannot be written."""
    try:
        key = _key()
        try:
            return _Database(at.path, key)
        except sqlite3.DatabaseError as why:
            if isinstance(why, sqlite3.OperationalError):
                return None  # a read-only folder, a full disk
            (at.path / INDEX).unlink()
            return _Database(at.path, key)
    except (OSError, sqlite3.Error):
        return None


def _stat(path: Path) -> str:
    """Return a text that changes whenever the file changes; empty if the file changed so recently
    that a further change could go unnoticed."""
    try:
        found = path.stat()
    except OSError:
        return ""
    if time.time() - max(found.st_mtime, found.st_ctime) < SETTLED:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _key() -> bytes:
    """Return this user's key, creating it on first use."""
    folder = Folder(cache_folder())
    with suppress(FileNotFoundError):
        return folder.read("index.key")[:32]
    folder.create("index.key", os.urandom(32))
    os.chmod(folder.path / "index.key", 0o600)
    return folder.read("index.key")[:32]
