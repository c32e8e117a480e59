"""Cross-play: mean payoffs of every player against every other, in two-player games."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
import polars as pl

from sally.analysis.score import bounds_of, problems_of
from sally.core.errors import BadInput, unknown
from sally.frames.clusters import FIELDS, clusters_of
from sally.frames.frame import Frame
from sally.stats.cluster_interval import mean_by_rule


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
Pairings = Mapping[Players, Pairing]


def crossplay(frame: Frame, game: str = "") -> dict[str, dict[Players, Pairing]]:
    """Return the mean payoffs of each pair of players, by game; censored episodes are left out.

    Args:
        frame: The episodes.
        game: Only this game.

    Raises:
        BadInput: If no episode is of this game, or a game has more than two seats.
    """
    if game and game not in frame.episodes["game"].unique():
        games = frame.episodes["game"].unique().drop_nulls().to_list()
        raise unknown("game", game, games)
    seats = frame.seats("number", "game", "seat", "player", "others", "setup", "payoff", *FIELDS)
    numbers = seats["number"].to_numpy()
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))  # rows of the first seats
    seat_counts = np.diff(np.append(starts, seats.height))
    seats = seats.drop("number")
    first = seats[starts].with_columns(pl.Series("seats", seat_counts))
    first = first.filter((pl.col("seats") > 1) & (pl.lit(not game) | (pl.col("game") == game)))
    paid = first.filter(pl.col("payoff").is_not_null())
    if (large := paid.filter(pl.col("seats") > 2)).height:
        raise BadInput(
            f"{large['game'][0]} has {large['seats'][0]} seats, not two; name a game of two."
        )
    rows = starts[seat_counts == 2]
    pairs = pl.concat(
        [
            seats[rows],
            seats[rows + 1].select(pl.col("payoff", "seat", "person").name.prefix("second_")),
        ],
        how="horizontal",
    )
    pairs = pairs.filter(
        pl.col("payoff").is_not_null() & (pl.lit(not game) | (pl.col("game") == game))
    )
    tables: dict[str, dict[Players, Pairing]] = {
        name: {} for name in first["game"].unique(maintain_order=True)
    }
    groups = pairs.partition_by("game", "player", "others", as_dict=True, maintain_order=True)
    for (name, player, partner), group in groups.items():
        tables[name][player, partner] = _pairing(group)
    return tables


def _pairing(rows: pl.DataFrame) -> Pairing:
    second = rows.with_columns(seat=pl.col("second_seat"))
    people = rows.with_columns(pl.coalesce("person", "second_person").alias("person"))
    clusters = clusters_of(people)[0]
    first_pay, second_pay = (
        mean_by_rule(side[field].to_numpy(), clusters, bounds_of("payoff", problems_of(side)))
        for side, field in ((rows, "payoff"), (second, "second_payoff"))
    )
    is_paid = (rows["payoff"] > 0) & (rows["second_payoff"] > 0)
    # there is at least one episode
    assert first_pay.value is not None and second_pay.value is not None
    estimates = (first_pay.value, first_pay.interval, second_pay.value, second_pay.interval)
    return Pairing(rows.height, *estimates, float(is_paid.to_numpy().mean()), first_pay.method)


def sides(table: Pairings) -> tuple[list[str], list[str]]:
    """Return the players of each seat, best first by their mean over all opponents."""
    first, second = dict[str, list[float]](), dict[str, list[float]]()
    for (first_player, second_player), pairing in table.items():
        first.setdefault(first_player, []).append(pairing.first)
        second.setdefault(second_player, []).append(pairing.second)

    def best_first(paid: dict[str, list[float]]) -> list[str]:
        return sorted(paid, key=lambda name: (-sum(paid[name]) / len(paid[name]), name))

    return best_first(first), best_first(second)
