"""Reader of the published data frames of Brockbank and Vul; a round has two rows, one for the
person and one for the bot."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, join_names
from sally.papers.brockbank2024.r_frame import BadFrame, read_frame
from sally.parts.importers import (
    POINTER,
    Oddity,
    Source,
    check_columns,
    existing,
    read_fetched_file,
    table_rows,
)

SOURCE = "Brockbank and Vul 2024, github.com/erik-brockbank/rps-bot-manuscript-public, data/"
LICENCE = "CC0 1.0"
ENDINGS = (".csv.gz", ".csv", ".RData")  # the first one that exists is read
STEMS = ("rps_v2_data", "rps_v3_data")
ROUNDS = 300

# The columns that are read. `sona_*` columns point to course accounts and are never read.
NEEDED = (
    "game_id",
    "version",
    "is_bot",
    "bot_strategy",
    "round_index",
    "player_move",
    "player_rt",
    "player_outcome",
    "player_points",
)
MISSING = ("", "NA", "nan", "None")

Row = Mapping[str, str]


class RoundSide(msgspec.Struct, frozen=True):
    """One side of a round, as recorded in one row."""

    move: str | None  # rock, paper, scissors or none; None: lost by the server
    points: float | None
    seconds: float | None
    line: int


class Game(msgspec.Struct, frozen=True):
    """One person against one bot."""

    source: Source
    version: str
    id: str
    strategy: str
    person: dict[int, RoundSide]
    bot: dict[int, RoundSide]

    @property
    def name(self) -> str:
        return f"rps_v{self.version}:{self.id}:0"  # the person's id comes first


class FoundGames(msgspec.Struct, frozen=True):
    """The games under a path, and the oddities found there."""

    games: tuple[Game, ...]
    oddities: tuple[Oddity, ...]


def read(path: Path) -> FoundGames:
    """Return the games of a checkout, of a folder in it, or of one file."""
    files, odd = _files(existing(path))
    if not files:
        file_names = join_names((f"{stem}.RData" for stem in STEMS), "or")
        raise BadInput(
            f"There is no file of brockbank2024 under {path}: no {file_names} (or .csv)."
        )
    games: list[Game] = []
    for file in files:
        games += _games(file)
    return FoundGames(tuple(games), tuple(odd))


def _files(path: Path) -> tuple[list[Path], list[Oddity]]:
    if path.is_file():
        if not path.name.endswith(ENDINGS):
            raise BadInput(
                f"{path} should end in {join_names(ENDINGS, 'or')}, like the published frames."
            )
        return [path], []
    frames: dict[str, Path] = {}
    odd = []
    for ending in ENDINGS:
        for stem in STEMS:
            for file in sorted(path.rglob(stem + ending)):
                if stem in frames:
                    odd.append(Oddity(str(file), "copy", f"{frames[stem].name} is read instead"))
                else:
                    frames[stem] = file
    known_files = {*frames.values(), *(Path(oddity.file) for oddity in odd)}
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.is_file() and not hidden and file not in known_files:
            odd.append(Oddity(str(file), "unknown file", _why_unknown(file)))
    return [frames[stem] for stem in STEMS if stem in frames], odd


def _why_unknown(file: Path) -> str:
    with file.open("rb") as opened:
        pointer = opened.read(len(POINTER)) == POINTER
    return "a Git LFS pointer without its data" if pointer else "it contains no rounds to import"


# --- one frame ------------------------------------------------------------------------------------


def _games(file: Path) -> Iterator[Game]:
    data = read_fetched_file(file)
    source = Source.of(SOURCE, LICENCE, file.name, data)
    rows = _frame(file, data) if file.name.endswith(".RData") else _table(file, data)
    by_game: dict[str, list[tuple[int, Row]]] = {}
    for line, row in rows:
        by_game.setdefault(row["game_id"], []).append((line, row))
    if not by_game:
        raise BadInput(f"{file} contains no rounds; the download may be incomplete.")
    for name, game_rows in by_game.items():
        yield _game(file, source, name, game_rows)


def _game(file: Path, source: Source, name: str, rows: list[tuple[int, Row]]) -> Game:
    kinds = {(row["version"], row["bot_strategy"]) for _, row in rows}
    if len(kinds) > 1:
        raise BadInput(f"{file}: game {name} has more than one bot or version; it should have one.")
    sides: tuple[dict[int, RoundSide], dict[int, RoundSide]] = ({}, {})
    for line, row in rows:
        bot, number = row["is_bot"], row["round_index"]
        if bot not in ("0", "1"):
            raise BadInput(f"{file}, line {line}: is_bot is {bot!r}; it should be 0 or 1.")
        if not number.isdigit() or not 1 <= int(number) <= ROUNDS:
            raise BadInput(
                f"{file}, line {line}: round_index is {number!r}; it should be 1 to {ROUNDS}."
            )
        if int(number) in sides[int(bot)]:
            raise BadInput(f"{file}, line {line}: round {number} of game {name} occurs twice.")
        sides[int(bot)][int(number)] = _side(file, line, row)
    ((version, strategy),) = kinds
    return Game(source, version, name, strategy, *sides)


def _side(file: Path, line: int, row: Row) -> RoundSide:
    move = row["player_move"]
    if move not in (*MISSING, "rock", "paper", "scissors", "none"):
        raise BadInput(
            f"{file}, line {line}: player_move is {move!r}; it should be rock, paper, scissors, "
            "none or missing."
        )
    rt = _number(file, line, row, "player_rt")
    return RoundSide(
        None if move in MISSING else move,
        _number(file, line, row, "player_points"),
        None if rt is None else rt / 1000,
        line,
    )


def _number(file: Path, line: int, row: Row, column: str) -> float | None:
    text = row[column]
    if text in MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{file}, line {line}: {column} is {text!r}, not a number.") from None


def _table(file: Path, data: bytes) -> Iterator[tuple[int, Row]]:
    try:
        plain = gzip.decompress(data) if file.name.endswith(".gz") else data
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(
            f"{file} cannot be read ({error}); the download may be incomplete."
        ) from None
    return table_rows(file, plain, NEEDED)


def _frame(file: Path, data: bytes) -> Iterator[tuple[int, Row]]:
    """Read the frame `bot_data` of an R file; rows are numbered from 2, as in a CSV table with a
    header."""
    try:
        frame = read_frame(data, "bot_data")
    except BadFrame as error:
        raise BadInput(
            f"{file} cannot be read as an R file with a frame `bot_data`: {error}."
        ) from None
    check_columns(file, frame, NEEDED)
    columns = [frame[name] for name in NEEDED]
    for line, cells in enumerate(zip(*columns, strict=True), 2):
        yield line, dict(zip(NEEDED, map(_text, cells), strict=True))


def _text(value: Any) -> str:
    """Return a cell as a CSV table shows it: whole numbers without a decimal point, NA if
    missing."""
    if value is None:
        return "NA"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
