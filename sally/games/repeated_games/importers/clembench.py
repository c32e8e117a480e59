"""Importer of two-player matrix games in the logs of clembench's framework, clemcore.

Every game is a folder with an `interactions.json`, which lists the players, and every message and
note in order. The meaning of a reply depends on the game, so the user names the moves. An entry of
`turns` in the file need not be a round, because a repeated question may open a new entry; a round
is over when both players have replied.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode, Setup
from sally.core.registry.paper import ImportResult
from sally.games.repeated_games.importers.table import FAMILY, Description
from sally.games.repeated_games.recorded_play import Made, Round, fed
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.parts.importers import Difference, ImportRun, Source, recorded_player

FILE = "interactions.json"
MASTER, REPLY = "GM", "get message"
SEATS = (AGENT, PARTNER)


class Action(msgspec.Struct, frozen=True):
    """The content of a message or note."""

    type: str
    content: Any = None


class Event(msgspec.Struct, frozen=True, rename={"by": "from"}):
    """One message, or a note of the game master to itself."""

    by: str
    to: str
    action: Action


class Meta(msgspec.Struct, frozen=True):
    """The metadata of a log: game, experiment and run."""

    game_name: str
    experiment_name: str
    game_id: int
    results_folder: str = ""
    clem_version: str = ""
    completed: bool | None = None


class Log(msgspec.Struct, frozen=True):
    """One logged game."""

    meta: Meta
    players: dict[str, dict[str, str]]
    turns: tuple[tuple[Event, ...], ...]
    aborted: int = msgspec.field(default=0, name="Aborted")

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names in the log."""
        return tuple(name for name in self.players if name != MASTER)

    @property
    def has_ended(self) -> bool:
        """Whether the game was played to its end."""
        return bool(self.meta.completed) and not self.aborted


class LogOptions(msgspec.Struct, frozen=True):
    """Settings that the user must give because a log does not contain them."""

    description: Description
    only: str = ""  # the game's name in the logs, if a folder holds several
    reply: str = ""  # pattern that finds a move in a reply; its group is the move's name
    noted: str = ""  # type of the note with the move that was counted
    paid: str = ""  # type of the note with both payoffs of a round


def read(
    path: Path,
    *,
    game: str = "",
    matrix: Path | None = None,
    names: str = "",
    rounds: int | None = None,
    source: str = "",
    licence: str = "",
    reply: str = "",
    **options: str,
) -> ImportResult:
    """Import the games of a results folder, or of one file, with the options of the command."""
    if bool(game) == (matrix is not None):
        raise BadInput("Name the game that was played: rps, ibs or ipd, or a file with its matrix.")
    params = read_params(matrix) if matrix else {}
    if names:
        params["names"] = [name.strip() for name in names.split(",")]
    if rounds:
        params["rounds"] = rounds
    description = Description(game or FAMILY, params, source=source or "clembench", licence=licence)
    return import_results(path, LogOptions(description, reply=checked_pattern(reply), **options))


def read_params(file: Path) -> dict[str, Any]:
    """Return the parameters of a game from a JSON or TOML file with its `matrix`."""
    try:
        text = file.read_text(encoding="utf-8")
        params = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} is not a readable JSON or TOML file: {error}.") from None
    if not isinstance(params, dict) or "matrix" not in params:
        raise BadInput(f"{file} has no key `matrix`.")
    return params


def import_results(path: Path, options: LogOptions) -> ImportResult:
    """Import every game of a results folder, or of one file."""
    logs = [(file, *_read(file)) for file in _files(path)]
    game_names = sorted({log.meta.game_name for _, _, log in logs})
    if options.only and options.only not in game_names:
        raise unknown("game in these logs", options.only, game_names)
    if not options.only and len(game_names) > 1:
        raise BadInput(
            f"{path} contains several games; `only` must name one of {', '.join(game_names)}."
        )
    games = [
        _Game(file, data, log, options)
        for file, data, log in logs
        if log.meta.game_name == (options.only or game_names[0])
    ]
    if not any(game.readable for game in games):
        names = " or ".join(games[0].rules.names_of(AGENT))
        raise BadInput(
            f"No reply under {path} names {names}; set the pattern `reply` to match how replies "
            "name moves."
        )
    longest = max(len(game.rounds) for game in games)
    rounds = options.description.params.get("rounds")
    if rounds is not None and rounds < longest:
        raise BadInput(f"A game under {path} has {longest} rounds, more than `rounds` = {rounds}.")
    run = ImportRun()
    for game in games:
        length = len(game.rounds) if game.log.has_ended else longest
        episode = game.episode(rounds or length)
        counts = {"found": 1, "aborted there": game.log.aborted, "asked again": game.asked_again}
        run.add(episode, game.differences, counts)
    return run.result()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(path.rglob(FILE))
    if not files:
        raise BadInput(f"There is no {FILE} of clembench in or below {path}.")
    return files


def _read(file: Path) -> tuple[bytes, Log]:
    data = file.read_bytes()
    try:
        log = msgspec.json.decode(data, type=Log)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} is not a game log of clemcore: {error}.") from None
    return data, log


