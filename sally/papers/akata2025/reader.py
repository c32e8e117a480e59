"""Reader of the published files of Akata et al.: file kinds, rows and episode boundaries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.parts.importers import NotPublished, Oddity, Source, existing, table_rows

SOURCE = "Akata et al. 2025, github.com/eliaka/repeatedgames"
LICENCE = "MIT, (c) 2024 Elif Akata"

Kind = Literal["pd", "bos", "payoffs", "robustness", "told_end", "all_games", "info", "people",
               "lookup"]  # fmt: skip
KINDS: Mapping[str, Kind] = {
    r"experiment_pd\.csv": "pd",
    r"experiment_bos\.csv": "bos",
    r"experiment_payoff_changes\.csv": "payoffs",
    r"experiment_robustness_checks_(cooking|game|project)\.csv": "robustness",
    r"pd_(base|basic)_gpt4_tfts\.csv": "pd",
    r"pd_gpt4_(1|40|60|80)p\.csv": "told_end",
    r"game_\d+\.csv": "all_games",
    r"144_games_info\.csv": "info",
    r"repgames\.csv": "people",
    r"(pd|bos)(_variation_predict)?_gpt4_lookup\.json": "lookup",
}
PLAY = ("round", "player1", "player2", "answer1", "answer2", "points1", "points2", "total1",
        "total2")  # fmt: skip
MORE: Mapping[Kind, tuple[str, ...]] = {
    "payoffs": ("payoff",),
    "robustness": ("option1", "option2", "outcomes"),
    "all_games": ("game_number", "choice_option1", "choice_option2"),
}
PEOPLE = ("id", "game", "action", "score", "opponent", "guess")
INFO = ("game_number", "game_name", "game_family",
        *(f"r{r}_c{c}_p{p}" for r in (1, 2) for c in (1, 2) for p in (1, 2)))  # fmt: skip

Line = tuple[int, Mapping[str, str]]  # line number, cells by column


class File(msgspec.Struct, frozen=True):
    """A file of a known kind."""

    path: Path
    kind: Kind
    data: bytes

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def source(self) -> Source:
        return Source.of(SOURCE, LICENCE, self.path.name, self.data)


def files_under(path: Path) -> tuple[list[File], list[Oddity]]:
    """Return the published data files under a path (a checkout, a folder in it, or a single file),
    recognised by their names, and a list of the other files."""
    known_files, odd = [], []
    for file in [path] if existing(path).is_file() else sorted(path.rglob("*"), key=_in_order):
        inside = file.relative_to(path).parts
        if not file.is_file() or any(part.startswith(".") for part in inside):
            continue
        kind = kind_of(file.name)
        if kind is None:
            odd.append(Oddity(str(file), "unknown file", "it contains no games to import"))
        else:
            known_files.append(File(file, kind, file.read_bytes()))
    if not any(file.kind not in ("info", "lookup") for file in known_files):
        raise BadInput(
            f"There is no file of akata2025 under {path}, such as experiment_pd.csv, game_1.csv "
            "or repgames.csv."
        )
    return known_files, odd


def _in_order(file: Path) -> tuple[str, list[int], str]:
    """Return a sort key by folder and by the numbers in the name, so that game_2 precedes
    game_10."""
    return str(file.parent), [int(n) for n in re.findall(r"\d+", file.name)], file.name


def kind_of(name: str) -> Kind | None:
    """Return the kind of a file with this name; None if the file is not known."""
    return next((kind for pattern, kind in KINDS.items() if re.fullmatch(pattern, name)), None)


def lines_of(file: File, columns: Sequence[str], separator: str = ",") -> list[Line]:
    """Return the rows of a table with their line numbers.

    Raises:
        NotPublished: The table lacks one of the given columns, or is not the published file.
    """
    rows = list(table_rows(file.path, file.data, columns, separator))
    if not rows:
        raise NotPublished(f"{file.path} has no rows; the download may be incomplete.")
    return rows


def whole_number(file: File, line: int, row: Mapping[str, str], column: str) -> int:
    """Return the whole number in a cell; raises BadInput for any other content."""
    try:
        return int(row[column])
    except ValueError:
        raise BadInput(
            f"{file.path}, line {line}: {column} is {row[column]!r}; it should be a whole number."
        ) from None


def episodes_of(file: File) -> Iterator[list[Line]]:
    """Yield the rows of each episode; an episode starts where the pair of players changes or rounds
    restart."""
    current: list[Line] = []
    pair_before: tuple[object, ...] = ()
    number = 0
    for line, row in lines_of(file, (*PLAY, *MORE.get(file.kind, ()))):
        pair = (row["player1"], row["player2"], row.get("payoff"))
        now = whole_number(file, line, row, "round")
        if current and (pair != pair_before or now <= number):
            yield current
            current = []
        if now != len(current) + 1:
            raise BadInput(
                f"{file.path}, line {line}: round {now} should be round {len(current) + 1} of "
                "its episode; a row is missing or misplaced."
            )
        current.append((line, row))
        pair_before, number = pair, now
    yield current


class OrdinalGame(msgspec.Struct, frozen=True):
    """One of the 144 games: its matrix as printed, its name and family."""

    name: str
    family: str
    matrix: tuple[tuple[tuple[int, int], ...], ...]


def games_in(file: File) -> dict[int, OrdinalGame]:
    """Return the 144 games by number."""
    games = {}
    for line, row in lines_of(file, INFO, ";"):
        cell = {name: whole_number(file, line, row, name) for name in INFO if name.startswith("r")}
        matrix = tuple(
            tuple((cell[f"r{r}_c{c}_p1"], cell[f"r{r}_c{c}_p2"]) for c in (1, 2)) for r in (1, 2)
        )
        number = whole_number(file, line, row, "game_number")
        games[number] = OrdinalGame(row["game_name"], row["game_family"], matrix)
    return games


def info_beside(files: Iterable[File], path: Path) -> dict[int, OrdinalGame]:
    """Return the 144 games by number, from these files or from a folder above the given path."""
    for file in files:
        if file.kind == "info":
            return games_in(file)
    for folder in path.resolve().parents[:3]:
        beside = folder / "144_games_info.csv"
        if beside.is_file():
            return games_in(File(beside, "info", beside.read_bytes()))
    raise BadInput(
        f"144_games_info.csv is neither under {path} nor above it; the files game_N.csv need "
        "its matrices."
    )


Lookup = Mapping[str, str]  # a person's moves so far -> GPT-4's answer


def lookups_in(files: Iterable[File]) -> dict[tuple[str, str], Lookup]:
    """Return GPT-4's answers by game (PD, BoS) and label (Base, Prompted), where the files have
    them."""
    lookups: dict[tuple[str, str], Lookup] = {}
    for file in files:
        if file.kind != "lookup":
            continue
        try:
            table = msgspec.convert(json.loads(file.data), dict[str, str])
        except (ValueError, msgspec.ValidationError):
            raise NotPublished(
                f"{file.path} is not a table of answers in JSON; the download may be incomplete."
            ) from None
        game = "PD" if file.path.name.startswith("pd") else "BoS"
        lookups[game, "Prompted" if "predict" in file.path.name else "Base"] = table
    return lookups
