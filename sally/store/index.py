"""An index beside the lines: columns read off them once, and never the truth.

`index.sqlite` in a local store keeps columns for each piece of up to `PIECE` lines, under the hash
of the piece: an edited line is another hash, and its columns are worked out anew. A file whose size
and times are as they were is not read again. Everything in the index is sealed with a key of this
user, so that rows that came with somebody else's store are not believed. It may be deleted at any
time; where none can be kept, everything works without.
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
PIECE = 1000  # lines whose columns are kept together
SMALL = 4_000_000  # bytes of lines up to which a store is read faster than it is indexed
SETTLED = 2.0  # seconds after which another write would show in a file's times
KEEP_SECONDS = 2.0  # how often what was worked out is made safe
BUSY_SECONDS = 2.0  # that one waits for another process which is writing, once
MOST_ASKED = 500  # names in one question to the database, which takes at least 999
FORMAT = "2"  # of the tables below; part of every hash

At = tuple[str, int]  # file, number of a line
Line = tuple[str, int, bytes]  # and what it says
Columns = Mapping[str, bytes]  # by name
Work = Callable[[Sequence[Line], Sequence[str]], Columns]  # (lines, names) -> these columns
Asked = tuple[Sequence[Line], Sequence[str]]
Made = tuple[bytes, Columns]  # the sum of a piece's lines, and their columns
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


class Piece(msgspec.Struct, frozen=True):
    """Some lines of a file, one after another."""

    file: str
    number: int  # of the first line
    start: int  # byte
    size: int
    lines: int
    digest: bytes


def columns(
    where: Where, names: Sequence[str], code: str, work: Work, many: Many | None = None
) -> Iterator[tuple[list[At], Columns]]:
    """For each piece of a store, where its lines stand, and its columns, worked out if need be.

    `code` says what the columns hang on besides the lines; under another one they are made anew.
    What `work` does not give is not there, and is asked for again the next time.
    `many` works on several pieces at once, and gives their columns back in order.
    """
    at = place(where)
    each = many or (lambda asked: (work(*one) for one in asked))
    try:
        files, ours = ready(at)
        base = _base(at) if ours and isinstance(at, Folder) and _is_big(at, files) else None
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
    """Keep columns that were made of lines before these were written to a file.

    If the file does not hold these very lines, piece by piece, nothing is kept.
    """
    at = place(where)
    base = _base(at) if isinstance(at, Folder) else None
    if base is None:
        return
    try:
        base.fill(file, code, made)
    finally:
        base.close()


def sum_of_lines(whole: bytes) -> bytes:
    """What some lines are known by before they are in a store."""
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
    """Whether a store holds enough lines to be worth an index."""
    total = 0
    for name in files:
        with suppress(FileNotFoundError):  # it was renamed just now
            total += (at.path / name).stat().st_size
    return total > SMALL


class _Base:
    """The tables of one store."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self._folder, self._key = folder, key
        self._db = sqlite3.connect(folder / INDEX, timeout=BUSY_SECONDS)
        self._db.execute("PRAGMA synchronous=OFF")  # what is lost is worked out again
        self._db.executescript(TABLES)
        self._kept = time.monotonic()
        self._changed: set[bytes] = set()
        self._recut = False
        self._mute = False  # whether nothing more is kept this time

    def close(self) -> None:
        with suppress(sqlite3.Error):
            if self._recut and not self._mute:  # what no piece goes by any more
                here = "SELECT digest FROM pieces"
                self._db.execute(f"DELETE FROM columns WHERE digest NOT IN ({here})")
            self._db.commit()
        self._db.close()

    def columns(
        self, files: Sequence[str], names: Sequence[str], code: str, work: Work, each: Many
    ) -> Iterator[tuple[list[At], Columns]]:
        """The columns of all pieces, in the order of the files."""
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
        """Read a file once, and only then write: others wait for their turn."""
        pieces, sums = list[Piece](), list[bytes]()
        for piece, whole in self._cut(file):
            pieces.append(piece)
            sums.append(sum_of_lines(whole))
        if sums != [each for each, _ in made]:
            return
        self._put_pieces(file, pieces)
        for piece, (_, found) in zip(pieces, made, strict=True):
            self._keep(piece, found, code)

    # --- pieces ---------------------------------------------------------------------------------

    def _pieces(self, name: str) -> list[Piece]:
        stat = _stat(self._folder / name)
        known = self._known(name)
        if stat and known is not None and known[0] == stat:
            return known[1]
        found = [piece for piece, _ in self._cut(name)]
        self._recut = True
        if stat == _stat(self._folder / name):  # nobody wrote meanwhile
            self._remember(name, stat, found)
        return found

    def _known(self, name: str) -> tuple[str, list[Piece]] | None:
        row = self._asked("SELECT stat, seal FROM files WHERE name = ?", name)
        if not row:
            return None
        rows = self._asked(
            "SELECT file, number, start, size, lines, digest FROM pieces WHERE file = ? "
            "ORDER BY number",
            name,
        )
        pieces = [Piece(*each) for each in rows]
        stat, seal = row[0]
        return (stat, pieces) if seal == self._seal(name, stat, pieces) else None

    def _cut(self, name: str) -> Iterator[tuple[Piece, bytes]]:
        """The pieces of a file as it is, and what they say; a line still being written is left."""
        lines, start = lines_of(self._folder / name), 0
        while some := list(islice(lines, PIECE)):
            whole = b"".join(line for _, line in some)
            digest = self._hash(FORMAT.encode(), whole)
            yield Piece(name, some[0][0], start, len(whole), len(some), digest), whole
            start += len(whole)

    def _remember(self, name: str, stat: str, pieces: list[Piece]) -> None:
        seal = self._seal(name, stat, pieces)
        self._put_pieces(name, pieces)
        self._told("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", [(name, stat, seal)])

    def _put_pieces(self, name: str, pieces: Sequence[Piece]) -> None:
        self._told("DELETE FROM pieces WHERE file = ?", [(name,)])
        rows = [(p.file, p.number, p.start, p.size, p.lines, p.digest) for p in pieces]
        self._told("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _lines(self, piece: Piece) -> list[Line]:
        with (self._folder / piece.file).open("rb") as file:
            file.seek(piece.start)
            whole = file.read(piece.size)
        if self._hash(FORMAT.encode(), whole) != piece.digest:
            self._changed.add(piece.digest)  # somebody edits the file: nothing is kept of it
        lines = whole.split(b"\n")
        ended = [line + b"\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
        return [(piece.file, piece.number + i, line) for i, line in enumerate(ended)]

    def _forget(self, files: Sequence[str]) -> None:
        """Drop what belongs to files that are gone."""
        here = set(files)
        known = self._asked("SELECT name FROM files UNION SELECT file FROM pieces")
        gone = [row for row in known if row[0] not in here]
        self._told("DELETE FROM files WHERE name = ?", gone)
        self._told("DELETE FROM pieces WHERE file = ?", gone)

    # --- columns --------------------------------------------------------------------------------

    def _lack(self, piece: Piece, names: Sequence[str], code: str) -> list[str]:
        query = "SELECT name FROM columns WHERE digest = ? AND code = ?"
        there = {name for (name,) in self._asked(query, piece.digest, code)}
        return [name for name in names if name not in there]

    def _kept_columns(self, piece: Piece, names: Sequence[str], code: str) -> dict[str, bytes]:
        found, start = {}, "SELECT name, data, seal FROM columns WHERE digest = ? AND code = ?"
        for some in batched(names, MOST_ASKED):
            query = f"{start} AND name IN ({', '.join('?' * len(some))})"
            for name, data, seal in self._asked(query, piece.digest, code, *some):
                if seal == self._hash(piece.digest, name.encode(), code.encode(), data):
                    found[name] = data
        return found

    def _keep(self, piece: Piece, found: Columns, code: str) -> None:
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
        self._told("INSERT OR REPLACE INTO columns VALUES (?, ?, ?, ?, ?)", rows)
        if time.monotonic() - self._kept > KEEP_SECONDS:
            with suppress(sqlite3.Error):
                self._db.commit()
            self._kept = time.monotonic()

    # --- the database ---------------------------------------------------------------------------

    def _asked(self, query: str, *given: object) -> list[Any]:
        """What the index says; nothing where it cannot be read."""
        try:
            return self._db.execute(query, given).fetchall()
        except sqlite3.Error:
            return []

    def _told(self, query: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write to the index; after a full disk, or while another process writes, not at all."""
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

    def _seal(self, name: str, stat: str, pieces: Sequence[Piece]) -> bytes:
        return self._hash(name.encode(), stat.encode(), msgspec.msgpack.encode(pieces))


def batched(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Names, so many at a time."""
    return (names[n : n + size] for n in range(0, len(names), size))


def _base(at: Folder) -> _Base | None:
    """The index of a store; one that is broken is begun anew, and None where none can be kept."""
    try:
        key = _key()
        try:
            return _Base(at.path, key)
        except sqlite3.DatabaseError as why:
            if isinstance(why, sqlite3.OperationalError):
                return None  # a read-only folder, a full disk
            (at.path / INDEX).unlink()
            return _Base(at.path, key)
    except (OSError, sqlite3.Error):
        return None


def _stat(path: Path) -> str:
    """What would change if a file did; nothing while it is too fresh for that to be seen."""
    try:
        found = path.stat()
    except OSError:
        return ""
    if time.time() - max(found.st_mtime, found.st_ctime) < SETTLED:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _key() -> bytes:
    """This user's own key, made when it is first needed."""
    folder = Folder(cache_folder())
    with suppress(FileNotFoundError):
        return folder.read("index.key")[:32]
    folder.create("index.key", os.urandom(32))
    os.chmod(folder.path / "index.key", 0o600)
    return folder.read("index.key")[:32]
