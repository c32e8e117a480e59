"""Reader of the rows of a table; errors are collected and reported together."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from sally.adapters.importers.table_layout import Layout, problems
from sally.core.errors import BadInput, listed
from sally.core.log.imported import Oddity

ENDINGS = (".csv", ".csv.gz", ".tsv")
SHOWN = 20  # errors listed; the others are only counted


class CellError(msgspec.Struct, frozen=True):
    """An error in a table and its position."""

    line: int
    column: str
    why: str
    episode: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.why}"


class PlayerCells(msgspec.Struct, frozen=True):
    """The entries of the imported table for one player in one round, as text."""

    line: int
    action: str = ""
    player: str = ""
    payoff: str = ""
    prediction: str = ""
    rt: str = ""


class RoundCells(msgspec.Struct, frozen=True):
    """One round of a game, with its cells in the imported table as text."""

    episode: str
    round: int
    halves: tuple[PlayerCells, PlayerCells]
    condition: str

    @property
    def line(self) -> int:
        return self.halves[0].line


class TableRounds(msgspec.Struct, frozen=True):
    """The rounds of a table by episode, with errors and irregularities."""

    data: bytes
    episodes: dict[str, list[RoundCells]]
    wrong: tuple[CellError, ...]
    oddities: tuple[Oddity, ...]


def read(path: Path, layout: Layout) -> TableRounds:
    """Return every round of a table; unreadable rows are listed in `wrong`.

    Raises:
        BadInput: The file is not a readable table with the needed columns, or the layout is wrong.
    """
    if not path.is_file():
        raise BadInput(f"There is no file {path}.")
    if not path.name.endswith(ENDINGS):
        raise BadInput(f"{path} should end in {listed(ENDINGS, 'or')}.")
    data = path.read_bytes()
    header, rows = _rows(path, data)
    wrongs = problems(layout)
    if lacking := [n for n in layout.needed if layout.column(n) not in header]:
        shown = listed((layout.column(n) for n in lacking), "or")
        wrongs.append(
            f"{path}, line 1: there is no column {shown}; `columns` can map it to "
            f"another. The columns are {listed(header)}."
        )
    if wrongs:
        raise BadInput("\n".join(wrongs))
    used = {layout.column(name) for name in layout.known}
    unused = [name for name in header if name not in used]
    odd = [Oddity(str(path), "columns not read", listed(unused), 1)] if unused else []
    wrong: list[CellError] = []
    found = list(_long(rows, layout, wrong) if layout.long else _wide(rows, layout, wrong))
    if not found and not wrong:
        raise BadInput(f"{path} has a header but no rows.")
    return TableRounds(data, _by_episode(found, wrong), tuple(wrong), tuple(odd))


Row = tuple[int, Mapping[str, str]]


def _rows(path: Path, data: bytes) -> tuple[Sequence[str], Iterator[Row]]:
    try:
        text = (gzip.decompress(data) if path.name.endswith(".gz") else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as why:
        raise BadInput(f"{path} is not UTF-8 text: {why}.") from None
    separator = "\t" if path.name.endswith(".tsv") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    header = [name for name in reader.fieldnames or () if name is not None]
    return header, (
        (reader.line_num, {k: (v or "").strip() for k, v in row.items() if isinstance(k, str)})
        for row in reader
    )


def _number(row: Row, layout: Layout, wrong: list[CellError]) -> tuple[str, int] | None:
    line, cells = row
    episode, given = (cells[layout.column(name)] for name in ("episode", "round"))
    if not episode:
        wrong.append(CellError(line, layout.column("episode"), "it is empty", episode))
        return None
    if not given.isascii() or not given.isdigit() or int(given) < 1:
        why = f"{given!r} is not a positive whole number"
        wrong.append(CellError(line, layout.column("round"), why, episode))
        return None
    return episode, int(given)


def _half(row: Row, layout: Layout, side: str) -> PlayerCells:
    line, cells = row
    kept = ("action", "player", "payoff", "prediction", "rt")
    return PlayerCells(line, *(cells.get(layout.column(name + side), "") for name in kept))


def _wide(rows: Iterable[Row], layout: Layout, wrong: list[CellError]) -> Iterator[RoundCells]:
    for row in rows:
        if (at := _number(row, layout, wrong)) is None:
            continue
        halves = (_half(row, layout, "1"), _half(row, layout, "2"))
        yield RoundCells(*at, halves, row[1].get(layout.column("condition"), ""))


def _long(rows: Iterable[Row], layout: Layout, wrong: list[CellError]) -> Iterator[RoundCells]:
    """Yield rounds, each joined from the rows of its two players.

    Player 1 is the player whose row comes first in the episode.
    """
    met: dict[tuple[str, int], list[tuple[Row, PlayerCells]]] = {}
    order: dict[str, list[str]] = {}
    for row in rows:
        if (at := _number(row, layout, wrong)) is None:
            continue
        half = _half(row, layout, "")
        players = order.setdefault(at[0], [])
        if half.player not in players:
            players.append(half.player)
        met.setdefault(at, []).append((row, half))
    for (episode, number), pair in met.items():
        line, players = pair[-1][0][0], order[episode]
        if len(pair) != 2 or len({half.player for _, half in pair}) != 2:
            why = f"round {number} of {episode} has {len(pair)} rows; it should have one per player"
            wrong.append(CellError(line, layout.column("player"), why, episode))
            continue
        if len(players) > 2:
            why = f"{episode} has {len(players)} players; it should have two"
            wrong.append(CellError(line, layout.column("player"), why, episode))
            continue
        one, two = sorted((half for _, half in pair), key=lambda h: players.index(h.player))
        condition = pair[0][0][1].get(layout.column("condition"), "")
        yield RoundCells(episode, number, (one, two), condition)


def _by_episode(found: Iterable[RoundCells], wrong: list[CellError]) -> dict[str, list[RoundCells]]:
    episodes: dict[str, dict[int, RoundCells]] = {}
    for row in found:
        rounds = episodes.setdefault(row.episode, {})
        if row.round in rounds:
            why = f"round {row.round} of {row.episode} is already in line {rounds[row.round].line}"
            wrong.append(CellError(row.line, "round", why, row.episode))
            continue
        rounds[row.round] = row
    return {name: [rounds[n] for n in sorted(rounds)] for name, rounds in episodes.items()}


def no_such_move(name: str, known: Sequence[str]) -> str:
    """Return a message about an unknown move, with a suggestion."""
    folded = {each.casefold(): each for each in known}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    near = f"; did you mean {folded[close[0]]}?" if close else ""
    return f"there is no move {name!r}; the moves are {listed(known)}{near}"


def refused_cells(wrong: Sequence[CellError]) -> list[str]:
    """Return the first twenty errors as lines, and a line with the number of further errors."""
    first = sorted(wrong, key=lambda w: w.line)
    shown = [str(each) for each in first[:SHOWN]]
    return [*shown, f"and {len(first) - SHOWN} more"] if len(first) > SHOWN else shown
