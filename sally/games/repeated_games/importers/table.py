"""Importer of a table of rounds: `play.csv` with one row per round, described by `play.toml`.

`Row` documents the columns and `Description` the keys of the TOML file; `table_schema` gives both
as a JSON schema. `sally export --what rounds` writes this format.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.registry.paper import ImportResult
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.recorded_play import Made, Round, bot, fed, person
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.parts.importers import (
    Difference,
    ImportRun,
    Oddity,
    Source,
    read_fetched_file,
    recorded_player,
    table_rows,
)

FAMILY = "repeated_games"
SEATS = (AGENT, PARTNER)
PERSON = "human:"  # before the id of a person
NO_MOVE = "no move"
NO_ROW = "the round is not in the table"
ODDS = re.compile(r"\s*(.+?):(\S+)")  # a name, which may contain spaces, and its probability
ODDS_TOLERANCE = 0.01  # of the sum of odds, for rounded values
MOST_SHOWN = 20  # errors listed; the others are only counted
VERSION = 2  # of the format


class Row(msgspec.Struct, frozen=True):
    """One round of one episode. The file is in UTF-8, with commas and a header."""

    episode: Annotated[str, Meta(min_length=1, description="any text; its rows may be apart")]
    round: Annotated[int, Meta(ge=1, description="from 1, each once; a gap is a void round")]
    action1: Annotated[str, Meta(description="the first player's move by its name; empty: no move")]
    action2: Annotated[str, Meta(description="the second player's move by its name")]
    player1: Annotated[str, Meta(description="the first player; human:ID marks a person")] = "1"
    player2: Annotated[str, Meta(description="the second player, as in all rounds")] = "2"
    payoff1: Annotated[float | None, Meta(description="checked against the matrix")] = None
    payoff2: Annotated[float | None, Meta(description="checked against the matrix")] = None
    prediction1: Annotated[
        str, Meta(description="the second player's move as the first foresaw it: J or J:.7 F:.3")
    ] = ""
    prediction2: Annotated[str, Meta(description="the same, by the second player")] = ""
    rt1: Annotated[float | None, Meta(description="response time in seconds")] = None
    rt2: Annotated[float | None, Meta(description="response time in seconds")] = None
    condition: Annotated[str, Meta(description="the cell of the design")] = ""


COLUMNS = Row.__struct_fields__
REQUIRED = COLUMNS[:4]
NUMBERS = ("round", "payoff1", "payoff2", "rt1", "rt2")


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the rows do not say. Both players choose before they see the other's move."""

    game: Annotated[str, Meta(description="rps, ibs, ipd, or repeated_games with a matrix")] = (
        FAMILY
    )
    params: Annotated[
        dict[str, Any],
        Meta(
            description="parameters of the game: matrix, names, partner_names, stop_chance, rounds "
            "(episodes with fewer were abandoned; without it each has the length it was played)"
        ),
    ] = {}
    partners: Annotated[
        dict[str, PlayerSpec], Meta(description="players in the table that are bots of Sally")
    ] = {}
    source: Annotated[str, Meta(description="before the names of episodes; else the file's")] = ""
    licence: str = ""

    def build(self, rounds: int) -> RepeatedGame:
        """Return the rules with this number of rounds."""
        spec = registry.game(self.game)
        if (spec.family or spec.name) != FAMILY:
            raise unknown("repeated game", self.game, registry.family(FAMILY).by_name)
        game = spec.build({**self.params, "rounds": rounds})
        assert isinstance(game, RepeatedGame)
        return game

    def instance(self, name: str, rounds: int) -> Instance:
        """Return a problem in which no number of void rounds ends an episode."""
        return Instance(name, self.game, {**self.params, "rounds": rounds, "void_limit": rounds})


def table_schema() -> dict[str, Any]:
    """Return the JSON schema of the format: a `description` and `rows`.

    >>> sorted(table_schema()["properties"])
    ['description', 'rows']
    """
    (description, row), parts = msgspec.json.schema_components(
        [Description, Row], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"sally-table, version {VERSION}",
        "type": "object",
        "required": ["description", "rows"],
        "properties": {"description": description, "rows": {"type": "array", "items": row}},
        "$defs": parts,
    }


def read_description(table: Path) -> Description:
    """Return the description in the TOML file beside a table.

    Raises:
        BadInput: The file is missing or invalid.
    """
    file = table.with_suffix(".toml")
    if not file.is_file():
        raise BadInput(
            f"There is no {file}, which describes {table.name}; for the prisoner's dilemma its one "
            'line is `game = "ipd"`.'
        )
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
        return msgspec.convert(values, Description)
    except (tomllib.TOMLDecodeError, UnicodeError, msgspec.ValidationError) as error:
        raise BadInput(f"{file}: {error}") from None


