"""Is one player better than another, where, and how sure: differences on the same settings.

Two episodes are a pair when the seat met the same problem, chance and company in both. Intervals
come from resampling clusters of pairs, p values from flipping the signs of whole clusters, and
Holm's method bounds the chance of any false difference, and that of any false equivalence, in the
whole family of comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from sally.analysis.columns.measured import doing_metric
from sally.analysis.compare.scores import KNOWING, By, Group, Score, Scores, Source, scores_of
from sally.core.errors import BadInput, listed, unknown
from sally.core.registry import registry
from sally.core.rules.metric import Metric
from sally.stats import (
    Estimate,
    cohens_dz,
    holm,
    paired_difference_bootstrap,
    paired_equivalence,
    sign_flip_test,
)
from sally.stats.intervals import FEW, without_interval

ALPHA, SEED, RESAMPLES = 0.05, 1, 2000
SMALL = (
    0.2  # standard deviations: differences smaller than this count as none, unless one is stated
)

Verdict = Literal["better", "worse", "different", "equivalent", "undecided"]


class Comparison(msgspec.Struct, frozen=True):
    """One metric in one place: the first player less the second, over pairs."""

    game: str
    seat: str
    where: str  # the cell or the company, if these are kept apart
    metric: str
    better: str  # whether higher or lower is; empty where neither
    first: float  # means over the pairs
    second: float
    difference: Estimate
    p: float | None
    p_holm: float | None
    effect: float | None  # Cohen's dz: in standard deviations of the differences
    margin: float | None  # smaller differences count as none
    p_equivalent: float | None
    p_equivalent_holm: float | None
    verdict: Verdict
    pairs: int
    alone: tuple[int, int]  # episodes of either player that have no counterpart
    clusters: str
    units: int  # how many clusters there are
    company: int  # how many lineups of others are pooled in it
    alike: bool  # whether every pair gave the same difference


class Pair(msgspec.Struct, frozen=True):
    """What both players got in one setting."""

    instance: str
    repeat: int
    setting: str
    way: str
    person: str
    first: float
    second: float


def compare(
    episodes: Source,
    first: str,
    second: str,
    *,
    metrics: Sequence[str] = (),
    by: By = "game",
    margin: float | None = None,
    seed: int = SEED,
) -> list[Comparison]:
    """Every comparison of two players that the episodes allow, adjusted as one family."""
    check(first, second, metrics, margin)
    scores = scores_of(episodes, (first, second), metrics, by)
    return family(scores, first, second, margin, seed)


def check(first: str, second: str, metrics: Sequence[str], margin: float | None) -> None:
    """Refuse what no comparison can be made of, before the work."""
    if first == second:
        raise BadInput(f"{first!r} cannot be compared with itself; name two players.")
    if margin is not None and not margin > 0:
        raise BadInput(f"The margin must be above 0, not {margin}.")
    known = registry.entries("metrics")
    for name in metrics:
        if name not in known:
            raise unknown("metric", name, known)


def family(
    scores: Scores, first: str, second: str, margin: float | None, seed: int
) -> list[Comparison]:
    """Every comparison that the scores allow, adjusted together."""
    found = []
    for group, both in scores.items():
        made = _compared(group, both.get(first, []), both.get(second, []), margin, seed)
        if made is not None:
            found.append(made)
    if not found:
        raise BadInput(
            f"{first!r} and {second!r} never met the same setting (problem, chance and company), "
            "so there is no pair to compare; run them in one study."
        )
    return adjusted(found)


# --- one comparison -------------------------------------------------------------------------------


def _compared(
    group: Group, one: Sequence[Score], two: Sequence[Score], margin: float | None, seed: int
) -> Comparison | None:
    mine, theirs = _by_setting(one), _by_setting(two)
    shared = [key for key in mine if key in theirs]
    if not shared:
        return None
    pairs = [pair for key in shared for pair in _paired(mine[key], theirs[key])]
    a, b = np.array([pair.first for pair in pairs]), np.array([pair.second for pair in pairs])
    clusters, unit = _clusters(pairs)
    difference = paired_difference_bootstrap(
        a, b, clusters=clusters, seed=seed, resamples=RESAMPLES, method="expanded"
    )
    if len(set(clusters)) < FEW:
        difference = without_interval(difference.value, a.size, "bootstrap", f"fewer than {FEW}")
    wide = _margin(a, b) if margin is None else margin
    alike = _equivalent(a, b, clusters, wide)
    metric: Metric = registry.entries("metrics")[group.metric]
    return Comparison(
        **msgspec.structs.asdict(group),
        better=_better(metric, group),
        first=float(a.mean()),
        second=float(b.mean()),
        difference=difference,
        p=sign_flip_test(a - b, clusters=clusters, seed=seed).p,
        p_holm=None,
        effect=cohens_dz(a, b),
        margin=wide,
        p_equivalent=alike,
        p_equivalent_holm=None,
        verdict="undecided",
        pairs=len(pairs),
        alone=(len(mine) - len(shared), len(theirs) - len(shared)),
        clusters=unit,
        units=len(set(clusters)),
        company=len({s.others for key in shared for s in mine[key]}),
        alike=len(pairs) > 1 and bool(np.ptp(a - b) == 0),
    )


def _better(metric: Metric, group: Group) -> str:
    """Which way is better: more of what a seat wants, even if the metric itself takes no side."""
    spec = registry.game(group.game)
    wanted = doing_metric(spec, group.seat)
    return metric.better or ("higher" if metric.name == wanted.name else "")


def _paired(mine: Sequence[Score], theirs: Sequence[Score]) -> list[Pair]:
    """The pairs of one setting: one, or one for each person who met it."""
    people = dict.fromkeys(s.person for s in mine) if any(s.person for s in mine) else {}
    others = {} if people else dict.fromkeys(s.person for s in theirs)
    at = (mine[0].instance, mine[0].repeat, mine[0].setting, mine[0].way)
    return [
        *(Pair(*at, who, _mean(mine, who), _mean(theirs)) for who in people),
        *(Pair(*at, who, _mean(mine), _mean(theirs, who)) for who in others),
    ]


def _mean(scores: Sequence[Score], person: str | None = None) -> float:
    return _mean_of([s.value for s in scores if person in (None, s.person)])


def _mean_of(values: Sequence[float]) -> float:
    """Their mean; most often there is one."""
    return float(values[0] if len(values) == 1 else np.mean(values))


def _clusters(pairs: Sequence[Pair]) -> tuple[list[Hashable], str]:
    """The coarsest unit of which there are enough to resample: people first, then instances.

    Repeats come before pairs: whoever sits across, the chance of a repeat is the same.
    """
    units: dict[str, list[Hashable]] = {
        "participants": [pair.person for pair in pairs],
        "instances": [pair.instance for pair in pairs],
        "repeats of instances": [(pair.instance, pair.repeat) for pair in pairs],
    }
    for name, found in units.items():
        if all(found) and len(set(found)) >= FEW:
            return found, name
    if len({pair.way for pair in pairs}) > 1:  # the ways of asking in one setting hang together
        return [pair.setting for pair in pairs], "settings"
    return list(range(len(pairs))), "pairs"


def _by_setting(scores: Sequence[Score]) -> dict[tuple[str, str], list[Score]]:
    found: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        found.setdefault((score.setting, score.way), []).append(score)
    return found


Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def _margin(a: Floats, b: Floats) -> float | None:
    """A small part of the spread within players; None where nobody varies."""
    if a.size < 2:
        return None
    spread = float(np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))
    return SMALL * spread if spread > 0 else None


def _equivalent(
    a: Floats, b: Floats, clusters: Sequence[Hashable], margin: float | None
) -> float | None:
    """The p value of the two one-sided tests, over the means of clusters.

    Differences that do not vary would make it 0 from two pairs on: then nothing is claimed.
    """
    means: dict[Hashable, list[float]] = {}
    for away, cluster in zip(a - b, clusters, strict=True):
        means.setdefault(cluster, []).append(float(away))
    units = [_mean_of(away) for away in means.values()]
    if margin is None or np.ptp(units) == 0:
        return None
    return paired_equivalence(units, np.zeros(len(units)), (-margin, margin)).p


def adjusted(found: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p values adjusted over all of them, and their verdicts."""
    away, alike = _holm([c.p for c in found]), _holm([c.p_equivalent for c in found])
    return [_judged(c, *both) for c, *both in zip(found, away, alike, strict=True)]


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values in their places; what was not tested does not count."""
    known = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(known) for p in p_values]


def _judged(c: Comparison, p: float | None, p_alike: float | None) -> Comparison:
    gain = c.difference.value or 0.0
    verdict: Verdict = "undecided"
    if gain and p is not None and p < ALPHA:
        gained: Verdict = "better" if (gain > 0) == (c.better == "higher") else "worse"
        verdict = gained if c.better else "different"
    elif p_alike is not None and p_alike < ALPHA:
        verdict = "equivalent"
    return msgspec.structs.replace(c, p_holm=p, p_equivalent_holm=p_alike, verdict=verdict)


def clusters_needed(family: int) -> int:
    """With how many clusters the least p value that sign flips can give is a claim."""
    return math.floor(1 + math.log2(family / ALPHA)) + 1


# --- in words -------------------------------------------------------------------------------------


def conclusion(found: Sequence[Comparison], first: str, second: str) -> str:
    """What was done and what was known, in plain words; doing first."""
    parts: list[str] = []
    for (aspect, metric), mine in _aspects(found).items():
        said: list[str] = []
        for verdict, (whole, brief) in WORDS.items():
            places = dict.fromkeys(_place(c) for c in mine if c.verdict == verdict)
            words = brief if said else f"{first} is {whole} {second}"
            said += [f"{words} in {listed(places)}"] if places else []
        parts.append(f"{aspect} ({metric}): {', '.join(said)}.")
    return " ".join(parts)


WORDS: Mapping[Verdict, tuple[str, str]] = {  # with the other's name after it, and without
    "better": ("better than", "better"),
    "worse": ("worse than", "worse"),
    "different": ("different from", "different"),
    "equivalent": ("equivalent to", "equivalent"),
    "undecided": ("not told apart from", "not told apart"),
}


def _aspects(found: Sequence[Comparison]) -> Mapping[tuple[str, str], list[Comparison]]:
    aspects: dict[tuple[str, str], list[Comparison]] = {}
    for c in sorted(found, key=lambda c: c.metric in KNOWING):
        aspect = "Knowing" if c.metric in KNOWING else "Doing"
        aspects.setdefault((aspect, c.metric), []).append(c)
    return aspects


def _place(c: Comparison) -> str:
    return f"{c.game} ({c.where})" if c.where else c.game
