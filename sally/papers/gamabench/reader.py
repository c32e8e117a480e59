"""Read GAMA-Bench's raw results of the guessing game and the public goods game.

The repository is GPL-3: its files are read in place and never shipped. A table is one run of a
game, with one model in all seats. Choices are read from `player_data`; the `responses` of a round
may be shuffled and are only compared with them.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Moved
from sally.parts.importers import Oddity, Source, existing

SOURCE = "Huang et al. 2025, github.com/CUHK-ARISE/GAMABench"
LICENCE = "GPL-3: derived numbers only"
GUESSING, GOODS = "guessing_game", "public_goods"
FILES = {GUESSING: 205, GOODS: 134}  # in the full record
DEFAULT_MODEL = "gpt-3.5-turbo-0125"
NEAR = 0.01

_NAME = re.compile(rf"(?:(.+)_)?({GUESSING}|{GOODS})_(.+)\.json")
_RUN = re.compile(r"v1_([1-5])")


class _Meta(msgspec.Struct, frozen=True):
    player_num: int
    ratio: float
    min: int = 0
    max: int = 0
    tokens: int = 0


class _Seat(msgspec.Struct, frozen=True):
    model: str
    records: tuple[int, ...]
    utility: tuple[float, ...] = ()


class _Round(msgspec.Struct, frozen=True):
    responses: tuple[int, ...]
    mean: float | None = None
    winner: float | None = None


class _File(msgspec.Struct, frozen=True):
    meta: _Meta
    round_records: tuple[_Round, ...]
    player_data: tuple[_Seat, ...]


class RecordedTable(msgspec.Struct, frozen=True):
    """One file: the record of one game in which one model has every seat or plays against fixed
    numbers."""

    source: Source
    game: str
    file: str
    model: str  # from the file's name
    variant: str
    seats: tuple[str, ...]  # the model in each seat, or a scripted number
    choices: tuple[tuple[int, ...], ...]  # by round and seat
    ratio: float
    share: str  # the ratio as a fraction
    low: int
    high: int

    @property
    def run(self) -> int | None:
        """The number of the run among the five behind the leaderboard; None for other runs."""
        run_match = _RUN.fullmatch(self.variant)
        return int(run_match[1]) if run_match else None

    @property
    def copy_key(self) -> tuple[Any, ...]:
        """The key that two files share if they are copies of one run."""
        return (self.game, self.seats, self.choices, self.share, self.low, self.high)


class FoundGames(msgspec.Struct, frozen=True):
    """The recorded games under a path, and the oddities found in the files."""

    tables: tuple[RecordedTable, ...]
    oddities: tuple[Oddity, ...]
    counts: dict[str, int]


def read(path: Path) -> FoundGames:
    """Return the recorded runs of both games under a path; copies of a run are only listed as
    oddities."""
    files = [path] if existing(path).is_file() else sorted(path.rglob("*.json"), key=_runs_first)
    tables: list[RecordedTable] = []
    odd: list[Oddity] = []
    counts: Counter[str] = Counter()
    names_by_key: dict[tuple[Any, ...], str] = {}
    for file in files:
        name_match = _NAME.fullmatch(file.name)
        if name_match is None:
            counts[f"left alone: {file.parent.name}"] += 1
            continue
        counts[f"files of {name_match[2]}"] += 1
        if "savept" in name_match[3]:
            counts["short runs left alone"] += 1
            continue
        table = _table(file, name_match[1] or DEFAULT_MODEL, name_match[2], name_match[3])
        if table.game == GUESSING and not table.ratio:
            odd.append(Oddity(file.name, "not imported", "a ratio of 0 leaves nothing to guess"))
        elif table.copy_key in names_by_key:
            odd.append(
                Oddity(file.name, "copy", f"the same play as {names_by_key[table.copy_key]}")
            )
            counts["copies left out"] += 1
        else:
            names_by_key[table.copy_key] = file.name
            tables.append(table)
    if not tables:
        raise BadInput(f"There is no [MODEL_]{GUESSING}_VARIANT.json or {GOODS} file in {path}.")
    return FoundGames(tuple(tables), tuple(odd), dict(counts))


def _runs_first(file: Path) -> tuple[bool, Path]:
    """Return a sort key that puts leaderboard runs before their copies under other names."""
    name_match = _NAME.fullmatch(file.name)
    return name_match is None or _RUN.fullmatch(name_match[3]) is None, file


_decode = msgspec.json.Decoder(_File).decode


def _table(file: Path, model: str, game: str, variant: str) -> RecordedTable:
    data = file.read_bytes()
    try:
        record = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file.name} is not a table of GAMA-Bench: {error}.") from None
    meta, seats, rounds = record.meta, record.player_data, record.round_records
    if len(seats) != meta.player_num or not rounds:
        raise BadInput(
            f"{file.name} has {len(seats)} players and {len(rounds)} rounds; there should be "
            f"{meta.player_num} players and at least one round."
        )
    if any(len(seat.records) != len(rounds) for seat in seats):
        raise BadInput(f"{file.name}: every player should have {len(rounds)} choices.")
    choices = tuple(tuple(seat.records[t] for seat in seats) for t in range(len(rounds)))
    for number, (choice, round_record) in enumerate(zip(choices, rounds, strict=True), 1):
        _check_round(f"{file.name}, round {number}", game, meta, choice, round_record)
    if game == GOODS:
        for seat in seats:
            tokens_kept = tuple(float(meta.tokens - choice) for choice in seat.records)
            if seat.utility and seat.utility != tokens_kept:
                raise BadInput(f"{file.name}: utility should equal the number of tokens kept.")
    return RecordedTable(
        Source.of(SOURCE, LICENCE, file.name, data),
        game,
        file.name.removesuffix(".json"),
        model,
        variant,
        tuple(seat.model for seat in seats),
        choices,
        meta.ratio,
        str(Fraction(meta.ratio).limit_denominator(1000)),  # `ratio_str` may be a percentage
        meta.min,
        meta.max if game == GUESSING else meta.tokens,
    )


def _check_round(
    place: str, game: str, meta: _Meta, choices: tuple[int, ...], round_record: _Round
) -> None:
    if sorted(choices) != sorted(round_record.responses):
        raise BadInput(f"{place}: the responses differ from the choices of the players.")
    if game == GOODS:
        return
    mean = sum(choices) / len(choices)
    if round_record.mean is None or abs(round_record.mean - mean) > NEAR:
        raise BadInput(f"{place}: the mean is {round_record.mean}; the choices give {mean:g}.")
    if any(not meta.min <= number <= meta.max for number in choices):
        raise BadInput(f"{place}: a number is outside {meta.min} to {meta.max}.")
    goal = meta.ratio * mean
    nearest = min(abs(number - goal) for number in choices)
    if round_record.winner not in choices or abs(abs(round_record.winner - goal) - nearest) > NEAR:
        raise BadInput(
            f"{place}: winner is {round_record.winner}, which is not the chosen number nearest to "
            f"{goal:g}."
        )


def table_of_episode(episode: Episode) -> RecordedTable:
    """Return an imported episode as a recorded game; void rounds are left out."""
    params, lineup = episode.setup.instance.params, episode.setup.lineup
    pays = params.get("pays")
    moves: dict[int, dict[str, int]] = {}
    for event in episode.events:
        if isinstance(event, Moved):
            moves.setdefault(event.turn, {})[event.seat] = event.action
    seats = tuple(lineup)
    source = episode.used["source"]
    share = pays["share"] if pays else str(Fraction(params["ratio"]).limit_denominator(1000))
    return RecordedTable(
        Source(**source),
        GUESSING if pays else GOODS,
        episode.setup.instance.id.split(":")[1],
        str(episode.used["model"]),
        str(episode.used["variant"]),
        tuple(str(lineup[seat].params["name"]) for seat in seats),
        tuple(tuple(m[s] for s in seats) for _, m in sorted(moves.items()) if len(m) == len(seats)),
        float(Fraction(share)),
        share,
        pays["low"] if pays else 0,
        pays["high"] if pays else params["tokens"],
    )