class _Game:
    """The rounds read from one log, and its irregularities."""

    def __init__(self, file: Path, data: bytes, log: Log, options: LogOptions) -> None:
        if len(log.names) != len(SEATS):
            raise BadInput(f"{file}: {len(log.names)} players; a matrix game has two.")
        self.log, self.how = log, options
        meta = log.meta
        place = (meta.results_folder, meta.game_name, meta.experiment_name, file.parent.name)
        self.name = "/".join(part for part in place if part)
        self.source = Source.of(options.description.source, options.description.licence, FILE, data)
        self.rules = options.description.build(1)
        self.asked_again = self.readable = 0
        self.differences: list[Difference] = []
        self.rounds = self._rounds()

    def _rounds(self) -> list[Round]:
        rounds: list[Round] = []
        moves: dict[str, Made] = {}
        replies = list(_replies(self.log))
        for index, (event, notes) in enumerate(replies):
            move = self._move(event)
            is_repeated = index + 1 < len(replies) and replies[index + 1][0].by == event.by
            if move is None and is_repeated:
                self.asked_again += 1
                continue
            is_aborted = index + 1 == len(replies) and bool(self.log.aborted)
            moves[event.by] = self._judge_reply(event, move, notes, len(rounds) + 1, is_aborted)
            if len(moves) == len(SEATS):
                rounds.append(self._round(moves))
                self._check_points(rounds[-1], notes, len(rounds))
                moves = {}
        if moves:
            rounds.append(self._round(moves))
        return rounds

    def _round(self, moves: Mapping[str, Made]) -> Round:
        first, two = (moves.get(name, "the game had ended") for name in self.log.names)
        return Round(first, two)

    def _seat(self, event: Event) -> Any:
        return SEATS[self.log.names.index(event.by)]

    def _move(self, event: Event) -> int | None:
        move = _named_move(str(event.action.content), self.rules.names_of(self._seat(event)),
                      self.how.reply)  # fmt: skip
        self.readable += move is not None
        return move

    def _judge_reply(
        self,
        event: Event,
        move: int | None,
        notes: Sequence[Action],
        round_number: int,
        is_aborted: bool,
    ) -> Made:
        """Return the move in a reply, or the reason why there is none; list a difference if the log
        counted another move."""
        names = self.rules.names_of(self._seat(event))
        counted = next(
            (
                _named_move(json.dumps(n.content), names, "")
                for n in notes
                if n.type == self.how.noted
            ),
            None,
        )
        if move is not None:
            if counted is not None and counted != move:
                self._differs(f"a reply of {event.by}", round_number, names[counted], names[move])
            return move
        if is_aborted:
            return "unreadable, and the game was aborted"
        scored = "counted there as a move that was not noted"
        if counted is not None:
            scored = f"scored there as {names[counted]}"
        self._differs(f"an unreadable reply of {event.by}", round_number, scored, "no move")
        return f"unreadable, {scored}"

    def _check_points(self, played: Round, notes: Sequence[Action], round_number: int) -> None:
        paid = next((n.content for n in notes if n.type == self.how.paid), None)
        if paid is None or isinstance(played.agent, str) or isinstance(played.partner, str):
            return
        ours = [float(x) for x in self.rules.matrix[played.agent][played.partner]]
        if paid != ours:
            self._differs("points", round_number, json.dumps(paid), json.dumps(ours))

    def _differs(self, subject: str, round_number: int, recorded: str, ours: str) -> None:
        self.differences.append(Difference(self.name, subject, round_number, recorded, ours))

    def episode(self, rounds: int) -> Episode:
        """Return the game as an episode of a repeated game."""
        model_names = [self.log.players[name].get("model_name", name) for name in self.log.names]
        lineup = {
            str(seat): recorded_player(name) for seat, name in zip(SEATS, model_names, strict=True)
        }
        instance = self.how.description.instance(f"clembench:-:{self.name}", rounds)
        used = {
            "source": msgspec.to_builtins(self.source),
            "clemcore": self.log.meta.clem_version,
            "game there": self.log.meta.game_name,
            "asked again": self.asked_again,
            "aborted there": bool(self.log.aborted),
        }
        setup = Setup(instance, 0, lineup)
        return fed(setup, self.rounds, {}, self.log.meta.experiment_name, used)[0]


def _replies(log: Log) -> Iterator[tuple[Event, list[Action]]]:
    """Yield every reply of a player, with the game master's notes before the next reply."""
    last: tuple[Event, list[Action]] | None = None
    for event in (event for turn in log.turns for event in turn):
        if event.by in log.names and event.action.type == REPLY:
            if last is not None:
                yield last
            last = (event, [])
        elif last is not None and event.by == event.to == MASTER:
            last[1].append(event.action)
    if last is not None:
        yield last


def _named_move(text: str, names: Sequence[str], pattern: str) -> int | None:
    """Return the move that a text names; None if the text names no move or more than one."""
    if pattern:
        matches = [match_text.strip().lower() for match_text in re.findall(pattern, text)][-1:]
        moves = {n for n, name in enumerate(names) if name.lower() in matches}
    else:  # a single letter is case-sensitive: "a" is a word
        moves = {
            n
            for n, name in enumerate(names)
            if re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE if len(name) > 1 else 0)
        }
    return moves.pop() if len(moves) == 1 else None


def checked_pattern(pattern: str) -> str:
    """Return a regular expression after checking that it has exactly one group.

    Raises BadInput if it is invalid.
    """
    try:
        groups = re.compile(pattern).groups if pattern else 1
    except re.error as error:
        raise BadInput(
            f"The pattern {pattern!r} for `reply` is not a regular expression: {error}."
        ) from None
    if groups != 1:
        raise BadInput(
            f"The pattern {pattern!r} for `reply` must have one group, which finds the move's name."
        )
    return pattern
