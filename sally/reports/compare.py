"""Is one player better than another, where, and how sure: differences on the same settings.

Two episodes are a pair when the seat met the same problem, chance and company in both. Intervals
come from resampling clusters of pairs, p values from flipping the signs of whole clusters, and
Holm's method bounds the chance of any false claim in the whole family of comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from sally.core import shelf
from sally.core.errors import BadInput, listed, unknown
from sally.core.game import Seat
from sally.core.log import Episode
from sally.core.metric import Metric, Played
from sally.metrics.measured import doing_metric, setting
from sally.reports.rows import label, played
from sally.stats import (
    Estimate,
    cohens_dz,
    holm,
    paired_difference_bootstrap,
    paired_equivalence,
    sign_flip_test,
)
from sally.stats.intervals import without_interval

ALPHA, SEED, RESAMPLES = 0.05, 1, 2000
FEW = 5  # clusters: below that, single pairs are resampled
SMALL = 0.2  # standard deviations: the difference that may pass for none, unless one is stated
KNOWING = ("tom_percent", "brier")

Verdict = Literal["better", "worse", "equivalent", "undecided"]
By = Literal["game", "cell", "others"]


class Comparison(msgspec.Struct, frozen=True):
    """One metric in one place: the first player less the second, over pairs."""

    game: str
    seat: str
    where: str  # the cell or the company, if these are kept apart
    metric: str
    better: str  # whether higher or lower is
    first: float  # means over the pairs
    second: float
    difference: Estimate
    p: float | None
    p_holm: float | None
    effect: float | None  # Cohen's dz: in standard deviations of the differences
    margin: float | None  # differences within it may pass for none
    p_equivalent: float | None
    verdict: Verdict
    pairs: int
    alone: tuple[int, int]  # episodes of either player that have no counterpart
    clusters: str
    company: int  # how many lineups of others are pooled in it
    alike: bool  # whether every pair gave the same difference


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


Scores = dict[Group, dict[str, list[Score]]]


def compare(
    episodes: Iterable[Episode],
    first: str,
    second: str,
    *,
    metrics: Sequence[str] = (),
    by: By = "game",
    margin: float | None = None,
    seed: int = SEED,
) -> list[Comparison]:
    """Every comparison of two players that the episodes allow, adjusted as one family."""
    if first == second:
        raise BadInput(f"{first!r} cannot be compared with itself; name two players.")
    if margin is not None and not margin > 0:
        raise BadInput(f"The margin must be above 0, not {margin}.")
    known = shelf.shelf("metrics")
    for name in metrics:
        if name not in known:
            raise unknown("metric", name, known)
    scores = scores_of(episodes, (first, second), metrics, by)
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


def scores_of(
    episodes: Iterable[Episode], players: tuple[str, str], metrics: Sequence[str], by: By
) -> Scores:
    """The values of both players, by where and by what."""
    found: Scores = {}
    sat: set[str] = set()
    for episode in episodes:
        names = {seat: label(who) for seat, who in episode.setup.lineup.items()}
        sat |= set(names.values())
        if not set(players) & set(names.values()):
            continue
        whole = played(episode)
        for seat in whole.replay.game.seats:
            if names[seat] in players:
                _add(found, whole, seat, names[seat], metrics, by)
    for name in players:
        if name not in sat:
            raise unknown("player in this store", name, sat)
    return found


def _add(
    found: Scores, whole: Played, seat: Seat, player: str, metrics: Sequence[str], by: By
) -> None:
    setup = whole.episode.setup
    others = ", ".join(label(setup.lineup[s]) for s in whole.replay.game.seats if s != seat)
    where = {"game": "", "cell": whole.episode.cell, "others": others}[by]
    for metric in measures(whole, seat, metrics):
        value = metric.measure(whole, seat)
        if value is not None:
            group = Group(setup.instance.game, seat, where, metric.name)
            score = Score(setting(setup, seat), setup.instance.id, others, float(value))
            found.setdefault(group, {}).setdefault(player, []).append(score)


def measures(whole: Played, seat: Seat, metrics: Sequence[str]) -> list[Metric]:
    """The metrics that are asked for; else what was known and what was done."""
    family = whole.spec.family or whole.spec.name
    fitting = shelf.metrics(family)
    if metrics:
        return [fitting[name] for name in metrics if name in fitting]
    return [*(fitting[name] for name in KNOWING), doing_metric(family, seat)]


# --- one comparison -------------------------------------------------------------------------------


def _compared(
    group: Group, one: Sequence[Score], two: Sequence[Score], margin: float | None, seed: int
) -> Comparison | None:
    mine, theirs = _by_setting(one), _by_setting(two)
    shared = [key for key in mine if key in theirs]
    if not shared:
        return None
    a = np.array([np.mean([s.value for s in mine[key]]) for key in shared])
    b = np.array([np.mean([s.value for s in theirs[key]]) for key in shared])
    instances = [mine[key][0].instance for key in shared]
    by_instance = len(set(instances)) >= FEW
    clusters = instances if by_instance else shared
    difference = paired_difference_bootstrap(
        a, b, clusters=clusters, seed=seed, resamples=RESAMPLES, method="expanded"
    )
    if len(shared) < FEW:
        difference = without_interval(difference.value, a.size, "bootstrap", f"fewer than {FEW}")
    wide = _margin(a, b) if margin is None else margin
    alike = _equivalent(a, b, clusters, wide)
    metric: Metric = shelf.shelf("metrics")[group.metric]
    return Comparison(
        **msgspec.structs.asdict(group),
        better=metric.better,
        first=float(a.mean()),
        second=float(b.mean()),
        difference=difference,
        p=sign_flip_test(a - b, clusters=clusters, seed=seed).p,
        p_holm=None,
        effect=cohens_dz(a, b),
        margin=wide,
        p_equivalent=alike,
        verdict="undecided",
        pairs=len(shared),
        alone=(len(mine) - len(shared), len(theirs) - len(shared)),
        clusters="instances" if by_instance else "pairs",
        company=len({s.others for key in shared for s in mine[key]}),
        alike=len(shared) > 1 and bool(np.ptp(a - b) == 0),
    )


def _by_setting(scores: Sequence[Score]) -> dict[str, list[Score]]:
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.setting, []).append(score)
    return found


Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def _margin(a: Floats, b: Floats) -> float | None:
    """A small part of the spread within players; None where nobody varies."""
    if a.size < 2:
        return None
    spread = float(np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))
    return SMALL * spread if spread > 0 else None


def _equivalent(
    a: Floats, b: Floats, clusters: Sequence[str], margin: float | None
) -> float | None:
    """The p value of the two one-sided tests, over the means of clusters.

    Differences that do not vary would make it 0 from two pairs on: then nothing is claimed.
    """
    means: dict[str, list[float]] = {}
    for away, cluster in zip(a - b, clusters, strict=True):
        means.setdefault(cluster, []).append(float(away))
    units = [float(np.mean(away)) for away in means.values()]
    if margin is None or np.ptp(units) == 0:
        return None
    return paired_equivalence(units, np.zeros(len(units)), (-margin, margin)).p


def adjusted(found: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p values adjusted over all of them, and their verdicts."""
    tested = [c for c in found if c.p is not None]
    p_values = dict(
        zip(map(id, tested), holm([c.p for c in tested if c.p is not None]), strict=True)
    )
    return [_judged(c, p_values.get(id(c))) for c in found]


def _judged(c: Comparison, p: float | None) -> Comparison:
    gain = c.difference.value or 0.0
    verdict: Verdict = "undecided"
    if gain and c.better and p is not None and p < ALPHA:
        verdict = "better" if (gain > 0) == (c.better == "higher") else "worse"
    elif c.p_equivalent is not None and c.p_equivalent < ALPHA:
        verdict = "equivalent"
    return msgspec.structs.replace(c, p_holm=p, verdict=verdict)


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
