"""Export of one repeated game as a table of rounds that `sally import table` reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.adapters.importers.table import PERSON, SEATS
from sally.adapters.importers.table_cells import NO_ROW
from sally.adapters.importers.table_layout import FAMILY, WIDE, WIDE_MORE, presets
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Forfeited, PlayerSpec, Reported
from sally.core.log.imported import HUMAN, RECORDED
from sally.core.match.playback import replayed
from sally.core.match.replay import Step, Trajectory
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import AGENT, RepeatedGame

COLUMNS = (*WIDE, *WIDE_MORE)
Row = dict[str, Any]


def write(episodes: Iterable[Episode], path: Path) -> int:
    """Write a table and the TOML file that describes it; return the number of rows."""
    if path.suffix not in (".csv", ".tsv"):
        raise BadInput(f"{path} should end in .csv or .tsv; rounds are exported as a table.")
    found = [e for e in episodes if _family(e) == FAMILY]
    if not found:
        raise BadInput("There are no episodes of a repeated game to export.")
    described = layout(found)
    rows = [row for episode in found for row in rows_of(episode)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
    path.with_suffix(".toml").write_text(_toml(described), encoding="utf-8")
    return len(rows)


def _family(episode: Episode) -> str:
    spec = registry.game(episode.setup.instance.game)
    return spec.family or spec.name


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
        return partner(who)
    return str(who.params.get("model") or who.params.get("participant") or who.player)


def partner(who: PlayerSpec) -> str:
    """Return a partner in the notation that `sally import table` accepts."""
    given = (f"{name}={msgspec.json.encode(v).decode()}" for name, v in who.params.items())
    return ",".join([who.player, *given])


# --- how to read it -------------------------------------------------------------------------------


def layout(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Return the layout that `sally import table` needs for these episodes, all of one game."""
    games = {msgspec.json.encode(_game(e), order="sorted"): _game(e) for e in episodes}
    if len(games) > 1:
        raise BadInput(
            f"The episodes are of {len(games)} games with different payoffs, names or stopping "
            "probabilities, but a table of rounds can hold only one game; choose the episodes of "
            "one cell."
        )
    (described,) = games.values()
    described |= {"moves": "simultaneous"}
    lengths = {_built(e).rounds for e in episodes}
    described |= {"rounds": lengths.pop()} if len(lengths) == 1 else {"as_played": True}
    sources = {_source(e) for e in episodes}
    if len(sources) == 1 and (source := sources.pop()) is not None:
        described |= {"source": source[0], "licence": source[1]}
    bots = {
        label(who): partner(who)
        for e in episodes
        for who in (e.setup.lineup[seat] for seat in SEATS)
        if who.player != RECORDED and who.player in registry.partners(FAMILY)
    }
    return described | ({"partners": bots} if bots else {})


def _source(episode: Episode) -> tuple[str, str] | None:
    found = episode.used.get("source")
    return (str(found["source"]), str(found["licence"])) if isinstance(found, Mapping) else None


def _built(episode: Episode) -> RepeatedGame:
    built = registry.game(episode.setup.instance.game).build(episode.setup.instance.params)
    assert isinstance(built, RepeatedGame)
    return built


def _game(episode: Episode) -> dict[str, Any]:
    name, params = episode.setup.instance.game, episode.setup.instance.params
    described: dict[str, Any] = (
        {"game": name} if name in presets() and "matrix" not in params else {}
    )
    game = _built(episode)
    if not described:
        described["matrix"] = [[list(cell) for cell in row] for row in game.matrix]
    for key in ("names", "partner_names"):
        if params.get(key):
            described[key] = list(params[key])
    if game.stop_chance:
        described["stop_chance"] = game.stop_chance
    return described


def _toml(described: Mapping[str, Any]) -> str:
    """Return the keys as TOML; values are written as JSON, which is also valid TOML."""
    lines = [
        f"{key} = {msgspec.json.encode(value).decode()}"
        for key, value in described.items()
        if not isinstance(value, dict)
    ]
    for key, value in described.items():
        if isinstance(value, dict):
            lines += ["", f"[{key}]"]
            lines += [
                f"{msgspec.json.encode(k).decode()} = {msgspec.json.encode(v).decode()}"
                for k, v in value.items()
            ]
    return "\n".join(lines) + "\n"
