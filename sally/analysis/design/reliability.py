"""Reliability and validity of scores over the players of some stores.

A player is one row of the tables; each person counts as one player. For knowing, the score of an
episode is the share of right answers to one probe; for doing, it is the score in the unit of the
game, in which forfeited moves count as the rules prescribe. A problem is everything that a seat
met: instance, seed, other players.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.analysis.score import matches, require_known
from sally.core.grouping import group_by
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


class Score(msgspec.Struct, frozen=True):
    """One score of one seat in one episode."""

    game: str
    trait: str  # knowing or doing
    method: str  # the probe or the metric
    player: str
    problem: str  # instance, seed and other players
    seedless_problem: str  # the problem without its seed: the same on another occasion
    repeat: int
    value: float


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


def scores_of(frame: Frame) -> Iterator[Score]:
    """Yield every score of the studied seats; of all seats where none is studied."""
    sums = SeatSums(frame.profiles())
    for kind, row in sums.rows_with_kinds("setting", "least", "probes", "repeat"):
        player = person_of(kind.setup, kind.seat) or label(kind.player_spec)
        problem = (player, row["setting"].hex(), kind.alike, row["repeat"])
        if row["least"] is not None:
            yield Score(kind.game, DOING, kind.metric, *problem, row["least"])
        for probe, (right, n) in probes_of(row["probes"]).items():
            yield Score(kind.game, KNOWING, probe, *problem, right / n)


def select(scores: list[Score], games: Sequence[str], players: Sequence[str]) -> list[Score]:
    """Return the scores of some games and players; without names, all.

    Raises:
        BadInput: If a name or pattern matches no game or player.
    """
    require_known("game in these stores", games, {score.game for score in scores})
    require_known("player in these stores", players, {score.player for score in scores})
    return [
        score
        for score in scores
        if (not games or any(matches(name, score.game) for name in games))
        and (not players or any(matches(name, score.player) for name in players))
    ]


def probes_of(text: str) -> dict[str, tuple[float, int]]:
    """Return the right answers and the answers of each probe about a mind."""
    return _PROBES.decode(text) if text else {}


_PROBES = msgspec.json.Decoder(dict[str, tuple[float, int]])


Key = tuple[str, str, str]  # game, trait, method


def by_measure(scores: Iterable[Score]) -> dict[Key, list[Score]]:
    """Return scores by game, trait and method."""
    return dict(sorted(group_by(scores, lambda s: (s.game, s.trait, s.method)).items()))


def reliability(scores: Iterable[Score], target: float = 0.8) -> list[Reliability]:
    """Return the reliability of every measure, and the episodes needed to reach `target`."""
    return [
        _reliability_of(key, measure_scores, target)
        for key, measure_scores in by_measure(scores).items()
    ]


def _reliability_of(key: Key, scores: Sequence[Score], target: float) -> Reliability:
    table, players, problems = tabulate(scores, lambda s: s.problem)
    retest = _retest(scores)
    if table is None:
        n = len({s.player for s in scores})
        none = without_interval(None, n, "F", "no table")
        reason = "fewer than two players met the same two problems"
        return Reliability(*key, n, 0, None, none, retest, None, None, None, reason)
    variances, internal_consistency = components(table), consistency(table)
    halves = split_half(table, seed=SEED) if len(players) > 2 else None
    reason = "the players do not differ" if variances.ratio is None else ""
    return Reliability(
        *key,
        len(players),
        len(problems),
        halves,
        internal_consistency,
        retest,
        variances.single if variances.ratio is not None else None,
        variances.error,
        scores_needed(variances.single, target) if variances.ratio is not None else None,
        reason,
    )


Grid = list[list[float]]  # players by problems


def tabulate(
    scores: Sequence[Score], column: Callable[[Score], str]
) -> tuple[Grid | None, list[str], list[str]]:
    """Return the mean scores of players (rows) on the problems (columns) that all of them met."""
    cells: dict[tuple[str, str], list[float]] = {}
    for score in scores:
        cells.setdefault((score.player, column(score)), []).append(score.value)
    players = _with_common_problems(cells)
    met_problems = {problem for _, problem in cells}
    problems = sorted(p for p in met_problems if all((player, p) in cells for player in players))
    if len(players) < 2 or len(problems) < 2:
        return None, players, problems
    means = {cell: sum(values) / len(values) for cell, values in cells.items()}
    return [[means[player, p] for p in problems] for player in players], players, problems


def _with_common_problems(cells: Iterable[tuple[str, str]]) -> list[str]:
    """Return players who all met a common set of problems.

    The set is that of one player, chosen so that as many players as possible met all of it.
    """
    by_player: dict[str, set[str]] = {}
    for player, problem in sorted(cells):
        by_player.setdefault(player, set()).add(problem)
    if not by_player:
        return []
    common = max(
        by_player.values(),
        key=lambda problems: (
            sum(problems <= rival for rival in by_player.values()),
            len(problems),
        ),
    )
    return [player for player, problems in by_player.items() if common <= problems]


def _retest(scores: Sequence[Score]) -> Estimate:
    """Return the correlation of players' means over even and odd repeats of the same problems."""
    halves = [[s for s in scores if s.repeat % 2 == odd] for odd in (0, 1)]
    repeated = {(s.player, s.seedless_problem) for s in halves[0]} & {
        (s.player, s.seedless_problem) for s in halves[1]
    }
    means = []
    for half in halves:
        shared = [s for s in half if (s.player, s.seedless_problem) in repeated]
        means.append(player_means(shared))
    players = sorted(set(means[0]) & set(means[1]))
    return correlation([means[0][p] for p in players], [means[1][p] for p in players])


def player_means(scores: Iterable[Score]) -> dict[str, float]:
    """Return the mean score of each player."""
    by_player: dict[str, list[float]] = {}
    for score in scores:
        by_player.setdefault(score.player, []).append(score.value)
    return {player: sum(values) / len(values) for player, values in by_player.items()}


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


def matrix(scores: Iterable[Score]) -> Matrix:
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
