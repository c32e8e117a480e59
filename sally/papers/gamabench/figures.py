"""Figures of GAMA-Bench's games: the leaderboard's score, the numbers chosen in the first round,
gains in hindsight (doing), and contributions.

A game is a cluster, because the ten seats of one run are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median

import msgspec

from sally.games.level_k.depths import depth_of
from sally.games.level_k.payoffs import Contest
from sally.games.level_k.rules import LevelGame
from sally.papers.gamabench.reader import GOODS, GUESSING, RecordedTable
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate

ROUNDS = (1, 2, 5, 10, 20)  # in which hindsight is computed


class Guessing(msgspec.Struct, frozen=True):
    """The results of one model in the guessing game."""

    model: str
    tables: int
    score: float  # the leaderboard's: 100 less the mean number
    first_mean: float
    first_median: float
    depths: dict[str, int]  # of the first numbers
    means: dict[int, float]  # by round
    doing: Estimate  # in hindsight: 0 even odds over all numbers, 1 the best of them


class Goods(msgspec.Struct, frozen=True):
    """The results of one model in the public goods game, as shares of the endowment."""

    model: str
    tables: int
    given: float
    by_round: dict[int, float]


def runs(tables: Sequence[RecordedTable], game: str) -> dict[str, list[RecordedTable]]:
    """Return the recorded games behind the leaderboard, by model."""
    tables_by_model: dict[str, list[RecordedTable]] = {}
    for table in tables:
        if table.game == game and table.run is not None:
            tables_by_model.setdefault(table.model, []).append(table)
    return dict(sorted(tables_by_model.items()))


def hindsight(table: RecordedTable) -> tuple[float, float]:
    """Return how much more the numbers chosen in a game gained than random numbers would have, and
    how much more the best numbers in hindsight would have gained."""
    pays = Contest(len(table.seats), table.low, table.high, table.share, 1.0)
    gained = best_gains = 0.0
    for number in ROUNDS:
        if number > len(table.choices):
            continue
        choices = table.choices[number - 1]
        for seat, own_choice in enumerate(choices):
            won = [
                pays.pay((*choices[:seat], alternative, *choices[seat + 1 :]))[seat]
                for alternative in range(table.low, table.high + 1)
            ]
            even = sum(won) / len(won)
            gained += won[own_choice - table.low] - even
            best_gains += max(won) - even
    return gained, best_gains


def guessing(model: str, tables: Sequence[RecordedTable]) -> Guessing:
    """Return the results of one model in the guessing game."""
    first = [number for table in tables for number in table.choices[0]]
    depths: dict[str, int] = {}
    for table in tables:
        pays = Contest(len(table.seats), table.low, table.high, table.share)
        game = LevelGame(pays=pays, rounds=len(table.choices))
        for number in table.choices[0]:
            depth = depth_of(game, number)
            name = "none" if depth is None else str(depth)
            depths[name] = depths.get(name, 0) + 1
    pairs = [hindsight(table) for table in tables]
    by_round = {
        n: mean(x for t in tables if n <= len(t.choices) for x in t.choices[n - 1])
        for n in ROUNDS[1:]
        if any(n <= len(t.choices) for t in tables)
    }
    table_means = [mean(x for choices in table.choices for x in choices) for table in tables]
    return Guessing(
        model,
        len(tables),
        100 - mean(table_means),
        mean(first),
        median(first),
        dict(sorted(depths.items())),
        by_round,
        ratio_by_rule([a for a, _ in pairs], [b for _, b in pairs], list(range(len(pairs)))),
    )


def goods(model: str, tables: Sequence[RecordedTable]) -> Goods:
    """Return the results of one model in the public goods game."""
    by_round = {
        n: mean(x / t.high for t in tables if n <= len(t.choices) for x in t.choices[n - 1])
        for n in (1, 10, 20)
        if any(n <= len(t.choices) for t in tables)
    }
    mean_share = mean(x / t.high for t in tables for choices in t.choices for x in choices)
    return Goods(model, len(tables), mean_share, by_round)


def summary(tables: Sequence[RecordedTable]) -> tuple[list[Guessing], list[Goods]]:
    """Return the results of every model with leaderboard runs."""
    return (
        [guessing(model, of) for model, of in runs(tables, GUESSING).items()],
        [goods(model, of) for model, of in runs(tables, GOODS).items()],
    )
