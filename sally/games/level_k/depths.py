"""Estimates of depth of reasoning from one move, from a seat's moves, and from a population's
moves.

Depth is estimated from moves, never from players' own statements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.games.level_k.minds import NOTHING, cognitive_hierarchy, ladder
from sally.games.level_k.payoffs import Contest, Pennies, Request
from sally.games.level_k.rules import LevelGame, View
from sally.games.level_k.solvers import Odds, evenly
from sally.stats.intervals import Estimate

LEVELS = 4  # 0, 1, 2 and 3: few people think further (Nagel 1995; Arad and Rubinstein 2012)
ERROR = 0.1  # the assumed share of a seat's moves drawn uniformly from its menu
NEAR = 0.25  # Nagel's neighbourhoods: 50 p^(k - 1/4) to 50 p^(k + 1/4)
MOST_ROUNDS = 500  # of expectation maximisation; the likelihood converges long before
STILL = 1e-10
TAUS = tuple(0.05 * n for n in range(1, 101))

Floats = NDArray[np.float64]


def depth_of(game: LevelGame, move: int) -> int | None:
    """Return the level that would choose this move or, in a contest, a move close to it; None if
    there is no such level."""
    pays = game.pays
    if isinstance(pays, Request):
        steps, remainder = divmod(pays.high - move, pays.gap)
        return None if remainder else steps
    if not isinstance(pays, Contest) or pays.fraction == 1 or move == 0:
        return None
    steps_up = log(2 * move / (pays.low + pays.high)) / log(pays.fraction)
    nearest = round(steps_up)
    return nearest if nearest >= 0 and abs(steps_up - nearest) <= NEAR else None


def levels_at(game: LevelGame, seat: Seat, view: View, levels: int = LEVELS) -> list[Odds]:
    """Return each level's move probabilities; in a contest, uniform over the numbers near the
    level's choice."""
    if isinstance(game.pays, Contest):
        near_moves: list[list[int]] = [[] for _ in range(levels)]
        for move in game.menu(seat):
            k = depth_of(game, move)
            if k is not None and k < levels:
                near_moves[k].append(move)
        if all(near_moves):
            return [evenly(moves) for moves in near_moves]
    return [mind.does(view) for mind in ladder(game, seat, levels - 1)]


# --- one seat -------------------------------------------------------------------------------------


class Depth(msgspec.Struct, frozen=True):
    """The posterior probability of each level after observed moves, from a uniform prior."""

    chances: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(k * p for k, p in enumerate(self.chances))

    @property
    def sd(self) -> float:
        return sqrt(sum((k - self.mean) ** 2 * p for k, p in enumerate(self.chances)))


def estimate_depth(
    game: LevelGame, seat: Seat, moves: Sequence[tuple[View, int]], error: float = ERROR
) -> Depth | None:
    """Return the posterior over levels 0 to 3 after a seat's moves; None if no moves are given."""
    if not moves:
        return None
    even = error / len(game.menu(seat))
    minds = None if isinstance(game.pays, Contest) else ladder(game, seat, LEVELS - 1)
    fixed = levels_at(game, seat, NOTHING) if minds is None else []
    weight = [0.0] * LEVELS
    for view, move in moves:
        level_odds_now = fixed if minds is None else [mind.does(view) for mind in minds]
        for k, odds in enumerate(level_odds_now):
            weight[k] += log((1 - error) * odds.get(move, 0.0) + even)
    top = [exp(w - max(weight)) for w in weight]
    return Depth(tuple(t / sum(top) for t in top))


def distance(first: Odds, second: Odds) -> float:
    """Return the total variation distance: 0 for equal distributions, 1 for disjoint ones."""
    moves = {*first, *second}
    return sum(abs(first.get(move, 0.0) - second.get(move, 0.0)) for move in moves) / 2


# --- many people ----------------------------------------------------------------------------------


class LevelMixture(msgspec.Struct, frozen=True):
    """A population as a mixture of levels, with 95% bootstrap intervals."""

    shares: tuple[Estimate, ...]  # of levels 0, 1, ..
    error: Estimate  # the share that moves evenly at random
    depth: Estimate  # the mean level of those who do not


