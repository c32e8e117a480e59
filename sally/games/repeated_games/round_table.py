"""Export of one repeated game as a table of rounds that `sally import table` reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Forfeited, PlayerSpec, Reported
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.replay import Step, Trajectory
from sally.games.repeated_games.importers.table import COLUMNS, FAMILY, NO_ROW, PERSON, SEATS
from sally.games.repeated_games.rules import AGENT, RepeatedGame
from sally.parts.importers import HUMAN, RECORDED

Row = dict[str, Any]


def write(episodes: Iterable[Episode], path: Path) -> int:
    """Write a table and the TOML file that describes it; return the number of rows."""
    if path.suffix != ".csv":
        raise BadInput(f"{path} should end in .csv; rounds are exported as a table.")
    exported = list(episodes)
    description = describe(exported)
    rows = [row for episode in exported for row in rows_of(episode)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    path.with_suffix(".toml").write_text(_toml(description), encoding="utf-8")
    return len(rows)


ROUND_TABLE = write


# --- the rounds -----------------------------------------------------------------------------------


def rows_of(episode: Episode) -> Iterator[Row]:
    """Yield one row per round, except for rounds that were missing in an imported table."""
    spec = registry.game(episode.setup.instance.game)
    replay: Trajectory[Any, int, Any] = replay_episode(spec, episode)
    game = replay.game
    assert isinstance(game, RepeatedGame)
    forfeit_reasons = {
        (e.turn, e.seat): e.reason for e in episode.events if isinstance(e, Forfeited)
    }
    reports = {(e.turn, e.seat): e for e in episode.events if isinstance(e, Reported)}
    number = 0
    for step in replay.steps():
        if game.to_move(step.before) != game.seats:
            continue
        number += 1
        if all(forfeit_reasons.get((step.turn, seat)) == NO_ROW for seat in SEATS):
            continue
        row: Row = {"episode": _name(episode), "round": number, "condition": episode.cell}
        for side, seat in enumerate(SEATS, 1):
            row |= _side(episode, game, step, seat, side, number)
            report = reports.get((step.turn, seat))
            row[f"prediction{side}"] = (
                "" if report is None else _prediction_text(game, seat, report)
            )
        yield row


def _name(episode: Episode) -> str:
    return str(episode.used.get("episode", episode.id))


def _side(
    episode: Episode, game: RepeatedGame, step: Step[Any, int], seat: Seat, side: int, number: int
) -> Row:
    move = step.moves.get(seat)
    times = episode.used.get("people", {}).get(seat, {}).get("seconds", ())
    time = times[number - 1] if number <= len(times) else None
    paid = ""
    if len(step.moves) == 2:
        own_move, other_move = (step.moves[s] for s in (SEATS if seat == AGENT else SEATS[::-1]))
        paid = f"{game.pay(seat, own_move, other_move):g}"
    return {
        f"player{side}": label(episode.setup.lineup[seat]),
        f"action{side}": "" if move is None else game.names_of(seat)[move],
        f"payoff{side}": paid,
        f"rt{side}": "" if time is None else repr(time),
    }


def _prediction_text(game: RepeatedGame, seat: Seat, report: Reported) -> str:
    names = game.names_of(SEATS[1] if seat == AGENT else SEATS[0])
    if report.odds is not None:
        return " ".join(f"{name}:{p!r}" for name, p in zip(names, report.odds, strict=True))
    return names[report.value] if isinstance(report.value, int) else ""


def label(player: PlayerSpec) -> str:
    """Return a player's name in the table: `human:ID` for a person, or a partner's name with its
    parameters."""
    if player.player == RECORDED:
        if player.params.get("name") == HUMAN:
            return f"{PERSON}{player.params.get('participant', '')}"
        return str(player.params.get("name"))
    if player.player in registry.partners(FAMILY):
        param_texts = (
            f"{name}={msgspec.json.encode(v).decode()}" for name, v in player.params.items()
        )
        return ",".join([player.player, *param_texts])
    return str(player.params.get("model") or player.params.get("participant") or player.player)


# --- its description ------------------------------------------------------------------------------


def describe(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Return the description that `sally import table` needs; all episodes must be of one game."""
    games = {msgspec.json.encode(_game(e), order="sorted"): _game(e) for e in episodes}
    if len(games) > 1:
        raise BadInput(
            f"The episodes are of {len(games)} games with different payoffs, names or stopping "
            "probabilities, but a table of rounds can hold only one game; choose the episodes of "
            "one cell."
        )
    (description,) = games.values()
    lengths = {_build_game(e).rounds for e in episodes}
    if len(lengths) == 1:
        description["params"]["rounds"] = lengths.pop()
    sources = {_source(e) for e in episodes}
    if len(sources) == 1 and (source := sources.pop()) is not None:
        description |= {"source": source[0], "licence": source[1]}
    description["partners"] = {
        label(player): {"player": player.player, "params": player.params}
        for e in episodes
        for player in (e.setup.lineup[seat] for seat in SEATS)
        if player.player != RECORDED and player.player in registry.partners(FAMILY)
    }
    return description


def _source(episode: Episode) -> tuple[str, str] | None:
    source = episode.used.get("source")
    return (str(source["source"]), str(source["licence"])) if isinstance(source, Mapping) else None


def _build_game(episode: Episode) -> RepeatedGame:
    built = registry.game(episode.setup.instance.game).build(episode.setup.instance.params)
    assert isinstance(built, RepeatedGame)
    return built


def _game(episode: Episode) -> dict[str, Any]:
    instance, game = episode.setup.instance, _build_game(episode)
    params: dict[str, Any] = {
        key: instance.params[key]
        for key in ("matrix", "names", "partner_names")
        if instance.params.get(key)
    }
    if game.stop_chance:
        params["stop_chance"] = game.stop_chance
    return {"game": instance.game, "params": params}


def _toml(values: Mapping[str, Any]) -> str:
    """Return a mapping as TOML, with inner mappings as inline tables."""
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in values.items())


def _toml_value(value: Any) -> str:
    """Return a value as TOML, which shares its numbers, texts and lists with JSON."""
    if isinstance(value, Mapping):
        pairs = (f"{_toml_value(key)} = {_toml_value(inner)}" for key, inner in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    return msgspec.json.encode(value).decode()
