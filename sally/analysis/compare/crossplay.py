"""Cross-play: mean payoffs of every player against every other, in two-player games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from sally.analysis.columns.rows import Row, mean_of
from sally.analysis.columns.seat_table import Codes, SeatTable, again_of
from sally.analysis.profile.bounds import enclosing, game_bounds, instance_bounds
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, label
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.stats.cluster_interval import Bounds, coarsest, mean_by_rule


class Pairing(msgspec.Struct, frozen=True):
    """The mean payoffs of two players over the episodes in which they met."""

    episodes: int
    first: float  # the mean payoff of the first seat
    first_interval: list[float] | None
    second: float
    second_interval: list[float] | None
    both: float  # the share of episodes in which both were paid
    method: str = ""  # of both intervals, or why there are none


Players = tuple[str, str]  # in the first seat, in the second seat


def crossplay(episodes: Iterable[Episode]) -> dict[tuple[str, str], Pairing]:
    """Return mean payoffs for each pair of players; censored episodes are left out.

    Raises:
        BadInput: If an episode does not have two seats.
    """
    paid: dict[Players, list[Row]] = {}
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


def stored_crossplay(table: SeatTable, game: str | None) -> dict[str, dict[Players, Pairing]]:
    """Return the pairings of one game, or of every game if `game` is None, from a store's seat
    table."""
    rows = np.argsort(table.kind, kind="stable")
    ends = np.searchsorted(table.kind[rows], np.arange(len(table.whole) + 1))
    games: dict[str, dict[Players, list[Codes]]] = {}
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


def _paired(table: SeatTable, rows: Codes) -> Pairing:
    """Return the mean payoffs of both seats.

    `rows` are the rows of the first seat; the next row of the table is that of the second seat.
    """
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
            paid[rows + n],
            clusters,
            enclosing(instance_bounds("payoff", each, seat) for each in asked),
        )
        for n, seat in enumerate(kind.seats)
    )
    both = float(np.mean((paid[rows] > 0) & (paid[rows + 1] > 0)))
    assert one.value is not None and two.value is not None  # there is at least one episode
    return Pairing(rows.size, one.value, one.interval, two.value, two.interval, both, one.method)


def _pairing(found: Sequence[Row]) -> Pairing:
    first, second = (mean_of(found, seat) for seat in ("first", "second"))
    both = sum(row["first"] > 0 and row["second"] > 0 for row in found) / len(found)
    assert first.value is not None and second.value is not None  # there is at least one episode
    return Pairing(
        len(found),
        first.value,
        first.interval,
        second.value,
        second.interval,
        both,
        first.method,
    )


def _ends(instance: Instance, seat: str) -> Bounds | None:
    """Return the bounds of a seat's payoff in an instance, or None if its game declares none."""
    spec = registry.game(instance.game)
    if spec.measured.pays is None:
        return None
    return game_bounds("payoff", spec, spec.build(instance.params), Seat(seat))


Pairings = Mapping[Players, Pairing]


def sides(table: Pairings) -> tuple[list[str], list[str]]:
    """Return the players of each seat, best first by their mean over all opponents."""
    first, second = dict[str, list[float]](), dict[str, list[float]]()
    for (one, two), met in table.items():
        first.setdefault(one, []).append(met.first)
        second.setdefault(two, []).append(met.second)

    def best_first(paid: dict[str, list[float]]) -> list[str]:
        return sorted(paid, key=lambda name: (-sum(paid[name]) / len(paid[name]), name))

    return best_first(first), best_first(second)
