"""Cross-play: mean scores of every player against every other, in games for two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from sally.analysis.columns.rows import Row, mean_of
from sally.analysis.columns.seat_table import Codes, Seats, again_of
from sally.analysis.profile.bounds import ends_in, instance_ends, widest
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, label
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.stats.cluster_interval import Bounds, coarsest, mean_by_rule


class Pairing(msgspec.Struct, frozen=True):
    """What two players scored over the episodes in which they met."""

    episodes: int
    first: float  # the mean payoff of the first seat
    first_interval: list[float] | None
    second: float
    second_interval: list[float] | None
    both: float  # the share of episodes in which both were paid


Met = tuple[str, str]  # who sat first, and who second


def crossplay(episodes: Iterable[Episode]) -> dict[tuple[str, str], Pairing]:
    """Mean payoffs for each pair (first seat, second seat); censored episodes are left out."""
    paid: dict[tuple[str, str], list[Row]] = {}
    for episode in episodes:
        if episode.payoffs is None:
            continue
        if len(episode.payoffs) != 2:
            raise BadInput(f"Episode {episode.id} has {len(episode.payoffs)} seats, not two.")
        (one, first), (two, second) = episode.payoffs.items()
        lineup = episode.setup.lineup
        row: Row = {
            "instance": episode.setup.instance.id,
            "repeat": episode.setup.repeat,
            "first": first,
            "second": second,
            "ends": {
                "first": _ends(episode.setup.instance, one),
                "second": _ends(episode.setup.instance, two),
            },
        }
        paid.setdefault((label(lineup[one]), label(lineup[two])), []).append(row)
    return {pair: _pairing(found) for pair, found in paid.items()}


def stored_crossplay(table: Seats, game: str | None) -> dict[str, dict[Met, Pairing]]:
    """The same for one game of a store or each, by its table of seats with their payoffs."""
    rows = np.argsort(table.kind, kind="stable")
    ends = np.searchsorted(table.kind[rows], np.arange(len(table.whole) + 1))
    games: dict[str, dict[Met, list[Codes]]] = {}
    for said in table.kinds:
        at, kind = said["at"], table.whole[said["at"]]
        if game in (None, kind.game) and kind.seat == kind.seats[0] and len(kind.seats) > 1:
            mine = rows[ends[at] : ends[at + 1]]
            paid = mine[~np.isnan(table.values["payoff"][mine])]
            met = games.setdefault(kind.game, {})
            if paid.size and len(kind.seats) != 2:
                raise BadInput(f"{kind.game} has {len(kind.seats)} seats, not two.")
            if paid.size:
                met.setdefault((said["player"], said["others"]), []).append(paid)
    return {
        name: {pair: _paired(table, np.concatenate(some)) for pair, some in met.items()}
        for name, met in games.items()
    }


def _paired(table: Seats, rows: Codes) -> Pairing:
    """What two players scored, by the rows of the first seat; the second's are the next."""
    units: dict[str, Sequence[Any]] = {
        "instances": table.instance[rows].tolist(),
        "repeats of instances": again_of(table)[rows].tolist(),
        "episodes": range(rows.size),
    }
    clusters = units[coarsest(units)]
    kind, paid = table.whole[int(table.kind[rows[0]])], table.values["payoff"]
    asked = [table.problems[n][2] for n in np.unique(table.problem[rows])]
    one, two = (
        mean_by_rule(
            paid[rows + n], clusters, widest(instance_ends("payoff", each, seat) for each in asked)
        )
        for n, seat in enumerate(kind.seats)
    )
    both = float(np.mean((paid[rows] > 0) & (paid[rows + 1] > 0)))
    assert one.value is not None and two.value is not None  # there is at least one episode
    return Pairing(rows.size, one.value, one.interval, two.value, two.interval, both)


def _pairing(found: Sequence[Row]) -> Pairing:
    first, second = (mean_of(found, seat) for seat in ("first", "second"))
    both = sum(row["first"] > 0 and row["second"] > 0 for row in found) / len(found)
    assert first.value is not None and second.value is not None  # there is at least one episode
    return Pairing(len(found), first.value, first.interval, second.value, second.interval, both)


def _ends(instance: Instance, seat: str) -> Bounds | None:
    """The least and the most that an episode could pay a seat, if its game says so."""
    spec = registry.game(instance.game)
    if spec.pays is None:
        return None
    return ends_in("payoff", spec, spec.build(instance.params), Seat(seat))


Table = Mapping[tuple[str, str], Pairing]


def names_of(table: Table) -> list[str]:
    """Everybody in the table, in the order of appearance."""
    return list(dict.fromkeys([*(one for one, _ in table), *(two for _, two in table)]))


def sides(table: Table) -> tuple[list[str], list[str]]:
    """Who sat first and who sat second, each best first by the mean over those they met."""
    first, second = dict[str, list[float]](), dict[str, list[float]]()
    for (one, two), met in table.items():
        first.setdefault(one, []).append(met.first)
        second.setdefault(two, []).append(met.second)

    def best_first(paid: dict[str, list[float]]) -> list[str]:
        return sorted(paid, key=lambda name: (-sum(paid[name]) / len(paid[name]), name))

    return best_first(first), best_first(second)
