"""Export of one repeated game as a table of rounds that `sally import table` reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Forfeited, PlayerSpec, Reported
from sally.core.match.playback import replayed
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.replay import Step, Trajectory
from sally.games.repeated_games.importers.table import COLUMNS, FAMILY, NO_ROW, PERSON, SEATS
from sally.games.repeated_games.rules import AGENT, RepeatedGame
from sally.parts.imported import HUMAN, RECORDED

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
    replay: Trajectory[Any, int, Any] = replayed(spec, episode)
    game = replay.game
    assert isinstance(game, RepeatedGame)
    lost = {(e.turn, e.seat): e.reason for e in episode.events if isinstance(e, Forfeited)}
    said = {(e.turn, e.seat): e for e in episode.events if isinstance(e, Reported)}
    number = 0
    for step in replay.steps():
        if game.to_move(step.before) != game.seats:
            continue
        number += 1
        if all(lost.get((step.turn, seat)) == NO_ROW for seat in SEATS):
            continue
        row: Row = {"episode": _name(episode), "round": number, "condition": episode.cell}
        for side, seat in enumerate(SEATS, 1):
            row |= _side(episode, game, step, seat, side, number)
            report = said.get((step.turn, seat))
            row[f"prediction{side}"] = "" if report is None else _predicted(game, seat, report)
        yield row


def _name(episode: Episode) -> str:
    return str(episode.used.get("episode", episode.id))


def _side(
    episode: Episode, game: RepeatedGame, step: Step[Any, int], seat: Seat, side: int, number: int
) -> Row:
    made = step.moves.get(seat)
    times = episode.used.get("people", {}).get(seat, {}).get("seconds", ())
    time = times[number - 1] if number <= len(times) else None
    paid = ""
    if len(step.moves) == 2:
        mine, theirs = (step.moves[s] for s in (SEATS if seat == AGENT else SEATS[::-1]))
        paid = f"{game.pay(seat, mine, theirs):g}"
    return {
        f"player{side}": label(episode.setup.lineup[seat]),
        f"action{side}": "" if made is None else game.names_of(seat)[made],
        f"payoff{side}": paid,
        f"rt{side}": "" if time is None else repr(time),
    }


def _predicted(game: RepeatedGame, seat: Seat, report: Reported) -> str:
    names = game.names_of(SEATS[1] if seat == AGENT else SEATS[0])
    if report.odds is not None:
        return " ".join(f"{name}:{p!r}" for name, p in zip(names, report.odds, strict=True))
    return names[report.value] if isinstance(report.value, int) else ""


def label(who: PlayerSpec) -> str:
    """Return a player's name in the table: `human:ID` for a person, or a partner's name with its
    parameters."""
    if who.player == RECORDED:
        if who.params.get("name") == HUMAN:
            return f"{PERSON}{who.params.get('participant', '')}"
        return str(who.params.get("name"))
    if who.player in registry.partners(FAMILY):
        given = (f"{name}={msgspec.json.encode(v).decode()}" for name, v in who.params.items())
        return ",".join([who.player, *given])
    return str(who.params.get("model") or who.params.get("participant") or who.player)


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
    lengths = {_built(e).rounds for e in episodes}
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
    found = episode.used.get("source")
    return (str(found["source"]), str(found["licence"])) if isinstance(found, Mapping) else None


def _built(episode: Episode) -> RepeatedGame:
    built = registry.game(episode.setup.instance.game).build(episode.setup.instance.params)
    assert isinstance(built, RepeatedGame)
    return built


def _game(episode: Episode) -> dict[str, Any]:
    instance, game = episode.setup.instance, _built(episode)
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
