"""What two players scored, by where and by what: from episodes, or from the index of a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

import msgspec

from sally import store
from sally.analysis.columns.measured import doing_metric, setting
from sally.analysis.columns.rows import played
from sally.analysis.columns.seat_table import Kind, Seats, seats_in
from sally.analysis.profile.estimates import person_of
from sally.core.errors import unknown
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup, label
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.metric import Played

KNOWING = ("tom_percent", "brier")
By = Literal["game", "cell", "others", "strategy"]


class Group(msgspec.Struct, frozen=True):
    """Where two players are compared by what."""

    game: str
    seat: str
    where: str
    metric: str


class Score(msgspec.Struct, frozen=True):
    """One episode of one player, by one metric."""

    setting: str
    instance: str
    others: str
    value: float
    person: str = ""  # whose play it is, where a person's
    repeat: int = 0
    way: str = ""  # how a model was asked, where models are compared


Scores = dict[Group, dict[str, list[Score]]]


@dataclass(frozen=True)
class Seen:
    """A store of which it is known who sat in it; its numbers come from the index."""

    where: store.Where
    kinds: tuple[Kind, ...]
    bad: tuple[str, ...]  # lines that hold no episode


def seen(where: store.Where) -> Seen:
    """Who sat in a store."""
    table = seats_in(where, ())
    return Seen(where, tuple(table.whole), tuple(table.bad))


Source = Iterable[Episode] | Seen


def player_alone(who: PlayerSpec) -> tuple[str, str]:
    """A player as tables call it: whatever strategy it has is part of the name."""
    return label(who), ""


Whose = Callable[[PlayerSpec], tuple[str, str]]  # under which name a player counts, and its way


def scores_of(
    source: Source,
    players: tuple[str, str],
    metrics: Sequence[str],
    by: By,
    whose: Whose = player_alone,
) -> Scores:
    """The values of both players, by where and by what."""
    if isinstance(source, Seen):
        return _from_table(source, players, metrics, by, whose)
    return _from_episodes(source, players, metrics, by, whose)


def _refuse_unknown(players: Iterable[str], sat: Collection[str]) -> None:
    for name in players:
        if name not in sat:
            raise unknown("player in this store", name, sat)


# --- from episodes --------------------------------------------------------------------------------


def _from_episodes(
    episodes: Iterable[Episode],
    players: tuple[str, str],
    metrics: Sequence[str],
    by: By,
    whose: Whose,
) -> Scores:
    found: Scores = {}
    sat: set[str] = set()
    for episode in episodes:
        names = {seat: whose(who) for seat, who in episode.setup.lineup.items()}
        here = {name for name, _ in names.values()}
        sat |= here
        if not set(players) & here:
            continue
        whole = played(episode)
        for seat in whole.replay.game.seats:
            if names[seat][0] in players:
                _add(found, whole, seat, names[seat], metrics, by)
    _refuse_unknown(players, sat)
    return found


def _add(
    found: Scores,
    whole: Played,
    seat: Seat,
    named: tuple[str, str],
    metrics: Sequence[str],
    by: By,
) -> None:
    setup = whole.episode.setup
    others = ", ".join(label(setup.lineup[s]) for s in whole.replay.game.seats if s != seat)
    player, way = named
    where = {"game": "", "cell": whole.episode.cell, "others": others, "strategy": way}[by]
    fitting = registry.metrics(whole.spec.family or whole.spec.name)
    for metric in (fitting[name] for name in measures(whole.spec, seat, metrics)):
        value = metric.measure(whole, seat)
        if value is not None:
            group = Group(setup.instance.game, seat, where, metric.name)
            met = (setting(setup, seat), setup.instance.id, others)
            score = Score(*met, float(value), person_of(setup, seat), setup.repeat, way)
            found.setdefault(group, {}).setdefault(player, []).append(score)


def measures(spec: GameSpec[Any, Any, Any], seat: str, metrics: Sequence[str]) -> list[str]:
    """The metrics that are asked for and fit; else what was known and what was done."""
    if not metrics:
        return [*KNOWING, doing_metric(spec, seat).name]
    fitting = registry.metrics(spec.family or spec.name)
    return [name for name in metrics if name in fitting]


# --- from the index of a store --------------------------------------------------------------------


def _from_table(
    seen: Seen, players: tuple[str, str], metrics: Sequence[str], by: By, whose: Whose
) -> Scores:
    named = [whose(kind.lineup[kind.seat]) for kind in seen.kinds]
    _refuse_unknown(players, {whose(who)[0] for k in seen.kinds for who in k.lineup.values()})
    mine = {n: kind for n, kind in enumerate(seen.kinds) if named[n][0] in players}
    wanted = {n: measures(registry.game(k.game), k.seat, metrics) for n, k in mine.items()}
    every = list(dict.fromkeys(name for names in wanted.values() for name in names))
    table = seats_in(seen.where, every, seeds=True)
    number = {msgspec.msgpack.encode(kind): n for n, kind in enumerate(seen.kinds)}
    kinds = [number.get(msgspec.msgpack.encode(kind), -1) for kind in table.whole]
    others = {row["at"]: row["others"] for row in table.kinds}
    instances = [Instance(id, *msgspec.json.decode(asked)) for _, id, asked in table.problems]
    found: Scores = {}
    for row, at in enumerate(table.kind.tolist()):
        if (n := kinds[at]) not in mine:
            continue
        kind, (player, way) = mine[n], named[n]
        where = {"game": "", "cell": kind.cell, "others": others[at], "strategy": way}[by]
        instance = instances[table.problem[row]]
        for metric, score in _scored(table, row, wanted[n], kind, instance, others[at], way):
            group = Group(kind.game, kind.seat, where, metric)
            found.setdefault(group, {}).setdefault(player, []).append(score)
    return found


def _scored(
    table: Seats,
    row: int,
    metrics: Sequence[str],
    kind: Kind,
    instance: Instance,
    others: str,
    way: str,
) -> Iterator[tuple[str, Score]]:
    """What one row says by each metric that has a value."""
    values = ((name, float(table.values[name][row])) for name in metrics)
    there = [(name, value) for name, value in values if not isnan(value)]
    if there:
        repeat = int(table.repeat[row])
        setup = Setup(instance, table.seed[row], kind.lineup, repeat=repeat)
        met, person = setting(setup, kind.seat), person_of(setup, kind.seat)
        for name, value in there:
            yield name, Score(met, instance.id, others, value, person, repeat, way)
