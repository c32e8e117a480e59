"""Whether a figure of ours is the published one: a test of equality that can fail.

Each side has an error, from its 95% interval, and a printed number is rounded too. The two are
equal unless a z test at 5% says otherwise: among true copies one in twenty differs. Beside it
stands whether they are equivalent, by two one-sided tests within a stated margin: little data
can hardly differ, and can hardly be equivalent either. Nothing is said of test statistics (a z or
a p is no estimate), nor of the settings of a study, which cannot but agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import scipy

from sally.analysis.compare.published import Figure
from sally.stats.intervals import Estimate

STATISTICS = frozenset({
    "z", "p", "p_below", "t", "t_against_chance", "degrees", "bayes_factor", "guess_bayes_factor",
    "success_bayes_factor", "confirmed",
})  # fmt: skip
SETTINGS = "settings"  # the table of a paper's own settings
LEVEL = 0.05
REACH = 1.959964  # standard errors in half a 95% interval
MARGIN = 0.05  # of the range of a measure, where it has one; else of the printed value


class Verdict(msgspec.Struct, frozen=True):
    """What can be said of ours beside one printed value; None: nothing."""

    agrees: bool | None = None
    p: float | None = None  # of their being equal
    equivalent: bool | None = None  # within the margin, at 5%
    margin: float | None = None


def target(figures: tuple[Figure, ...] | list[Figure]) -> Figure:
    """The one printed value that ours is held against: the table's own, the first not flagged."""
    return next((figure for figure in figures if figure.flag is None), figures[0])


def verdict(
    table: str,
    figure: Figure,
    ours: Estimate,
    span: float | None = None,
    digit: float | None = None,
) -> Verdict:
    """Ours beside the target; `span` is the range of the measure, `digit` half the last printed."""
    rounded = half_a_digit([figure.value]) if digit is None else digit
    if table == SETTINGS or figure.metric in STATISTICS:
        return Verdict()
    if ours.value is None or ours.low is None or ours.high is None:
        return Verdict()
    away = ours.value - figure.value
    margin = MARGIN * (span if span is not None else abs(figure.value))
    error = math.hypot(_ours(ours, away), _theirs(figure, away, rounded))
    if not _ours(ours, away) and figure.interval is None:  # both exact: equal as far as printed
        same = abs(away) <= rounded + 1e-9
        return Verdict(same, None, None, None)
    p = 2 * float(scipy.special.ndtr(-abs(away) / error)) if error else float(abs(away) < 1e-9)
    inside = margin - abs(away)
    within = margin > 0 and error > 0 and float(scipy.special.ndtr(-inside / error)) < LEVEL
    return Verdict(p >= LEVEL, p, within, margin)


def _ours(ours: Estimate, away: float) -> float:
    """The error on the side that faces the printed value."""
    assert ours.value is not None and ours.low is not None and ours.high is not None
    return (ours.value - ours.low if away > 0 else ours.high - ours.value) / REACH


def _theirs(figure: Figure, away: float, rounded: float) -> float:
    rounding = rounded / math.sqrt(3)  # the spread of what would be printed alike
    if figure.interval is None:
        return rounding
    low, high = figure.interval
    return math.hypot((high - figure.value if away > 0 else figure.value - low) / REACH, rounding)


def half_a_digit(values: Sequence[float]) -> float:
    """Half of the last digit to which some values of one column are printed."""
    places = max((len(repr(value).partition(".")[2].rstrip("0")) for value in values), default=0)
    return 0.5 * 10.0**-places
