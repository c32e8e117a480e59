"""Reliability and validity of scores over the players of some stores.

A player is one row of the tables; each person counts as one player. For knowing, the score of an
episode is the share of right answers to one probe; for doing, it is the score in the unit of the
game, in which forfeited moves count as the rules prescribe. A problem is everything that a seat
met: instance, seed, other players.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally.analysis.score import matches, require_known
from sally.core.log.events import label
from sally.frames.frame import Frame
from sally.frames.measured_seat import person_of
from sally.frames.profiles import SeatSums
from sally.stats.intervals import Estimate, without_interval
from sally.stats.reliability import (
    components,
    consistency,
    correlation,
    pearson,
    scores_needed,
    split_half,
)

Floats = NDArray[np.float64]
KNOWING, DOING = "knowing", "doing"
SEED, RESAMPLES = 1, 400
FEW_PLAYERS = 5  # fewer are not resampled


SCORE = pl.Schema(
    {  # columns of a score of one seat in one episode
        "game": pl.String(),
        "trait": pl.String(),  # knowing or doing
        "method": pl.String(),  # the probe or the metric
        "player": pl.String(),
        "problem": pl.Binary(),  # hash of instance, seed and other players
        "seedless_problem": pl.String(),  # the same on another occasion
        "repeat": pl.Int64(),
        "value": pl.Float64(),
    }
)


class Reliability(msgspec.Struct, frozen=True):
    """The reliability of one measure in one game, over the players of a store."""

    game: str
    trait: str
    method: str
    players: int
    problems: int
    split_half: float | None
    consistency: Estimate  # the mean of all split halves
    retest: Estimate  # even against odd repeats of the same problems
    single: float | None  # of one episode
    error: float | None  # standard error of measurement of a player's mean
    episodes: int | None  # needed for the target reliability
    why: str = ""  # why there is no figure


def scores_of(frame: Frame) -> pl.DataFrame:
    """Return every score of the studied seats, with the columns of `SCORE`; of all seats where none
    is studied."""
    sums = SeatSums(frame.profiles())
    kinds = pl.DataFrame(
        [
            (
                kind.game,
                kind.metric,
                person_of(kind.setup, kind.seat) or label(kind.player_spec),
                kind.alike,
            )
            for kind in sums.shared
        ],
        dict.fromkeys(("game", "metric", "player", "seedless_problem"), pl.String),
        orient="row",
    )
    rows = kinds[sums.kind].with_columns(
        problem=sums.rows["setting"],
        repeat=sums.rows["repeat"],
        value=sums.rows["least"],
        row=np.arange(len(sums)),
    )
    doing = rows.filter(pl.col("value").is_not_null()).with_columns(
        trait=pl.lit(DOING), method="metric"
    )
    knowing = rows.join(sums.probe_counts(), on="row").with_columns(
        trait=pl.lit(KNOWING), method="probe", value=pl.col("right") / pl.col("answers")
    )
    return pl.concat([part.select(*SCORE).cast(SCORE) for part in (doing, knowing)])


def select(scores: pl.DataFrame, games: Sequence[str], players: Sequence[str]) -> pl.DataFrame:
    """Return the scores of some games and players; without names, all.

    Raises:
        BadInput: If a name or pattern matches no game or player.
    """
    for column, patterns in (("game", games), ("player", players)):
        names = scores[column].unique().to_list()
        require_known(f"{column} in these stores", patterns, names)
        if patterns:
            fitting = [name for name in names if any(matches(p, name) for p in patterns)]
            scores = scores.filter(pl.col(column).is_in(fitting))
    return scores


Key = tuple[str, str, str]  # game, trait, method


def by_measure(scores: pl.DataFrame) -> dict[Key, pl.DataFrame]:
    """Return scores by game, trait and method."""
    parts = scores.partition_by("game", "trait", "method", as_dict=True)
    return {
        (game, trait, method): parts[game, trait, method] for game, trait, method in sorted(parts)
    }


def reliability(scores: pl.DataFrame, target: float = 0.8) -> list[Reliability]:
    """Return the reliability of every measure, and the episodes needed to reach `target`."""
    return [
        _reliability_of(key, measure_scores, target)
        for key, measure_scores in by_measure(scores).items()
    ]


def _reliability_of(key: Key, scores: pl.DataFrame, target: float) -> Reliability:
    table, players, problems = tabulate(scores)
    retest = _retest(scores)
    if table is None:
        n = scores["player"].n_unique()
        none = without_interval(None, n, "F", "no table")
        reason = "fewer than two players met the same two problems"
        return Reliability(*key, n, 0, None, none, retest, None, None, None, reason)
    variances, internal_consistency = components(table), consistency(table)
    halves = split_half(table, seed=SEED) if len(players) > 2 else None
    reason = "the players do not differ" if variances.ratio is None else ""
    return Reliability(
        *key,
        len(players),
        problems,
        halves,
        internal_consistency,
        retest,
        variances.single if variances.ratio is not None else None,
        variances.error,
        scores_needed(variances.single, target) if variances.ratio is not None else None,
        reason,
    )


def tabulate(scores: pl.DataFrame) -> tuple[Floats | None, list[str], int]:
    """Return the mean scores of players (rows) on the problems (columns) that all of them met, the
    players, and the number of these problems."""
    cells = scores.group_by("player", "problem").agg(pl.col("value").mean())
    players = _with_common_problems(cells)
    cells = cells.filter(pl.col("player").is_in(players))
    met_by_all = cells.group_by("problem").len().filter(pl.col("len") == len(players))
    cells = cells.join(met_by_all, on="problem", how="semi").sort("player", "problem")
    if len(players) < 2 or met_by_all.height < 2:
        return None, players, met_by_all.height
    table = cells["value"].to_numpy().reshape(len(players), met_by_all.height)
    return table, players, met_by_all.height


def _with_common_problems(cells: pl.DataFrame) -> list[str]:
    """Return players who all met a common set of problems, in alphabetical order.

    The set is that of one player, chosen so that as many players as possible met all of it.
    """
    coded = cells.with_columns(pl.col("problem").rank("dense")).sort("player")
    by_player = {
        player: frozenset(problems)
        for player, problems in coded.group_by("player", maintain_order=True)
        .agg("problem")
        .iter_rows()
    }
    if not by_player:
        return []
    counts = Counter(by_player.values())
    common = max(
        counts,  # in order of the first player
        key=lambda problems: (
            sum(count for rival, count in counts.items() if problems <= rival),
            len(problems),
        ),
    )
    return [player for player, problems in by_player.items() if common <= problems]


def _retest(scores: pl.DataFrame) -> Estimate:
    """Return the correlation of players' means over even and odd repeats of the same problems."""
    even, odd = (scores.filter(pl.col("repeat") % 2 == parity) for parity in (0, 1))
    same = ["player", "seedless_problem"]
    means = [
        player_means(half.join(other, on=same, how="semi"))
        for half, other in ((even, odd), (odd, even))
    ]
    players = sorted(means[0])
    return correlation([means[0][p] for p in players], [means[1][p] for p in players])


