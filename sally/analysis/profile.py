"""The knowing-doing profile: per player and game, what it knew, what it did, where it lost.

Both axes read alike: 0 is an even guess and a random player, 1 is all there is to know and to get;
the best mindless predictor and player are marks on them. Doing counts every decision, forfeited
ones at what the rules give. Intervals are 95%, by the one rule of `sally.stats.rule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import msgspec

from sally.analysis.blanks import reasons
from sally.analysis.ends import instance_ends, key_of, widest
from sally.analysis.measured import Baseline, Measured, measured
from sally.analysis.profile_estimates import Means, clusters_of
from sally.analysis.scale import OPTIMUM, ROOM, Mark, Met, Scaled, Zero, scaled, top
from sally.analysis.skill import Predictor, Skills, skills
from sally.core import shelf
from sally.core.log import Episode, label
from sally.core.metric import Metric
from sally.stats import Estimate
from sally.stats.rule import Bounds

__all__ = ["OPTIMUM", "ROOM", "Mark", "Point", "Predictor", "ProfileRow", "profile_of",
           "profile_rows"]  # fmt: skip


class Point(msgspec.Struct, frozen=True):
    """One point of a calibration curve."""

    forecast: float  # mean odds of the likeliest choice
    share: Estimate  # how often it came true
    n: int


class ProfileRow(msgspec.Struct, frozen=True):
    """One player in one game; an estimate without a value says in `why` why it has none."""

    family: str
    game: str
    cell: str  # empty: all cells of the game together
    part: str  # which of its episodes; empty: all of them
    seat: str
    player: str
    episodes: int
    censored: int
    moves: int
    forfeits: int
    accuracy: Estimate  # of predictions about others, in percent
    guess: float | None  # the accuracy of an even guess, in percent
    skill: Estimate  # accuracy with an even guess at 0
    predictor: Predictor | None  # the best without a mind for the other
    beyond: Estimate  # accuracy with that predictor at 0
    unread: float | None  # share of answers that could not be read, in percent
    brier: Estimate
    even_brier: float | None  # of even odds
    brier_skill: Estimate  # with even odds at 0
    brier_beyond: Estimate  # with the frequencies of the answers at 0
    calibration: tuple[Point, ...]
    value_error: Estimate  # of value reports, in points of their scale
    metric: str  # what doing is measured by
    unit: str
    raw: Estimate  # doing in that unit, forfeited decisions at what the rules give
    doing: Estimate  # 0: as a random player, 1: as the optimum or the reference
    doing_most: Estimate  # with forfeited decisions at the best that they could have earned
    regret: Estimate  # what is missing to the upper end, in the unit
    room: float | None  # between the ends, as a share of the range of payoffs
    random: Mark | None
    mindless: Mark | None
    reference: Mark | None
    consistency: Estimate  # moves that are best replies to one's own prediction, in percent
    acting: Estimate  # the same with a blind pick at 0
    inference: Estimate
    translation: Estimate
    format: Estimate
    luck: Estimate
    why: dict[str, str]  # by field, why it is blank
    clusters: str  # what an interval counts


def profile_rows(
    episodes: Iterable[Episode],
    baselines: Sequence[Baseline] = (),
    *,
    seats: Mapping[str, Iterable[str]] | None = None,
    by_cell: bool = False,
    zero: Zero = "random",
) -> list[ProfileRow]:
    """One row for each player, game and seat; `seats` by game, all of them unless named."""
    found = [m for episode in episodes for m in measured(episode)]
    if seats is not None:
        found = [m for m in found if m.seat in seats.get(m.game, ())]
    return profile_of(found, baselines, by_cell=by_cell, zero=zero)


def profile_of(
    studied: Iterable[Measured],
    baselines: Sequence[Baseline] = (),
    *,
    by_cell: bool = False,
    zero: Zero = "random",
) -> list[ProfileRow]:
    """The rows of seats that are measured already.

    `zero="mindless"` is the scale of version 0.1, kept so that its figures can be had again.
    """
    groups: dict[tuple[str, ...], list[Measured]] = {}
    for m in studied:
        who = label(m.setup.lineup[m.seat])
        groups.setdefault((m.family, m.game, m.cell if by_cell else "", m.seat, who), []).append(m)
    met = Met(baselines)
    order = sorted(groups, key=lambda key: key[:4])  # stable: players stay in order of appearance
    return [
        _row(key, part, group, met, zero)
        for key in order
        for part, group in _parts(groups[key], met)
    ]


def _parts(group: Sequence[Measured], met: Met) -> list[tuple[str, Sequence[Measured]]]:
    """The episodes of a row, in two where only some of them have an upper end of the scale."""
    ended = [m for m in group if m.least is not None]
    without = [m for m in ended if top(met, m) is None]
    if not without or len(without) == len(ended):
        return [("", group)]
    apart = {id(m) for m in without}  # not by value: to compare each with each is quadratic
    rest = [m for m in group if id(m) not in apart]
    return [("with a known optimum", rest), ("without a known optimum", without)]


def _row(
    key: tuple[str, ...], part: str, group: Sequence[Measured], met: Met, zero: Zero
) -> ProfileRow:
    unit, name = clusters_of(group)
    means = Means(group, unit)
    metric = shelf.shelf("metrics")[group[0].metric]
    row = ProfileRow(
        family=key[0],
        game=key[1],
        cell=key[2],
        part=part,
        seat=key[3],
        player=key[4],
        episodes=len(group),
        censored=sum(bool(m.censored) for m in group),
        moves=sum(m.moves for m in group),
        forfeits=sum(m.forfeits for m in group),
        **_knowing(means, skills(means)),
        metric=metric.name,
        unit=metric.unit or "share",
        raw=means.mean(lambda m: m.least, _ends(metric, group)),
        **_doing(means, found := scaled(means, met, zero)),
        **_acting(means),
        why={},
        clusters=name,
    )
    return msgspec.structs.replace(row, why=reasons(row, group, found.why, found.why_regret))


def _ends(metric: Metric, group: Sequence[Measured]) -> Bounds | None:
    """Within what the raw figure lies, in these very games."""
    if metric.ends is not None:
        return metric.ends
    apart = {(m.setup.instance.id, m.seat): m.setup.instance for m in group}
    return widest(instance_ends(metric.name, key_of(i), seat) for (_, seat), i in apart.items())


def _knowing(means: Means, found: Skills) -> dict[str, Any]:
    known = [m.knowing for m in means.group]
    scored, odds = sum(k.scored for k in known), sum(k.with_odds for k in known)
    asked = sum(k.asked for k in known)
    return {
        "accuracy": means.share(
            lambda m: 100 * m.knowing.right, lambda m: m.knowing.scored, most=100.0
        ),
        "guess": 100 * sum(k.guess for k in known) / scored if scored else None,
        "skill": found.skill,
        "predictor": found.predictor,
        "beyond": found.beyond,
        "unread": 100 * sum(k.unread for k in known) / asked if asked else None,
        "brier": means.share(lambda m: m.knowing.brier, lambda m: m.knowing.with_odds, most=2.0),
        "even_brier": sum(k.even_brier for k in known) / odds if odds else None,
        "brier_skill": found.brier_skill,
        "brier_beyond": found.brier_beyond,
        "calibration": tuple(_calibration(means)),
        "value_error": means.ratio(
            lambda m: m.knowing.value_error, lambda m: m.knowing.valued or None, (0.0, inf)
        ),
    }


def _doing(means: Means, found: Scaled) -> dict[str, Any]:
    fields = ("doing", "doing_most", "regret", "room", "random", "mindless", "reference")
    return {name: getattr(found, name) for name in fields}


def _acting(means: Means) -> dict[str, Any]:
    return {
        "consistency": means.share(lambda m: 100 * m.acting.fits, lambda m: m.acting.n, most=100.0),
        "acting": means.ratio(
            lambda m: m.acting.weighed_fits - m.acting.chance,
            lambda m: m.acting.weighed - m.acting.chance or None,
        ),
        "inference": means.mean(lambda m: m.terms.inference),
        "translation": means.mean(lambda m: m.terms.translation, (0.0, inf)),
        "format": means.mean(lambda m: m.terms.format),
        "luck": means.mean(lambda m: m.terms.luck),
    }


# --- calibration ---------------------------------------------------------------------------------


def _calibration(means: Means) -> Iterator[Point]:
    curves = [m.knowing.bins for m in means.group if m.knowing.bins]
    for place in range(len(curves[0]) if curves else 0):
        n = sum(curve[place][0] for curve in curves)
        if n:
            forecast = sum(curve[place][1] for curve in curves) / n
            yield Point(forecast, means.share(*_at(place)), n)


def _at(place: int) -> tuple[Callable[[Measured], float], Callable[[Measured], float]]:
    """How many forecasts of a bin came true, and how many there were."""
    return (
        lambda m: m.knowing.bins[place][2] if m.knowing.bins else 0.0,
        lambda m: m.knowing.bins[place][0] if m.knowing.bins else 0.0,
    )
