"""Importer of the published games of the step race (Mazur 2025): messages and moves as recorded.

The repository has no licence, so its logs are read in place and never shipped. The target is not in
the logs; it is above every position before the last turn and at or below the winning position,
within the range in use at the time. Replay does not depend on the target. Whether a speaker asked
to stop is not recorded either: if talk ended early, all three players are assumed to have had
nothing to add.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportResult
from sally.core.rules.game import NATURE
from sally.games.step_race.rules import (
    MOST_LETTERS,
    MOST_TALKS,
    MOVES,
    ORDERS,
    SEATS,
    Action,
    Done,
    Say,
    StepRace,
    Triple,
    triple,
)
from sally.papers.step_game.names import model_name, rewritten
from sally.parts.importers import (
    Difference,
    ImportRun,
    Oddity,
    Source,
    existing,
    recorded_player,
)

SOURCE = "Mazur 2025, github.com/lechmazur/step_game"
LICENCE = "none: not to be redistributed"
FILE = re.compile(r"game_(\d+)_(\d{8})_(\d{6})\.jsonl")
TURN_LIMIT = 10_000  # the published game has none
NEVER_BELOW, NEVER_ABOVE, SINCE_FEBRUARY = 16, 24, 19  # targets in use (protocol, section 1)


class Line(msgspec.Struct, frozen=True):
    """A line of a log; `game_id` is left out, because it may exceed 64 bits."""

    type: str
    turn: int
    conv_subround: int = 0
    player_id: str = ""
    message: str = ""
    move: int = 0
    positions: dict[str, int] = {}
    winners: tuple[str, ...] = ()
    final_positions: dict[str, int] = {}


class RecordedTurn(msgspec.Struct, frozen=True):
    """One recorded turn, with players as seat numbers."""

    number: int
    order: tuple[int, ...]  # of speaking; empty without talk
    talk: tuple[tuple[str, str, str], ...]  # by sub-round, in order of speaking
    moves: Triple
    positions: Triple  # positions


class RecordedGame(msgspec.Struct, frozen=True):
    """One log."""

    source: Source
    id: str
    date: str  # YYYYMMDD
    models: tuple[str, str, str]
    turns: tuple[RecordedTurn, ...]
    final: Triple
    winners: tuple[int, ...]

    @property
    def talks(self) -> int:
        """The largest number of sub-rounds in a turn."""
        return max(len(turn.talk) for turn in self.turns)

    @property
    def target_range(self) -> tuple[int, int]:
        """The targets consistent with the record."""
        top_before, top = max(self.turns[-1].positions), max(self.final)
        late = self.date >= "20250201" or top_before >= SINCE_FEBRUARY - 1
        lowest = SINCE_FEBRUARY if late else NEVER_BELOW
        highest = SINCE_FEBRUARY - 1 if top < SINCE_FEBRUARY else NEVER_ABOVE
        return max(lowest, top_before + 1), min(highest, top)

    @property
    def era(self) -> str:
        """The period in which the game was played; periods differ in the range of targets."""
        low, high = self.target_range
        if low >= SINCE_FEBRUARY:
            return "targets 19 to 24"
        return "targets 16 to 18" if high < SINCE_FEBRUARY else "January 2025, either target"


# --- reading --------------------------------------------------------------------------------------


def files_under(path: Path) -> list[Path]:
    """Return the logs of a checkout, a folder or a single file."""
    if existing(path).is_file():
        if not FILE.fullmatch(path.name):
            raise BadInput(
                f"{path} is not a log of the step game; logs are named "
                "game_ID_YYYYMMDD_HHMMSS.jsonl."
            )
        return [path]
    files = sorted(file for file in path.rglob("game_*.jsonl") if FILE.fullmatch(file.name))
    if not files:
        raise BadInput(f"There is no log game_ID_YYYYMMDD_HHMMSS.jsonl under {path}.")
    return files


_decode = msgspec.json.Decoder(Line).decode


def read_game(file: Path) -> RecordedGame:
    """Return one log after checking every line."""
    name_match = FILE.fullmatch(file.name)
    assert name_match is not None
    data = file.read_bytes()
    lines: list[Line] = []
    for n, raw in enumerate(data.splitlines(), 1):
        try:
            lines.append(_decode(raw))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{file.name}, line {n}: {error}.") from None
    if not lines or lines[-1].type != "final":
        raise BadInput(f"{file.name} does not end with a line of type final; it may be truncated.")
    players = _players(file, lines[-1].final_positions)
    turns: dict[int, list[Line]] = {}
    for line in lines[:-1]:
        turns.setdefault(line.turn, []).append(line)
    models = tuple(name.split("_", 2)[2] for name in players)
    return RecordedGame(
        Source.of(SOURCE, LICENCE, file.name, data),
        name_match[1],
        name_match[2],
        (models[0], models[1], models[2]),
        tuple(_turn(file, number, of, players) for number, of in sorted(turns.items())),
        triple(lines[-1].final_positions[name] for name in players),
        tuple(sorted(_seat(file, name, players) for name in lines[-1].winners)),
    )


def _players(file: Path, positions: Mapping[str, int]) -> list[str]:
    """Return the player ids in order of seats."""
    player_ids = sorted(positions)
    if [name[:8] for name in player_ids] != ["Player1_", "Player2_", "Player3_"]:
        raise BadInput(
            f"{file.name}: players are {', '.join(player_ids)}; there should be Player1 to 3."
        )
    return player_ids


def _seat(file: Path, name: str, players: list[str]) -> int:
    if name not in players:
        raise BadInput(f"{file.name}: {name} is not one of its three players.")
    return players.index(name)


def _turn(file: Path, number: int, lines: list[Line], players: list[str]) -> RecordedTurn:
    place = f"{file.name}, turn {number}"
    messages_by_round: dict[int, list[tuple[int, str]]] = {}
    moves: dict[int, int] = {}
    positions_before: Mapping[str, int] = {}
    for line in lines:
        seat = _seat(file, line.player_id, players)
        if line.type == "conversation":
            messages_by_round.setdefault(line.conv_subround, []).append((seat, line.message))
        elif line.type == "move":
            if line.move not in MOVES or seat in moves:
                raise BadInput(
                    f"{place}: {line.player_id} moves {line.move}; it should move 1, 3 or 5, once."
                )
            moves[seat], positions_before = line.move, line.positions
        else:
            raise BadInput(f"{place}: a line of type {line.type!r} is not expected here.")
    if len(moves) != len(SEATS) or set(positions_before) != set(players):
        raise BadInput(
            f"{place}: there are {len(moves)} moves with positions; there should be three."
        )
    orders = {tuple(seat for seat, _ in messages_by_round[n]) for n in messages_by_round}
    if orders and (len(orders) > 1 or next(iter(orders)) not in ORDERS):
        raise BadInput(
            f"{place}: all three players should speak once in each sub-round, always in the "
            "same order."
        )
    if (
        sorted(messages_by_round) != list(range(1, len(messages_by_round) + 1))
        or len(messages_by_round) > MOST_TALKS
    ):
        raise BadInput(
            f"{place}: sub-rounds are {sorted(messages_by_round)}; they should be counted from 1."
        )
    talk = []
    for n in sorted(messages_by_round):
        first, second, third = (message for _, message in messages_by_round[n])
        talk.append((first, second, third))
    order = next(iter(orders)) if orders else ()
    placed = triple(positions_before[name] for name in players)
    return RecordedTurn(number, order, tuple(talk), triple(moves[n] for n in range(3)), placed)


# --- episodes -------------------------------------------------------------------------------------


def setup_of(game: RecordedGame) -> Setup:
    """Return the setup of the game; the target is set to the middle of the possible range."""
    low, high = game.target_range
    if low > high:
        raise BadInput(f"{game.source.file}: no target fits positions up to {max(game.final)}.")
    params: dict[str, Any] = {
        "target": (low + high) // 2,
        "talks": game.talks,
        "positions": list(game.turns[0].positions),
        "max_turns": TURN_LIMIT,
        "letters": MOST_LETTERS,
        "target_range": [low, high],
    }
    lineup = {
        str(seat): recorded_player(model_name(raw).label)
        for seat, raw in zip(SEATS, game.models, strict=True)
    }
    return Setup(Instance(f"step_game:{game.id}", "step_race", params), 0, lineup)


def as_episode(game: RecordedGame) -> tuple[Episode, list[Difference]]:
    """Return one game, replayed under the rules, and its differences from the record."""
    setup = setup_of(game)
    match: Match[Any, Action, Any] = Match(registry.game("step_race"), setup, ask_nature=True)
    differs: list[Difference] = []
    for n, turn in enumerate(game.turns, 1):
        if match.over:
            differs.append(Difference(setup.instance.id, "length", n, "goes on", "is over"))
            break
        if match.state.positions != turn.positions:
            positions_shown = str(turn.positions), str(match.state.positions)
            differs.append(Difference(setup.instance.id, "positions", n, *positions_shown))
        _feed(match, turn, game.talks, differs, setup.instance.id)
    if match.state.positions != game.final:
        positions_shown = str(game.final), str(match.state.positions)
        differs.append(Difference(setup.instance.id, "final positions", None, *positions_shown))
    if not match.over:
        match.censor("left", f"{len(game.turns)} turns are on record and nobody has arrived")
        differs.append(Difference(setup.instance.id, "length", None, "is over", "goes on"))
    else:
        paid = match.game.payoffs(match.state)
        ours = tuple(n for n, seat in enumerate(SEATS) if paid[seat])
        if ours != game.winners:
            differs.append(
                Difference(setup.instance.id, "winners", None, str(game.winners), str(ours))
            )
    era, talks = game.era, game.talks
    used = {
        "source": msgspec.to_builtins(game.source),
        "date": game.date,
        "era": era,
        "names": {
            str(seat): msgspec.to_builtins(model_name(raw))
            for seat, raw in zip(SEATS, game.models, strict=True)
        },
        "rewritten": [
            str(seat) for seat, raw in zip(SEATS, game.models, strict=True) if rewritten(raw)
        ],
    }
    return match.episode(f"{talks} sub-rounds, {era}", used), differs


def _feed(
    match: Match[Any, Action, Any],
    turn: RecordedTurn,
    talks: int,
    differs: list[Difference],
    name: str,
) -> None:
    """Play the messages and the moves of one turn."""
    race = match.game
    assert isinstance(race, StepRace)
    if talks:
        order = turn.order or ORDERS[0]
        match.move(NATURE, ORDERS.index(order))
        rounds = turn.talk or (("", "", ""),)  # a turn without a word
        for n, round_messages in enumerate(rounds, 1):
            ends = n == len(rounds) < talks
            for number, text in zip(order, round_messages, strict=True):
                silent = not text.strip()
                action = Done("" if silent else text) if ends or silent else Say(text)
                if race.speaker(match.state) != number:
                    differs.append(Difference(name, "talk", turn.number, "goes on", "is over"))
                    break
                match.move(SEATS[number], action)
    for seat, move in zip(SEATS, turn.moves, strict=True):
        match.move(seat, move)


def import_games(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    files = files_under(path)
    run = ImportRun(counts={"found": len(files)})
    for file in files:
        with run.listing_errors(file.name):
            game = read_game(file)
            run.add(*as_episode(game), _counts(game))
            run.oddities += _oddities(game)
    return run.result()


def _counts(game: RecordedGame) -> dict[str, int]:
    messages = [text for turn in game.turns for talk in turn.talk for text in talk]
    low, high = game.target_range
    return {
        "turns": len(game.turns),
        "messages": len(messages),
        "empty messages": sum(not text.strip() for text in messages),
        "messages of more than 100 words": sum(len(text.split()) > 100 for text in messages),
        "targets pinned": int(low == high),
        "seats whose words were rewritten": sum(map(rewritten, game.models)),
        "games with two or three winners": int(len(game.winners) > 1),
    }


def _oddities(game: RecordedGame) -> list[Oddity]:
    first = game.turns[0]
    oddities = []
    if first.number != 1:
        reason = f"it begins at turn {first.number} with positions {first.positions}"
        oddities.append(Oddity(game.source.file, "begins late", reason))
    if unknown := [raw for raw in game.models if not model_name(raw).provider]:
        reason = f"no provider is known for {', '.join(unknown)}"
        oddities.append(Oddity(game.source.file, "unknown name", reason))
    return oddities


IMPORTER = Importer(
    "step_game", "language models in the public step game benchmark (Mazur 2025)", import_games
)
