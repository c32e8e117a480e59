"""Scores of paired answers: J (informedness), D (its strict form), and their intervals and tests.

For a pair with disjoint sets of right answers, d is 1 if both answers are right, -1 if each answer
is right in the other member only, and 0 otherwise; j is the mean, over both members, of being right
there less being right in the other member. Both means are 0 for every player whose answers do not
depend on the difference between the members.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from statistics import fmean

import msgspec
import scipy

from sally.stats.cluster_interval import Unit, mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.special_functions import ndtri

LEVEL = 0.95
BOUNDS = (-1.0, 1.0)


class PairOutcome(msgspec.Struct, frozen=True):
    """The two answers to one question of a pair, compared with the right answers."""

    first_right: bool
    second_right: bool
    first_crossed: bool  # the first answer is right in the second member
    second_crossed: bool
    is_same: bool  # both answers are equal
    forfeits: int = 0  # answers that could not be read

    @property
    def d(self) -> int:
        """1 if both answers are right, -1 if both are crosswise, else 0."""
        both_right = self.first_right and self.second_right
        return int(both_right) - int(self.first_crossed and self.second_crossed)

    @property
    def j(self) -> float:
        """The informedness of the two answers, from -1 to 1."""
        right = int(self.first_right) + int(self.second_right)
        return (right - int(self.first_crossed) - int(self.second_crossed)) / 2


class PairScore(msgspec.Struct, frozen=True):
    """The score of a set of pairs on one question."""

    j: Estimate
    d: Estimate
    p: float | None  # exact sign test of D
    pairs: int
    both_right: int
    crosswise: int
    same_twice: float | None  # share of pairs with the same answer twice
    forfeits: int


def tango_interval(
    both_right: int, crosswise: int, pairs: int, level: float = LEVEL
) -> tuple[float, float]:
    """Return the score interval of a difference of paired proportions (Tango 1998).

    >>> low, high = tango_interval(20, 5, 40)
    >>> round(low, 3), round(high, 3)
    (0.138, 0.567)
    """
    if not 0 <= both_right + crosswise <= pairs or pairs < 1:
        raise ValueError(f"{both_right} and {crosswise} of {pairs} pairs")
    z = float(ndtri((1 + level) / 2))
    observed = (both_right - crosswise) / pairs

    def distance(difference: float) -> float:
        b = -both_right - crosswise + (2 * pairs - both_right + crosswise) * difference
        c = -crosswise * difference * (1 - difference)
        share = (math.sqrt(max(b * b - 8 * pairs * c, 0.0)) - b) / (4 * pairs)
        variance = pairs * (2 * share + difference * (1 - difference))
        gap = both_right - crosswise - pairs * difference
        return abs(gap) - z * math.sqrt(max(variance, 0.0))

    def bound(end: float) -> float:
        inside = observed + 1e-9 * (end - observed)  # at the observed value the distance may be 0
        if observed == end or distance(end) <= 0:
            return end
        return float(scipy.optimize.brentq(distance, min(end, inside), max(end, inside)))

    return bound(-1.0), bound(1.0)


def sign_test(both_right: int, crosswise: int) -> float | None:
    """Return the two-sided p value of the exact sign test; None without a deciding pair."""
    decided = both_right + crosswise
    if not decided:
        return None
    return float(scipy.stats.binomtest(both_right, decided).pvalue)


def score_pairs(outcomes: Sequence[PairOutcome], clusters: Unit | None = None) -> PairScore:
    """Return J and D of a set of pairs.

    Args:
        outcomes: One for each pair.
        clusters: What each pair shares with others; None: pairs are independent. Independent pairs
            have Tango's interval of D, others a t interval over clusters.
    """
    pairs = len(outcomes)
    units = range(pairs) if clusters is None else clusters
    both_right = sum(outcome.d == 1 for outcome in outcomes)
    crosswise = sum(outcome.d == -1 for outcome in outcomes)
    strict = mean_by_rule([outcome.d for outcome in outcomes], units, BOUNDS)
    if clusters is None and pairs:
        low, high = tango_interval(both_right, crosswise, pairs)
        strict = Estimate((both_right - crosswise) / pairs, low, high, pairs, "Tango")
    same_twice = sum(outcome.is_same for outcome in outcomes) / pairs if pairs else None
    return PairScore(
        mean_by_rule([outcome.j for outcome in outcomes], units, BOUNDS),
        strict,
        sign_test(both_right, crosswise),
        pairs,
        both_right,
        crosswise,
        same_twice,
        sum(outcome.forfeits for outcome in outcomes),
    )


def mean_of_games(estimates: Sequence[Estimate]) -> Estimate | None:
    """Return the mean over games with equal weights; None if a game has no value.

    It has no interval if a game has none. The games' errors are independent; each side of the
    interval is made from the same side of the games' intervals (MOVER, Zou and Donner 2008).
    """
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    if not values or len(values) < len(estimates):
        return None
    value, count = fmean(values), len(values)
    total = sum(estimate.n for estimate in estimates)
    method = f"equal weights over {count} games"
    below, above = [], []
    for game_value, estimate in zip(values, estimates, strict=True):
        if estimate.low is None or estimate.high is None:
            return Estimate(value, None, None, total, method)
        below.append(game_value - estimate.low)
        above.append(estimate.high - game_value)
    low, high = value - math.hypot(*below) / count, value + math.hypot(*above) / count
    return Estimate(value, low, high, total, method)


def outcome_of(
    answers: tuple[object, object], right: tuple[Collection[object], Collection[object]]
) -> PairOutcome:
    """Return the outcome of two answers; None is a forfeit, which is in no set of right answers.

    >>> outcome_of((1, 2), ([1], [2])).d, outcome_of((2, 1), ([1], [2])).d
    (1, -1)
    """
    first, second = answers
    return PairOutcome(
        first is not None and first in right[0],
        second is not None and second in right[1],
        first is not None and first in right[1],
        second is not None and second in right[0],
        first is not None and first == second,
        (first is None) + (second is None),
    )
