"""Agreement of our figures with published ones: a test of equality that can fail.

Each side has a standard error, from its 95% interval, and a printed number is rounded too. The two
agree unless a z test at 5% rejects equality; among true replications one in twenty is rejected. A
second verdict, by two one-sided tests, says whether they are equivalent within a stated margin:
with little data, figures rarely differ and are rarely equivalent. Test statistics get no verdict
(a z or a p is not an estimate), nor do the settings of a study, which always agree.
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
    """Verdict on our figure and one printed value; None if there is none."""

    agrees: bool | None = None
    p: float | None = None  # of equality
    equivalent: bool | None = None  # within the margin, at 5%
    margin: float | None = None


def target(figures: tuple[Figure, ...] | list[Figure]) -> Figure:
    """Return the printed value that ours is compared with: the first that is not flagged."""
    return next((figure for figure in figures if figure.flag is None), figures[0])


def verdict(
    table: str,
    figure: Figure,
    ours: Estimate,
    span: float | None = None,
    digit: float | None = None,
) -> Verdict:
    """Compare our estimate with a printed figure.

    Args:
        table: Name of the published table.
        figure: The printed figure.
        ours: Our estimate.
        span: The range of the measure, if it has one.
        digit: Half of the last printed digit; by default that of the figure.
    """
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
    """Return our standard error on the side of the printed value."""
    assert ours.value is not None and ours.low is not None and ours.high is not None
    return (ours.value - ours.low if away > 0 else ours.high - ours.value) / REACH


def _theirs(figure: Figure, away: float, rounded: float) -> float:
    rounding = rounded / math.sqrt(3)  # the deviation of values that would be printed alike
    if figure.interval is None:
        return rounding
    low, high = figure.interval
    return math.hypot((high - figure.value if away > 0 else figure.value - low) / REACH, rounding)


def half_a_digit(values: Sequence[float]) -> float:
    """Return half of the last digit to which the values of a column are printed."""
    places = max((len(repr(value).partition(".")[2].rstrip("0")) for value in values), default=0)
    return 0.5 * 10.0**-places