def import_table(path: Path) -> ImportResult:
    """Return every episode of a table.

    Raises:
        BadInput: The table or its description is not valid; the message lists all errors.
    """
    if path.suffix != ".csv" or not path.is_file():
        raise BadInput(f"{path} is not a table; give a file that ends in .csv.")
    description = read_description(path)
    data = read_fetched_file(path)
    errors: list[tuple[int, str]] = []
    episodes, unread_columns = _read_rows(path, data, errors)
    longest = max((max(rounds) for rounds in episodes.values()), default=1)
    length: int | None = description.params.get("rounds")
    if length is None and description.params.get("stop_chance"):
        raise BadInput(f"{path}: `stop_chance` needs `rounds`, the most rounds of an episode.")
    if isinstance(length, int) and length < longest:
        errors.append((0, f"there is a round {longest}, more than `rounds` = {length}"))
    game = description.build(length or longest)
    recorded = [_RecordedEpisode(name, rows, game, errors) for name, rows in episodes.items()]
    players = {player for episode in recorded for player in episode.players}
    for name in sorted(set(description.partners) - players):
        errors.append((0, f"the partner {name!r} is not a player in the table"))
    if errors:
        errors.sort()
        lines = [
            f"line {line}, {reason}" if line else reason for line, reason in errors[:MOST_SHOWN]
        ]
        further = [f"and {len(errors) - MOST_SHOWN} more"] if len(errors) > MOST_SHOWN else []
        raise BadInput("\n".join([f"{path} was not imported:", *lines, *further]))
    oddities = []
    if unread_columns:
        oddities.append(Oddity(str(path), "columns not read", join_names(unread_columns), 1))
    source = Source.of(description.source or path.stem, description.licence, path.name, data)
    run = ImportRun(oddities, {"found": len(recorded)})
    for episode in recorded:
        episode.add_to(run, description, source, length or len(episode.rounds))
    return run.result()


Rounds = dict[int, tuple[int, Row]]  # round -> line, row


def _read_rows(
    path: Path, data: bytes, errors: list[tuple[int, str]]
) -> tuple[dict[str, Rounds], list[str]]:
    """Return the rows by episode and round, and the columns that are not part of the format."""
    episodes: dict[str, Rounds] = {}
    header: list[str] = []
    for line, cells in table_rows(path, data, ()):
        header = header or list(cells)
        if missing := [name for name in REQUIRED if name not in cells]:
            raise BadInput(
                f"{path}, line 1: there is no column {join_names(missing, 'or')}; the columns are "
                f"{join_names(cells)}."
            )
        texts = {name: text.strip() for name, text in cells.items()}
        try:
            row = msgspec.convert(
                {
                    name: _parse_number(text) if name in NUMBERS else text
                    for name, text in texts.items()
                    if text or name in REQUIRED
                },
                Row,
            )
        except msgspec.ValidationError as error:
            errors.append((line, _describe_cell(str(error), texts)))
            continue
        rounds = episodes.setdefault(row.episode, {})
        if row.round in rounds:
            first = rounds[row.round][0]
            text = f"round {row.round} of {row.episode} is already in line {first}"
            errors.append((line, f"column round: {text}"))
            continue
        rounds[row.round] = line, row
    if not header:
        raise BadInput(f"{path} has no rows.")
    return episodes, [name for name in header if name not in COLUMNS]