def player_means(scores: pl.DataFrame) -> dict[str, float]:
    """Return the mean score of each player."""
    return dict(scores.group_by("player").agg(pl.col("value").mean()).iter_rows())


# --- convergent and discriminant validity ---------------------------------------------------------


class MeasureCorrelation(msgspec.Struct, frozen=True):
    """The correlation of two measures over the players who have both."""

    first: Key
    second: Key
    correlation: Estimate

    @property
    def kind(self) -> str:
        """How the two measures are related: whether they share the trait, and whether they share
        the game."""
        same_trait, same_game = self.first[1] == self.second[1], self.first[0] == self.second[0]
        if same_trait:
            return SAME_TRAIT_PROBES if same_game else SAME_TRAIT
        return OTHER_TRAIT_HERE if same_game else OTHER_TRAIT


SAME_TRAIT = "same trait, other game"
SAME_TRAIT_PROBES = "same trait, same game, other probe"
OTHER_TRAIT_HERE = "other trait, same game"
OTHER_TRAIT = "other trait, other game"
KINDS = (SAME_TRAIT_PROBES, SAME_TRAIT, OTHER_TRAIT_HERE, OTHER_TRAIT)


class Matrix(msgspec.Struct, frozen=True):
    """The multitrait-multimethod matrix (Campbell and Fiske 1959)."""

    measures: tuple[Key, ...]
    reliabilities: tuple[float | None, ...]
    pairs: tuple[MeasureCorrelation, ...]
    means: dict[str, Estimate]  # by kind of pair; intervals over players
    players: int


def matrix(scores: pl.DataFrame) -> Matrix:
    """Return the correlations of every measure with every other, over the players of the stores."""
    measures = by_measure(scores)
    means = {key: player_means(measure_scores) for key, measure_scores in measures.items()}
    pairs = [
        MeasureCorrelation(first, second, _correlate(means[first], means[second]))
        for first, second in combinations(measures, 2)
    ]
    players = sorted({player for by_player in means.values() for player in by_player})
    consistencies = [
        _reliability_of(key, measure_scores, 0.8).consistency.value
        for key, measure_scores in measures.items()
    ]
    kinds = {kind: _mean_of(kind, pairs, means, players) for kind in KINDS}
    return Matrix(tuple(measures), tuple(consistencies), tuple(pairs), kinds, len(players))


def _correlate(first: dict[str, float], second: dict[str, float]) -> Estimate:
    players = sorted(set(first) & set(second))
    return correlation(
        [first[player] for player in players], [second[player] for player in players]
    )


def _mean_of(
    kind: str,
    pairs: Sequence[MeasureCorrelation],
    means: dict[Key, dict[str, float]],
    players: list[str],
) -> Estimate:
    """Return the mean correlation over all pairs of one kind, with an interval from resampled
    players."""
    measure_pairs = [
        (p.first, p.second) for p in pairs if p.kind == kind and p.correlation.value is not None
    ]
    columns = {
        key: np.array([by_player.get(w, np.nan) for w in players])
        for key, by_player in means.items()
    }
    sides = [(columns[first], columns[second]) for first, second in measure_pairs]
    everyone = np.arange(len(players))
    value = _mean_r(sides, everyone)
    method = f"bootstrap over {len(players)} players"
    if value is None or len(players) < FEW_PLAYERS:
        return without_interval(value, len(measure_pairs), method, "too few players")
    rng = np.random.default_rng(SEED)
    resampled = [_mean_r(sides, rng.choice(everyone, len(players))) for _ in range(RESAMPLES)]
    resampled_known = [r for r in resampled if r is not None]
    if len(resampled_known) <= RESAMPLES // 2:
        return without_interval(value, len(measure_pairs), method, "too few players")
    low, high = (float(q) for q in np.quantile(resampled_known, [0.025, 0.975]))
    return Estimate(value, min(low, value), max(high, value), len(measure_pairs), method)


def _mean_r(sides: Sequence[tuple[Floats, Floats]], players: NDArray[np.intp]) -> float | None:
    """Return the mean correlation of some pairs of measures over these players."""
    correlations = []
    for first, second in sides:
        a, b = first[players], second[players]
        is_known = ~(np.isnan(a) | np.isnan(b))
        r = pearson(a[is_known], b[is_known])
        if r is not None:
            correlations.append(r)
    return sum(correlations) / len(correlations) if correlations else None