def fit_levels(
    game: LevelGame,
    seat: Seat,
    counts: Mapping[int, int],
    levels: int = LEVELS,
    draws: int = 400,
    seed: int = 1,
) -> LevelMixture:
    """Return the maximum-likelihood mixture of levels and random errors for these choices.

    This requires levels that ignore past rounds, so it does not apply to matching pennies.
    """
    if isinstance(game.pays, Pennies):
        raise BadInput(
            "the levels of matching pennies depend on the past; estimate each seat separately"
        )
    shape = _shape(game, seat, levels_at(game, seat, NOTHING, levels))
    observed = _count_moves(game, seat, counts)
    summaries = [_summary(_mixture(shape, sample)) for sample in _samples(observed, draws, seed)]
    n = int(observed.sum())
    *shares, error, depth = (_interval(column, n) for column in zip(*summaries, strict=True))
    return LevelMixture(tuple(shares), error, depth)


def fitted_tau(
    game: LevelGame, seat: Seat, counts: Mapping[int, int], draws: int = 100, seed: int = 1
) -> Estimate:
    """Return the mean number of steps (tau) in the best-fitting cognitive hierarchy, searched in
    steps of 0.05.

    Level 0 is uniform, as in Camerer, Ho and Chong (2004): it accounts for moves that no level
    would make.
    """
    observed = _count_moves(game, seat, counts)
    shapes = [_hierarchy(game, seat, tau) for tau in TAUS]
    logs = np.log(np.array(shapes))
    taus = [TAUS[int(np.argmax(logs @ sample))] for sample in _samples(observed, draws, seed)]
    return _interval(taus, int(observed.sum()))


def _hierarchy(game: LevelGame, seat: Seat, tau: float, deepest: int = 8) -> Floats:
    """Return the probability of each move in a Poisson cognitive hierarchy with a uniform level
    0."""
    weight, total = exp(-tau), np.zeros(len(game.menu(seat)))
    for k in range(deepest + 1):
        does = cognitive_hierarchy(game, seat, k, tau, "uniform").does(NOTHING)
        total += weight * np.array([does.get(move, 0.0) for move in game.menu(seat)])
        weight *= tau / (k + 1)
    return np.asarray(total / total.sum())


def _shape(game: LevelGame, seat: Seat, levels: Sequence[Odds]) -> Floats:
    """Return the move probabilities of each level, one row per level; a last row, which is uniform,
    represents random errors."""
    menu = game.menu(seat)
    rows = [[odds.get(move, 0.0) for move in menu] for odds in (*levels, evenly(menu))]
    return np.array(rows)


def _count_moves(game: LevelGame, seat: Seat, counts: Mapping[int, int]) -> Floats:
    if strange := set(counts) - set(game.menu(seat)):
        raise BadInput(f"{min(strange)} is not a move of this game")
    observed = np.array([counts.get(move, 0) for move in game.menu(seat)], dtype=float)
    if observed.sum() < 2 or observed.min() < 0:
        raise BadInput("a mixture of levels needs at least two observed choices")
    return observed


def _samples(observed: Floats, draws: int, seed: int) -> list[Floats]:
    """Return the observed counts, followed by bootstrap samples of the same size."""
    n = int(observed.sum())
    chance = Stream("level_k", "bootstrap", seed).generator()
    resampled = chance.multinomial(n, observed / n, size=draws).astype(float)
    return [observed, *resampled]


def _mixture(shape: Floats, observed: Floats) -> Floats:
    """Return the mixture weights of the rows of `shape`, by the EM algorithm (Dempster et al.
    1977)."""
    weights = np.full(len(shape), 1 / len(shape))
    for _ in range(MOST_ROUNDS):
        joint = weights[:, None] * shape
        total = joint.sum(axis=0)
        parts = joint / np.where(total > 0, total, 1.0)
        better = parts @ observed / observed.sum()
        still = float(np.abs(better - weights).max()) < STILL
        weights = better
        if still:
            break
    return weights


def _summary(weights: Floats) -> tuple[float, ...]:
    levels = weights[:-1]
    depth = float(levels @ np.arange(len(levels)) / levels.sum()) if levels.sum() else 0.0
    return (*map(float, weights), depth)


def _interval(column: Sequence[float], n: int) -> Estimate:
    """Return the first value as the estimate, with the central 95% of the other values as its
    interval."""
    low, high = np.quantile(column[1:], [0.025, 0.975])
    value = float(column[0])
    return Estimate(value, min(value, float(low)), max(value, float(high)), n, "bootstrap")
