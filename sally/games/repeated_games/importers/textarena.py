"""Importer of two-player matrix games of TextArena, recorded step by step
(docs/how-to/recorded_play.md).

TextArena writes no files itself. A record is one line of JSON per game: the environment, its rules,
every reply in order, and the state at the end. Only the matrix games among its environments are
supported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode, Instance, Setup
from sally.core.registry.paper import ImportResult
from sally.games.repeated_games.recorded_play import Made, Round, fed
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.parts.importers import Difference, ImportRun, Oddity, Source, recorded_player

SEATS = (AGENT, PARTNER)
UNREAD = "no reply could be read"
Cells = tuple[tuple[tuple[int, int], ...], ...]


class Step(msgspec.Struct, frozen=True):
    """One reply."""

    player: int
    reply: str
    phase: str = "decision"


class Record(msgspec.Struct, frozen=True):
    """One recorded game."""

    env: str
    players: tuple[str, str]
    rules: dict[str, int]
    steps: tuple[Step, ...]
    state: dict[str, Any]


class Kind(msgspec.Struct, frozen=True):
    """The rules of an environment: how it reads a reply, and what its moves pay."""

    names: tuple[str, ...]
    pattern: str  # finds a move in a reply; its group is the move or its first letter
    # the move that an unreadable reply counts as; empty: the player is asked again
    unread: str = ""
    cells: Cells = ()  # empty: given by the rules of the record
    points: str = "points"  # where the state stores the players' scores

    def move(self, reply: str) -> int | None:
        """Return the move that a reply names; None if it cannot be read."""
        names_found = [m.lower() for m in re.findall(self.pattern, reply, re.IGNORECASE)]
        if not names_found:
            return None
        if self.unread:  # in TextArena the other move wins anywhere in the reply
            names_found.sort(key=self.unread.lower().startswith)
        return next(
            n for n, name in enumerate(self.names) if name.lower().startswith(names_found[0])
        )


KINDS: Mapping[str, Kind] = {
    "IteratedPrisonersDilemma": Kind(
        ("Cooperate", "Defect"), r"\[(cooperate|defect)\]", "Cooperate", points="scores"
    ),
    "IteratedRockPaperScissors": Kind(
        ("Rock", "Paper", "Scissors"),
        r"\[(rock|r|paper|p|scissors|s)\]",
        cells=(((0, 0), (0, 1), (1, 0)), ((1, 0), (0, 0), (0, 1)), ((0, 1), (1, 0), (0, 0))),
    ),
    "IteratedMatchingPennies": Kind(
        ("Heads", "Tails"),
        r"\[\s*(heads|h|tails|t)\s*\]",
        cells=(((1, 0), (0, 1)), ((0, 1), (1, 0))),
    ),
}


def import_records(path: Path) -> ImportResult:
    """Import every game of a file of records, one per line."""
    if not path.is_file():
        raise BadInput(f"There is no file {path}.")
    data = path.read_bytes()
    source = Source.of("TextArena", "", path.name, data)
    run = ImportRun()
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = msgspec.json.decode(line, type=Record)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}, line {number}: not a record of a game: {error}.") from None
        game = _Game(record, f"{path.name}:{number}")
        run.add(game.episode(source, number), game.differences, {"found": 1})
        if game.talk:
            reason = f"{game.talk} messages before decisions; Sally's game has no talk"
            run.oddities.append(Oddity(str(path), "talk left out", reason, number))
    if not run.episodes:
        raise BadInput(f"{path} contains no game.")
    return run.result()


class _Game:
    """The rounds read from one record, and its irregularities."""

    def __init__(self, record: Record, name: str) -> None:
        self.record, self.name = record, name
        stem = record.env.split("-v")[0]
        if stem not in KINDS:
            raise unknown("TextArena matrix game", stem, KINDS)
        self.kind = KINDS[stem]
        self.cells = self.kind.cells or dilemma(record.rules)
        self.talk = sum(step.phase != "decision" for step in record.steps)
        self.asked_again = 0
        self.differences: list[Difference] = []
        self.rounds = self._rounds()
        self._check_points()

    def _rounds(self) -> list[Round]:
        """Return the rounds as read from the replies; an unreadable reply gives no move."""
        rounds: list[Round] = []
        moves: dict[int, Made] = {}
        for step in self.record.steps:
            if step.phase != "decision":
                continue
            move = self.kind.move(step.reply)
            if move is None and not self.kind.unread:
                self.asked_again += 1
                continue
            moves[step.player] = self._unread(len(rounds) + 1, step) if move is None else move
            if len(moves) == len(SEATS):
                rounds.append(Round(moves[0], moves[1]))
                moves = {}
        if moves:  # the game ended while a player still had to move
            rounds.append(Round(moves.get(0, UNREAD), moves.get(1, UNREAD)))
        return rounds

    def _unread(self, round_number: int, step: Step) -> str:
        scored = f"scored there as {self.kind.unread.lower()}"
        player = self.record.players[step.player]
        self.differences.append(
            Difference(
                self.name, f"an unreadable reply of {player}", round_number, scored, "no move"
            )
        )
        return f"unreadable, {scored}"

    def _check_points(self) -> None:
        """Compare the points in the record with those that the moves imply."""
        recorded_points = self.record.state.get(self.kind.points, {})
        fallback = self.kind.names.index(self.kind.unread) if self.kind.unread else None
        ours = [0, 0]
        for played in self.rounds:
            pair = [fallback if isinstance(m, str) else m for m in (played.agent, played.partner)]
            if pair[0] is not None and pair[1] is not None:
                for n, points in enumerate(self.cells[pair[0]][pair[1]]):
                    ours[n] += points
        recorded = [recorded_points.get(str(n)) for n in (0, 1)]
        if recorded != ours:
            self.differences.append(Difference(self.name, "points", None, str(recorded), str(ours)))

    def episode(self, source: Source, line: int) -> Episode:
        """Return the game as an episode of repeated_games."""
        rounds = max(self.record.rules.get("num_rounds", 0), len(self.rounds))
        params = {
            "matrix": self.cells,
            "names": self.kind.names,
            "rounds": rounds,
            "void_limit": rounds,
        }
        lineup = {
            str(seat): recorded_player(player)
            for seat, player in zip(SEATS, self.record.players, strict=True)
        }
        name = f"{source.file}:-:{line}"
        setup = Setup(Instance(name, "repeated_games", params), 0, lineup)
        used = {
            "source": msgspec.to_builtins(source),
            "env": self.record.env,
            "points": self.record.state.get(self.kind.points, {}),
            "asked again": self.asked_again,
            "talk": self.talk,
        }
        return fed(setup, self.rounds, {}, self.record.env, used)[0]


def dilemma(rules: Mapping[str, int]) -> Cells:
    needed = ("cooperate_reward", "sucker_reward", "defect_reward", "mutual_defect_reward")
    lacking: Sequence[str] = [name for name in needed if name not in rules]
    if lacking:
        raise BadInput(f"The record does not give the payoffs: {', '.join(lacking)} is missing.")
    mutual, sucker, tempted, neither = (rules[name] for name in needed)
    return (((mutual, mutual), (sucker, tempted)), ((tempted, sucker), (neither, neither)))
