"""Reliability of reports that were asked for twice, and knowing and acting corrected for it.

A report is taken to be the player's belief with probability r, and a random answer otherwise,
independently in both askings. Two reports then agree beyond chance with probability r squared
(`reliability`), knowing is r times what it would be without the random answers, and so is acting by
contrast, where all forecasts are equally frequent; where they are not, acting is less. It is
therefore divided by what a player reaches that always follows its second report, which is less to
the same degree.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np

from sally.analysis.profile.estimates import Means
from sally.frames.profiles import Floats
from sally.stats.cluster_interval import jackknife_by_rule
from sally.stats.intervals import Estimate, without_interval

NO_INTERVAL = "the reliability of reports has no interval, so nothing can be corrected"
UNRELIABLE = "reports agree no more often than by chance, so nothing can be corrected"


class RetestEstimates(msgspec.Struct, frozen=True):
    """Reliability of reports, and measures corrected for unreliable reports (disattenuated)."""

    reliability: Estimate
    skill: Estimate
    acting: Estimate
    why: str = ""  # why nothing can be corrected; empty if something can


def retest_estimates(means: Means) -> RetestEstimates:
    """Return the reliability of the reports of a row, and its corrected measures."""
    of = means.group.of
    reliability = jackknife(means, RELIABILITY, agreement_of)
    if not of("twice").any():
        return RetestEstimates(reliability, reliability, reliability)
    if reliability.low is None or reliability.low <= 0:
        reason = NO_INTERVAL if reliability.low is None else UNRELIABLE
        blank = without_interval(None, 0, "jackknife", reason)
        return RetestEstimates(reliability, blank, blank, reason)
    return RetestEstimates(
        reliability=reliability,
        skill=jackknife(means, (*RELIABILITY, *SKILL), corrected_skill),
        acting=jackknife(means, (*RELIABILITY, *ACTING), corrected_acting),
    )


RELIABILITY = ("twice", "same", "same_by_chance")
SKILL = ("scored", "right", "guess")
ACTING = ("contrasted", "contrast", "retested", "retest_contrast")


def jackknife(
    means: Means, fields: tuple[str, ...], function: Callable[[Floats], float]
) -> Estimate:
    """Return a function of the sums of some fields, with an interval over clusters."""
    sums = np.stack([means.group.of(field) for field in fields], axis=1)
    return jackknife_by_rule(sums, means.cluster_codes, function)


def agreement_of(sums: Floats) -> float:
    """Return how often two reports agree: 0 by chance, 1 always (Bennett, Alpert and Goldstein
    1954).

    >>> agreement_of(np.array([10.0, 6.0, 5.0]))
    0.2
    """
    twice, agreed, by_chance = sums[:3].tolist()
    return (agreed - by_chance) / (twice - by_chance) if twice > by_chance else math.nan


def corrected_skill(sums: Floats) -> float:
    """Return knowing, divided by the square root of the reliability.

    >>> corrected_skill(np.array([10.0, 6.8, 5.0, 10.0, 8.0, 5.0]))
    1.0
    """
    scored, right, guess = sums[3:].tolist()
    share = _share_of_beliefs(sums)
    return (right - guess) / (scored - guess) / share if share and scored > guess else math.nan


def corrected_acting(sums: Floats) -> float:
    """Return acting by contrast, corrected for unreliable reports."""
    contrasted, contrast, retested, retest = sums[3:].tolist()
    share = _share_of_beliefs(sums)
    if not contrasted or not retested or retest <= 0 or not share:
        return math.nan
    return float(contrast / contrasted * share / (retest / retested))


def _share_of_beliefs(sums: Floats) -> float:
    """Return the share of reports that are beliefs, and not random answers; 0 if not defined."""
    agreement = agreement_of(sums)
    return math.sqrt(agreement) if agreement > 0 else 0.0