def _parse_number(text: str) -> int | float | str:
    """Return a finite number, or the text unchanged if it is none."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def _describe_cell(problem: str, texts: Mapping[str, str]) -> str:
    """Return a sentence about a cell that msgspec could not convert."""
    column_match = re.search(r"\$\.(\w+)", problem)
    column = column_match[1] if column_match else "round"
    expected_text = {"round": "a whole number from 1", "episode": "a name"}.get(column, "a number")
    return f"column {column}: {texts[column]!r} is not {expected_text}"


class _RecordedEpisode:
    """One episode of a table: its rounds, response times and differences from the matrix."""

    def __init__(
        self, name: str, rows: Rounds, game: RepeatedGame, errors: list[tuple[int, str]]
    ) -> None:
        self.name, self._game, self._errors = name, game, errors
        _, self._first = rows[min(rows)]
        self.players = (self._first.player1, self._first.player2)
        self.rounds: list[Round] = []
        self.seconds: dict[str, list[float | None]] = {str(seat): [] for seat in SEATS}
        self.differences: list[Difference] = []
        for number in range(1, max(rows) + 1):
            if number in rows:
                self._read(*rows[number])
            else:
                self.rounds.append(Round(NO_ROW, NO_ROW))
                for times in self.seconds.values():
                    times.append(None)

    def _read(self, line: int, row: Row) -> None:
        for column in ("player1", "player2", "condition"):
            first_value, now = getattr(self._first, column), getattr(row, column)
            if now != first_value:
                self._error(
                    line, column, f"{now!r} instead of {first_value!r}, as in the first round"
                )
        moves: list[Made] = []
        predictions: dict[str, ProbeReport] = {}
        for side, seat in enumerate(SEATS, 1):
            moves.append(self._read_move(line, row, side))
            if (report := self._read_prediction(line, row, side)) is not None:
                predictions[str(seat)] = report
            self.seconds[str(seat)].append(getattr(row, f"rt{side}"))
        self.rounds.append(Round(moves[0], moves[1], predictions))
        self._check_payoffs(line, row, moves)

    def _error(self, line: int, column: str, problem: str) -> None:
        self._errors.append((line, f"column {column}: {problem}"))

    def _read_move(self, line: int, row: Row, side: int) -> Made:
        name: str = getattr(row, f"action{side}")
        names = self._game.names_of(SEATS[side - 1])
        if not name:
            return NO_MOVE
        if name not in names:
            self._error(line, f"action{side}", str(unknown("move", name, names)))
            return NO_MOVE
        return names.index(name)

    def _read_prediction(self, line: int, row: Row, side: int) -> ProbeReport | None:
        """Return a predicted move, given by name or as odds such as `J:.7 F:.3`."""
        text: str = getattr(row, f"prediction{side}")
        names = self._game.names_of(SEATS[2 - side])
        if not text:
            return None
        if text in names:
            return ProbeReport(names.index(text))
        odds = dict.fromkeys(names, 0.0)
        for name, chance in ODDS.findall(text) or [(text, "")]:
            if name not in odds:
                self._error(line, f"prediction{side}", str(unknown("move", name, names)))
                return None
            number = _parse_number(chance)
            if isinstance(number, str) or number < 0:
                self._error(line, f"prediction{side}", f"{chance!r} is not a probability")
                return None
            odds[name] = float(number)
        total = sum(odds.values())
        if abs(total - 1) > ODDS_TOLERANCE:
            self._error(line, f"prediction{side}", f"the odds sum to {total:g}, not to 1")
            return None
        is_exact = abs(total - 1) < 1e-9  # then they stay exactly as written
        chances = tuple(p if is_exact else p / total for p in odds.values())
        return ProbeReport(chances.index(max(chances)), chances)

    def _check_payoffs(self, line: int, row: Row, moves: list[Made]) -> None:
        """Compare the recorded payoffs with the matrix; in a void round both should be 0."""
        if row.payoff1 is None and row.payoff2 is None:
            return
        recorded = (row.payoff1, row.payoff2)
        first_move, two = moves
        is_void = isinstance(first_move, str) or isinstance(two, str)
        due = (0.0, 0.0) if is_void else tuple(map(float, self._game.matrix[first_move][two]))  # type: ignore[index]
        if all(a is not None and abs(a - b) < 1e-9 for a, b in zip(recorded, due, strict=True)):
            return
        texts = ["-" if p is None else f"{p:g}" for p in (*recorded, *due)]
        pair, matrix = " and ".join(texts[:2]), " and ".join(texts[2:])
        if is_void:
            subject = "payoff of a void round"
            self.differences.append(Difference(self.name, subject, row.round, pair, matrix))
        else:
            self._error(line, "payoff1", f"the payoffs are {pair}, but {matrix} by the matrix")

    def add_to(self, run: ImportRun, description: Description, source: Source, length: int) -> None:
        """Play the recorded rounds and add the episode with its counts and differences."""
        lineup = {
            str(seat): _player(name, description)
            for seat, name in zip(SEATS, self.players, strict=True)
        }
        people = [p.removeprefix(PERSON) for p in self.players if p.startswith(PERSON)]
        name = f"{source.source}:{'+'.join(people) or '-'}:{self.name}"
        arms: dict[str, tuple[str, ...]] = {
            str(seat): ("their_move",)
            for seat in SEATS
            if any(seat in r.reports for r in self.rounds)
        }
        setup = Setup(description.instance(name, length), 0, lineup, arms=arms)
        used: dict[str, Any] = {"source": msgspec.to_builtins(source), "episode": self.name}
        seconds = {s: t for s, t in self.seconds.items() if any(x is not None for x in t)}
        if seconds:
            used["people"] = {seat: {"seconds": times} for seat, times in seconds.items()}
        bots = {s: lineup[s] for s in SEATS if lineup[s].player != "recorded"}
        episode, agreement = fed(setup, self.rounds, bots, self._first.condition, used)
        for seat, judged in agreement.items():
            for number in judged.outside:
                played = self.rounds[number - 1]
                move = played.agent if seat == AGENT else played.partner
                assert isinstance(move, int)  # only moves are judged
                label = self._game.names_of(seat)[move]
                ours = f"{lineup[seat].player} never plays it there"
                self.differences.append(Difference(self.name, "bot's move", number, label, ours))
        void = (isinstance(r.agent, str) or isinstance(r.partner, str) for r in self.rounds)
        counts = {
            "rounds": len(self.rounds),
            "void rounds": sum(void),
            "predictions": sum(len(r.reports) for r in self.rounds),
        }
        run.add(episode, self.differences, counts)


def _player(name: str, description: Description) -> PlayerSpec:
    if name in description.partners:
        declared = description.partners[name]
        return bot(declared.player, declared.params)
    if name.startswith(PERSON):
        return person(name.removeprefix(PERSON))
    return recorded_player(name)
