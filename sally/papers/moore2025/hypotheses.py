"""H1 to H7 of moore2025: binomial mixed models by maximum likelihood.

The random intercept is by cover story, as published, which treats games of one person as
independent. `by_participant` adds an intercept for each person, which tests the median person
rather than the population. `marginal` tests the population, without intercepts and with errors
clustered by person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import erfc, sqrt

import msgspec

from sally.papers.moore2025.mixed_models import Coefficient, logit, mixed_logit
from sally.stats.intervals import Estimate

CHANCE = 0.1  # what H1 and H3 are tested against
O1 = "o1-preview"
SURE = 1.959963984540054
ALPHA = 0.05


class Game(msgspec.Struct, frozen=True):
    """One finished game as an observation."""

    o1: bool
    revealed: bool
    won: bool
    story: str
    participant: str = ""


class Contrast(msgspec.Struct, frozen=True):
    """The games that a hypothesis is about, and the coefficient that decides it."""

    o1: bool | None  # whose games; None: both
    revealed: bool | None  # in which condition; None: both
    coefficient: str

    def keeps(self, game: Game) -> bool:
        return self.o1 in (None, game.o1) and self.revealed in (None, game.revealed)


TESTS: Mapping[str, Contrast] = {
    "H1": Contrast(False, False, "intercept"),
    "H2": Contrast(False, None, "revealed"),
    "H3": Contrast(True, False, "intercept"),
    "H4": Contrast(True, None, "revealed"),
    "H5": Contrast(None, False, "o1"),
    "H6": Contrast(None, True, "o1"),
    "H7": Contrast(None, None, "o1 x revealed"),
}


def deciding_coefficient(
    name: str, games: Sequence[Game], *, by_participant: bool = False
) -> Coefficient | None:
    """Return the coefficient that decides a hypothesis; None if the games are too few or perfectly
    separated."""
    return _fit_coefficient(name, tuple(g for g in games if TESTS[name].keeps(g)), by_participant)


@lru_cache(maxsize=64)  # z, p and the verdict come from one fit
def _fit_coefficient(
    name: str, kept_games: tuple[Game, ...], by_participant: bool
) -> Coefficient | None:
    test = TESTS[name]
    if len(kept_games) < 2:
        return None
    fixed: dict[str, list[float]] = {"intercept": [1.0] * len(kept_games)}
    if test.revealed is None:
        fixed["revealed"] = [float(g.revealed) for g in kept_games]
    if test.o1 is None:
        fixed["o1"] = [float(g.o1) for g in kept_games]
    if test.o1 is None and test.revealed is None:
        fixed["o1 x revealed"] = [float(g.o1 and g.revealed) for g in kept_games]
    groups: dict[str, list[str]] = {"story": [g.story for g in kept_games]}
    if by_participant:
        groups["participant"] = [g.participant or f"game {n}" for n, g in enumerate(kept_games)]
    offset = logit(CHANCE) if test.coefficient == "intercept" else 0.0
    try:
        fit = mixed_logit([float(g.won) for g in kept_games], fixed, groups, offset=offset)
    except ValueError:  # separated or redundant: no finite estimate exists
        return None
    return fit[test.coefficient] if fit.converged else None


def marginal(name: str, metric: str, games: Sequence[Game]) -> Estimate | None:
    """Return one result of the population test, such as z or p, with errors clustered by person
    (sandwich)."""
    kept_games = [g for g in games if TESTS[name].keeps(g)]
    together = [g.participant or f"game {n}" for n, g in enumerate(kept_games)]
    is_revealed = [g.revealed for g in kept_games]
    z = clustered_z([g.won for g in kept_games], together, is_revealed if name == "H2" else None)
    method = "logit, errors clustered by participant"
    return None if z is None else _figure(metric, z, len(kept_games), method)


def clustered_z(
    won: Sequence[bool], together: Sequence[str], group: Sequence[bool] | None = None
) -> float | None:
    """Return a z statistic with standard errors clustered by `together`.

    With one group it tests the log odds of winning against chance, with two groups the difference
    of their log odds. Both are computed in closed form, not by an iterative fit.
    """
    sides = [[1.0] * len(won)] if group is None else [
        [float(g is side) for g in group] for side in (True, False)
    ]  # fmt: skip
    effect, signs, pull = 0.0, (1.0, -1.0), dict.fromkeys(together, 0.0)
    for sign, side in zip(signs, sides, strict=False):
        n, wins = sum(side), sum(s * w for s, w in zip(side, won, strict=True))
        if not 0 < wins < n:
            return None
        share = wins / n
        effect += sign * (logit(share) - (logit(CHANCE) if group is None else 0.0))
        for s, w, cluster in zip(side, won, together, strict=True):
            pull[cluster] += sign * s * (w - share) / (n * share * (1 - share))
    error = sqrt(sum(pull_of_cluster * pull_of_cluster for pull_of_cluster in pull.values()))
    return effect / error if error else None


def hypothesis(
    name: str, metric: str, games: Sequence[Game], by_participant: bool = False
) -> Estimate | None:
    """Return one result of the test of a hypothesis, such as z or p. A z statistic has a standard
    error of one."""
    coefficient = deciding_coefficient(name, games, by_participant=by_participant)
    if coefficient is None or coefficient.z is None:
        return None
    n = sum(TESTS[name].keeps(game) for game in games)
    also = " and participant" if by_participant else ""
    return _figure(metric, coefficient.z, n, f"mixed logit, intercept by story{also}")


def _figure(metric: str, z: float, n: int, method: str) -> Estimate | None:
    match metric:
        case "z":
            return Estimate(z, z - SURE, z + SURE, n, method)
        case "p":
            return Estimate(two_sided(z), None, None, n, method)  # not an estimate of anything
        case "p_below":
            bound = max(two_sided(z), 0.001)  # the paper prints p < .001 from here on
            return Estimate(bound, None, None, n, method)
        case "confirmed":
            return Estimate(float(two_sided(z) < ALPHA), None, None, n, method)
    return None


def two_sided(z: float) -> float:
    """Return the two-sided p value of a z statistic."""
    return erfc(abs(z) / sqrt(2))
