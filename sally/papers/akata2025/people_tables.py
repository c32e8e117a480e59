"""The figures of akata2025 that compare people by the label of their opponent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt

from sally.core.rules.metric import Played
from sally.output.tables.reproduce import Conditions
from sally.stats.bayes import bayes_factor
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate, without_interval
from sally.stats.paired import unpaired_difference

BASE, PROMPTED = "Base", "Prompted"
BOTH = "both"
Games = Sequence[tuple[Conditions, Played]]
Measure = Callable[[Played], float]


def _scores(played: Played) -> list[float]:
    """The scores as recorded, those that no cell pays included."""
    return [float(score) for score in played.episode.used["scores"]]


def _mean_score(played: Played) -> float:
    scores = _scores(played)
    return sum(scores) / len(scores)


def _share(*wanted: float) -> Measure:
    def share(played: Played) -> float:
        scores = _scores(played)
        return sum(score in wanted for score in scores) / len(scores)

    return share


def _guess(played: Played) -> float:
    return float(played.episode.used["guess"] == "Human")


MEASURES: Mapping[str, Measure] = {
    "score": _mean_score,
    "score_difference": _mean_score,
    "t": _mean_score,
    "bayes_factor": _mean_score,
    "guessed_human": _guess,
    "guess_bayes_factor": _guess,
    "success": _share(7.0, 10.0),
    "success_bayes_factor": _share(7.0, 10.0),
    "joint_defection": _share(5.0),
    "joint_defection_logit": _share(5.0),
    "joint_cooperation": _share(8.0),
}


def people_figure(row: Conditions, metric: str, games: Games) -> Estimate | None:
    """A figure over people: the mean of one label, or how the two labels differ."""
    if metric not in MEASURES:
        return None
    there = [played for facts, played in games if row["game"] in (BOTH, facts["game"])]
    base, prompted = (_by_person(there, label, MEASURES[metric]) for label in (BASE, PROMPTED))
    if min(len(base), len(prompted)) < 2:
        return None
    n = len(base) + len(prompted)
    if "label" in row:
        mine = base if row["label"] == BASE else prompted
        if metric == "joint_defection_logit":
            return without_interval(_logit(mine), len(mine), "logit", "it is a transform")
        return lone_by_rule(mine, None if MEASURES[metric] is _mean_score else (0, 1))
    if metric == "joint_defection_logit":
        gap = _logit(prompted) - _logit(base)
        return without_interval(gap, n, "difference of logits", "it is a transform")
    t, first, second = pooled_t(prompted, base), len(prompted), len(base)
    if metric == "t":
        return without_interval(t, n, "two-sample t", "a test's statistic is no estimate")
    if metric.endswith("bayes_factor"):
        found = bayes_factor(t, first, second)
        return without_interval(found, n, "JZS, one-sided", "a Bayes factor is no estimate")
    return unpaired_difference(prompted, base)


def _by_person(there: Sequence[Played], label: str, measure: Measure) -> list[float]:
    """A person's mean over its games with this label."""
    found: dict[str, list[float]] = {}
    for played in there:
        if played.episode.used["label"] == label:
            who = played.episode.setup.instance.id.rpartition(":")[0]
            found.setdefault(who, []).append(measure(played))
    return [sum(values) / len(values) for values in found.values()]


def pooled_t(one: Sequence[float], two: Sequence[float]) -> float:
    """The t of two groups that are taken to vary alike."""
    means = [sum(xs) / len(xs) for xs in (one, two)]
    squares = sum((x - m) ** 2 for xs, m in zip((one, two), means, strict=True) for x in xs)
    variance = squares / (len(one) + len(two) - 2)
    if not variance:
        return 0.0
    return (means[0] - means[1]) / sqrt(variance * (1 / len(one) + 1 / len(two)))


def _logit(shares: Sequence[float]) -> float:
    mean = sum(shares) / len(shares)
    return log(mean / (1 - mean))
