"""Agreement of our figures with published ones: equivalent, different or undecided.

Each side has a standard error, computed from its 95% interval; printed numbers are also rounded.
Two one-sided tests at 5% ask whether the figures are equal within a stated margin (equivalent), a z
test at 5% whether they differ (different); if neither test is significant, the comparison is
undecided, and the result gives the sample size that we would need for a decision. A significant
difference counts as different even within the margin: 94% and 97% right are within 5 points of each
other but are not the same performance. Among true replications about one in twenty comes out
different. A value printed without an error also comes from some sample: its error is computed from
the spread of our values and the n of the paper. Without an n, nothing is known about its error, and
the comparison is undecided, however many episodes we play; our own error alone never makes two
values different. Values without sampling (formulas, enumerations) have no error. Test statistics
get no verdict (a z or a p is not an estimate), nor do the settings of a study.

If the n of the printed value is known, each error is at least the one implied by the spread of both
samples pooled around their common mean (as in the score test). Otherwise, a sample of a measure
that hardly varies, such as one that is nearly always 98%, might show too little spread or none, and
up to 16% of true replications would come out different. Figures that differ significantly by their
own errors but not by the pooled ones are undecided, never equivalent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import scipy

from sally.analysis.compare.published_figures import Figure
from sally.stats.intervals import Estimate

STATISTICS = frozenset({
    "z", "p", "p_below", "t", "t_against_chance", "degrees", "bayes_factor", "guess_bayes_factor",
    "success_bayes_factor", "confirmed",
})  # fmt: skip
SETTINGS = "settings"  # the table of a paper's own settings
EXACT = ("Formula", "Full enumeration", "Enumeration")  # sources of values without sampling
SAME_DATA = ("computed", "Data released", "Replay")  # sources of values of a published record
LEVEL = 0.05
REACH = 1.959964  # standard errors in half a 95% interval
MARGIN = 0.05  # of the range of a measure, where it has one; else of the printed value


POWER = 0.8  # with which the needed n decides, if the true difference is 0

Verdict = Literal["equivalent", "different", "undecided"]


class Agreement(msgspec.Struct, frozen=True):
    """The result of comparing our figure with a printed value; fields without a value are None."""

    verdict: Verdict | None = None
    p: float | None = None  # of equality
    p_equivalent: float | None = None  # of a difference as large as the margin or larger
    margin: float | None = None
    needs: int | None = None  # our n that would decide; None: decided, or no n of ours does


def target(figures: tuple[Figure, ...] | list[Figure]) -> Figure:
    """Return the printed value that ours is compared with: the first that is not flagged."""
    return next((figure for figure in figures if figure.flag is None), figures[0])


def agreement(
    table: str,
    figure: Figure,
    ours: Estimate,
    span: float | None = None,
    digit: float | None = None,
) -> Agreement:
    """Compare our estimate with a printed figure.

    Args:
        table: Name of the published table.
        figure: The printed figure.
        ours: Our estimate.
        span: The range of the measure, if it has one.
        digit: Half a unit of the last printed decimal place; by default that of the figure.
    """
    rounded = half_a_digit([figure.value]) if digit is None else digit
    if table == SETTINGS or figure.metric in STATISTICS:
        return Agreement()
    if ours.value is None or ours.low is None or ours.high is None:
        return Agreement()
    away = ours.value - figure.value
    margin = MARGIN * (span if span is not None else abs(figure.value))
    our_error = _ours(ours, away)
    is_exact = figure.source.startswith(EXACT)
    is_ours_exact = not our_error or ours.method.startswith("exact")
    is_sampled = figure.interval is None and not is_exact
    if is_sampled and figure.n is None:
        is_equal = abs(away) <= rounded + 1e-9
        is_same = is_equal and (is_ours_exact or figure.source.startswith(SAME_DATA))
        return Agreement("equivalent" if is_same else "undecided", margin=margin)
    if not our_error and is_exact:  # both exact: equal as far as printed
        return Agreement("equivalent" if abs(away) <= rounded + 1e-9 else "different")
    their_error = _printed_error(figure, away, rounded, ours.n, our_error)
    is_apart = abs(away) > REACH * math.hypot(our_error, their_error)  # by the errors as they stand
    if figure.n is not None:
        variance = _pooled_variance(ours.n, our_error, figure.n, their_error, away)
        if is_sampled and not our_error:
            variance = math.inf if span is None else span**2 / 4  # the largest one
        if not ours.method.startswith("exact"):
            our_error = max(our_error, math.sqrt(variance / ours.n))
        their_error = max(their_error, math.sqrt(variance / figure.n))
    error = math.hypot(our_error, their_error)
    if not error:
        is_equal = abs(away) < 1e-9
        return Agreement("equivalent" if is_equal else "different", float(is_equal), None, margin)
    p = 2 * float(scipy.special.ndtr(-abs(away) / error))
    p_equivalent = float(scipy.special.ndtr(-(margin - abs(away)) / error))
    if p < LEVEL:
        return Agreement("different", p, p_equivalent, margin)
    if p_equivalent < LEVEL and not is_apart:
        return Agreement("equivalent", p, p_equivalent, margin)
    needs = _find_needed_n(ours.n, our_error, their_error, margin)
    return Agreement("undecided", p, p_equivalent, margin, needs)


def _find_needed_n(n: int, our_error: float, their_error: float, margin: float) -> int | None:
    """Return the n at which equal figures are found equivalent with the wanted power, or None.

    The same n detects a difference as large as the margin with a power of .83.
    """
    reach = float(scipy.special.ndtri(1 - LEVEL) + scipy.special.ndtri((1 + POWER) / 2))
    target_variance = (margin / reach) ** 2 - their_error**2
    if target_variance <= 0 or not our_error:
        return None
    return max(n + 1, math.ceil(n * our_error**2 / target_variance))


def _ours(ours: Estimate, away: float) -> float:
    """Return our standard error, from the half of our interval that faces the printed value."""
    assert ours.value is not None and ours.low is not None and ours.high is not None
    return (ours.value - ours.low if away > 0 else ours.high - ours.value) / REACH


def _pooled_variance(
    n: int, our_error: float, printed_n: int, their_error: float, away: float
) -> float:
    """Return the variance of single values in both samples together, around the common mean."""
    within = ((n * our_error) ** 2 + (printed_n * their_error) ** 2) / (n + printed_n)
    return within + n * printed_n * (away / (n + printed_n)) ** 2


def _printed_error(
    figure: Figure, away: float, rounded: float, our_n: int, our_error: float
) -> float:
    """Return the standard error of a printed value: as printed, or of n values that vary as ours
    do; rounding included."""
    rounding = rounded / math.sqrt(3)  # the deviation of values that would be printed alike
    if figure.interval is not None:
        low, high = figure.interval
        sampling = (high - figure.value if away > 0 else figure.value - low) / REACH
    elif figure.n is not None:
        sampling = our_error * math.sqrt(our_n / figure.n)
    else:
        sampling = 0.0
    return math.hypot(sampling, rounding)


def half_a_digit(values: Sequence[float]) -> float:
    """Return half a unit of the last decimal place to which the values of a column are printed."""
    places = max((len(repr(value).partition(".")[2].rstrip("0")) for value in values), default=0)
    return 0.5 * 10.0**-places
