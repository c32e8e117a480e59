"""TradeCraft episodes as rows, and their analyses: beliefs, exchange rates, accepted offers.

Beliefs about values are compared with the other player's own report; decisions to accept or reject
are modelled by a fitted utility function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sally.core.log.events import Reported, Skipped
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.tradecraft.actions import ACCEPT, Answer, Propose, goods
from sally.games.tradecraft.rules import DECIDING, PROPOSING, State, TradeCraft
from sally.stats.agreement import label_scores, macro_f1

Floats = NDArray[np.float64]

SMOOTHING = 0.5


class Divergence(msgspec.Struct, frozen=True):
    """The distance between one player's belief about values and the values that the other
    reported."""

    kl: float  # KL(the other's report || the belief)
    reverse: float  # KL(the belief || the other's report)
    jensen_shannon: float
    items: int  # how many items both reported


def divergence(
    reported: Mapping[str, float], believed: Mapping[str, float], smoothing: float = SMOOTHING
) -> Divergence | None:
    """Return how far a player's reported values diverge from another player's belief about them.

    Only items in both reports are compared; the result is None if there are fewer than two.
    """
    shared_items = sorted(reported.keys() & believed.keys())
    if len(shared_items) < 2:
        return None  # a single item always has share 1, so there is nothing to compare
    p = _shares([reported[item] for item in shared_items], smoothing)
    q = _shares([believed[item] for item in shared_items], smoothing)
    return Divergence(
        kl=float(scipy.special.rel_entr(p, q).sum()),
        reverse=float(scipy.special.rel_entr(q, p).sum()),
        jensen_shannon=float(scipy.spatial.distance.jensenshannon(p, q) ** 2),
        items=len(shared_items),
    )


def _shares(values: Sequence[float], smoothing: float) -> Floats:
    raw = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(raw)) or np.any(raw < 0):
        raise ValueError("Reported values must be finite numbers of at least 0.")
    smooth = raw + smoothing
    return np.asarray(smooth / smooth.sum())


def goods_value(values: Mapping[str, float], goods: Mapping[str, int | Fraction]) -> float | None:
    """Return the total value of goods, weighted by amount; None if one of them was not valued."""
    if any(item not in values for item in goods):
        return None
    return float(sum(values[item] * float(amount) for item, amount in goods.items()))


class ExchangeRate(msgspec.Struct, frozen=True):
    """The relation between offered and requested value over many proposals."""

    r: float | None  # Pearson; None where one side never varies
    slope: float | None  # of offered on requested value
    intercept: float | None
    r_interval: tuple[float, float] | None
    slope_interval: tuple[float, float] | None
    proposals: int
    episodes: int
    undefined: int  # bootstrap draws in which slope or r did not exist


def exchange(
    requested: ArrayLike,
    offered: ArrayLike,
    episodes: Sequence[Any],
    *,
    seed: int,
    draws: int = 2000,
    level: float = 0.9,
) -> ExchangeRate:
    """Return the correlation of offered with requested value and the slope of offered on requested
    value, with intervals from a bootstrap that resamples episodes."""
    x, y = np.asarray(requested, np.float64), np.asarray(offered, np.float64)
    if not (x.shape == y.shape == (len(episodes),)):
        raise ValueError(
            "Give one requested value, one offered value and one episode per proposal."
        )
    if not len(x):  # no proposal was made
        return ExchangeRate(None, None, None, None, None, 0, 0, 0)
    names, episode_index = np.unique(np.asarray(episodes, dtype=str), return_inverse=True)
    # Sums by episode: a bootstrap draw is then one weighting of a small table.
    parts = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    sums = np.zeros((len(names), 6))
    np.add.at(sums, episode_index, parts)
    r, slope, intercept = _line(sums.sum(axis=0)[None, :])
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
    r_draws, slope_draws, _ = _line(weights @ sums)
    missing = int(np.sum(~(np.isfinite(r_draws) & np.isfinite(slope_draws))))
    return ExchangeRate(
        r=_finite_or_none(r[0]),
        slope=_finite_or_none(slope[0]),
        intercept=_finite_or_none(intercept[0]),
        r_interval=_middle(r_draws, level),
        slope_interval=_middle(slope_draws, level),
        proposals=len(x),
        episodes=len(names),
        undefined=missing,
    )


def _line(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Pearson r, slope and intercept from rows (n, x, y, xx, yy, xy); NaN if undefined."""
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        vx, vy, vxy = xx - x * x / n, yy - y * y / n, xy - x * y / n
        # A variance below rounding error counts as zero.
        vx = np.where(vx > 1e-12 * np.maximum(xx, 1), vx, np.nan)
        vy = np.where(vy > 1e-12 * np.maximum(yy, 1), vy, np.nan)
        slope = vxy / vx
        return vxy / np.sqrt(vx * vy), slope, (y - slope * x) / n


def _finite_or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _middle(draws: Floats, level: float) -> tuple[float, float] | None:
    """Return the central percentile interval of the defined draws."""
    defined = draws[np.isfinite(draws)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


STEP = 0.25  # the grid: 0 to 2 for rho, gamma and kappa, -2 to 2 for w1 and w2
FEATURES = ("G0", "L0", "G1", "L1", "G2", "L2")


class Weights(msgspec.Struct, frozen=True):
    """The weights of the utility function that explains accepted and rejected offers."""

    rho: float
    w1: float = 0.0
    gamma: float = 0.0
    w2: float = 0.0
    kappa: float = 0.0

    def vector(self, order: int) -> Floats:
        """Return the weights of the features up to this order of theory of mind: value received (G)
        and value given (L) at orders 0, 1 and 2."""
        full = [1, -self.rho, self.w1, -self.w1 * self.gamma, self.w2, -self.w2 * self.kappa]
        return np.array(full[: 2 * (order + 1)], dtype=np.float64)


class Fit(msgspec.Struct, frozen=True):
    """A fitted decision rule, and its accuracy on the decisions of held-out episodes."""

    order: int
    weights: Weights
    slope: float  # on the standardised utility
    intercept: float
    coefficients: dict[str, float]  # of each feature; absolute values sum to 1
    f1: tuple[float, ...]  # macro-F1 of each fold
    f1_mean: float
    decisions: int
    episodes: int


def fit_decisions(
    features: ArrayLike,
    accepted: ArrayLike,
    episodes: Sequence[Any],
    order: int,
    *,
    seed: int,
    folds: int = 3,
    step: float = STEP,
) -> Fit:
    """Fit the utility function up to this order of theory of mind.

    The columns are the value received (G) and the value given (L) at each order: G0, L0, then G1,
    L1, then G2, L2.
    """
    x, y, names, episode_index = _check_inputs(features, accepted, episodes, order, folds)
    place = np.random.default_rng(seed).permutation(len(names)) % folds
    scores = []
    for fold in range(folds):
        test = place[episode_index] == fold
        model = _train(x[~test], y[~test], order, step)
        guesses = _predict(model, x[test], order)
        f1 = macro_f1(label_scores(y[test].tolist(), guesses.tolist()).values())
        assert f1 is not None  # every fold has decisions
        scores.append(f1)
    weights, slope, intercept, _, sd = _train(x, y, order, step)
    raw = weights.vector(order) * slope / sd
    total = float(np.abs(raw).sum()) or 1.0
    return Fit(
        order=order,
        weights=weights,
        slope=slope,
        intercept=intercept,
        coefficients={name: float(c) / total for name, c in zip(FEATURES, raw, strict=False)},
        f1=tuple(scores),
        f1_mean=float(np.mean(scores)),
        decisions=len(y),
        episodes=len(names),
    )


def grid(order: int, step: float = STEP) -> Iterator[Weights]:
    """Yield every combination of weights, except combinations that differ only in a parameter
    without effect because its weight is 0."""
    upward = np.arange(0, 2 + step / 2, step)
    both_ways = np.arange(-2, 2 + step / 2, step)
    shares = [(float(w), float(g)) for w in both_ways for g in (upward if w else upward[:1])]
    firsts = shares if order >= 1 else [(0.0, 0.0)]
    seconds = shares if order >= 2 else [(0.0, 0.0)]
    for rho in upward:
        for w1, gamma in firsts:
            for w2, kappa in seconds:
                yield Weights(float(rho), w1, gamma, w2, kappa)


_Model = tuple[Weights, float, float, float, float]  # weights, slope, intercept, mean, sd


def _train(x: Floats, y: NDArray[np.bool_], order: int, step: float) -> _Model:
    """Return the weights of the utility function with the highest penalised likelihood, and the
    logistic curve that maps a trade's utility to the probability that it is accepted."""
    candidates = list(grid(order, step))
    vectors = np.stack([weights.vector(order) for weights in candidates])
    # Blocks follow the innermost loop of the grid, so the last block's curves start the next.
    block = len(candidates) // len(list(grid(order - 1, step))) if order else len(candidates)
    best, loss, curves = 0, np.inf, np.zeros((2, block))
    for start in range(0, len(vectors), block):
        losses, curves = _losses(x @ vectors[start : start + block].T, y, curves)
        best_index = int(np.argmin(losses))
        if losses[best_index] < loss - 1e-7:  # ties go to the earlier weights
            best, loss = start + best_index, float(losses[best_index])
    utility = x @ vectors[best]
    mean, sd = float(utility.mean()), float(utility.std()) or 1.0
    _, curve = _losses(utility[:, None], y, np.zeros((2, 1)))
    slope, intercept = map(float, curve[:, 0])
    return candidates[best], slope, intercept, mean, sd


def _losses(utilities: Floats, y: NDArray[np.bool_], curves: Floats) -> tuple[Floats, Floats]:
    """Return the minimal penalised loss for each column of utilities, and the slopes and
    intercepts.

    Newton's method reaches the same minimum as scipy's L-BFGS (the loss is convex), for many
    columns at once and some 300 times as fast: the grid of order 2 has 189,225 columns. A column
    whose utility never varies keeps slope 0.
    """
    u = utilities - utilities.mean(axis=0)
    sd = np.sqrt(np.einsum("ij,ij->j", u, u) / len(u))
    u /= np.where(sd > 0, sd, 1)
    uu, target = u * u, y.astype(np.float64)
    hits, n_accepted = target @ u, target.sum()
    slope, bias = curves
    for _ in range(50):
        p = scipy.special.expit(u * slope + bias)
        g_slope, g_bias = np.einsum("ij,ij->j", p, u) - hits + slope, p.sum(axis=0) - n_accepted
        p *= 1 - p
        a, b = np.einsum("ij,ij->j", p, uu) + 1, np.einsum("ij,ij->j", p, u)
        c = p.sum(axis=0) + 1e-12
        det = a * c - b * b
        step_slope = np.clip((c * g_slope - b * g_bias) / det, -3, 3)
        step_bias = np.clip((a * g_bias - b * g_slope) / det, -3, 3)
        slope, bias = slope - step_slope, bias - step_bias
        if max(np.abs(step_slope).max(), np.abs(step_bias).max()) < 1e-4:
            break
    z = u * slope + bias
    losses = np.logaddexp(0, z).sum(axis=0) - slope * hits - bias * n_accepted + slope**2 / 2
    return np.asarray(losses), np.stack([slope, bias])


def _predict(model: _Model, x: Floats, order: int) -> NDArray[np.bool_]:
    weights, slope, intercept, mean, sd = model
    z = slope * (x @ weights.vector(order) - mean) / sd + intercept
    return np.asarray(z > 0)


def _check_inputs(
    features: ArrayLike, accepted: ArrayLike, episodes: Sequence[Any], order: int, folds: int
) -> tuple[Floats, NDArray[np.bool_], NDArray[Any], NDArray[np.intp]]:
    """Return the inputs as arrays; raise ValueError if they are inconsistent or there are too
    few."""
    if order not in (0, 1, 2):
        raise ValueError(f"The order of a utility is 0, 1 or 2, not {order!r}.")
    x, y = np.asarray(features, np.float64), np.asarray(accepted, bool)
    columns = 2 * (order + 1)
    if x.ndim != 2 or x.shape[1] < columns or not (len(x) == len(y) == len(episodes)):
        raise ValueError(
            f"A utility of order {order} needs {columns} features, an answer and an episode for "
            "every decision."
        )
    x = x[:, :columns]
    if not np.all(np.isfinite(x)):
        raise ValueError("Features must be finite; leave out decisions with missing reports.")
    if y.all() or not y.any():
        raise ValueError("All decisions are the same; there is nothing to fit.")
    names, episode_index = np.unique(np.asarray(episodes, dtype=str), return_inverse=True)
    if len(names) < folds:
        raise ValueError(f"{folds} folds need at least {folds} episodes, not {len(names)}.")
    return x, y, names, episode_index


Values = Mapping[str, float]


class Trade(msgspec.Struct, frozen=True):
    """A valid proposal and its outcome; `accepted` is None if the answer was forfeited."""

    turn: int
    start: int  # the step at which the turn began and reports were asked
    proposer: Seat
    proposal: Propose
    accepted: bool | None


class BeliefDistance(msgspec.Struct, frozen=True):
    """The distance between a belief about another player's values and the values that player
    reported."""

    turn: int
    about: Seat
    divergence: Divergence


def starts(played: Played) -> dict[int, int]:
    """Return the step of the match at which each turn began."""
    steps_by_turn: dict[int, int] = {}
    for step, state in enumerate(played.replay.states):
        if state.phase == PROPOSING:
            steps_by_turn.setdefault(state.turn, step)
    return steps_by_turn


def trades(played: Played) -> Iterator[Trade]:
    """Yield every proposal that reached its addressee, in order."""
    begun, game = starts(played), played.replay.rules(TradeCraft)
    for step in played.replay.steps():
        state: State = step.before
        if state.phase != DECIDING or state.proposal is None:
            continue
        move = next(iter(step.moves.values()), None)
        accepted = move.answer == ACCEPT if isinstance(move, Answer) else None
        proposer = game.proposer(state.turn)
        yield Trade(state.turn, begun[state.turn], proposer, state.proposal, accepted)


def values(played: Played, step: int, seat: Seat, probe: str, about: str = "") -> Values | None:
    """Return a report of values, or None if there is none."""
    report = played.replay.report(step, seat, probe, about)
    return report.value if report is not None and isinstance(report.value, dict) else None


# --- beliefs ----------------------------------------------------------------------------------


def beliefs_apart(played: Played, seat: Seat, order: int = 1) -> list[BeliefDistance]:
    """Compare, turn by turn, what a seat believes about the other player with what that player
    reported.

    At order 1, the seat's V1 (belief about the other's values) is compared with the other's V0 (own
    values); at order 2, the seat's V2 (belief about the other's V1) with the other's V1.
    """
    distances = []
    for turn, step in starts(played).items():
        for other_seat in played.replay.game.seats:
            if other_seat == seat:
                continue
            about = "" if order == 1 else seat
            reported = values(played, step, other_seat, f"v{order - 1}", about)
            believed = values(played, step, seat, f"v{order}", other_seat)
            if reported is not None and believed is not None:
                distance = divergence(reported, believed)
                if distance is not None:
                    distances.append(BeliefDistance(turn, other_seat, distance))
    return distances


def mean_apart(played: Played, seat: Seat, measure: str, order: int = 1) -> float | None:
    """Return the mean of one divergence measure over an episode's turns."""
    measures = [float(getattr(a.divergence, measure)) for a in beliefs_apart(played, seat, order)]
    return sum(measures) / len(measures) if measures else None


def trend(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the least-squares slope through points; None if all have the same first coordinate."""
    if len({x for x, _ in points}) < 2:
        return None
    x, y = zip(*points, strict=True)
    return float(scipy.stats.linregress(x, y).slope)


# --- proposals --------------------------------------------------------------------------------


def price_proposals(played: Played, seat: Seat) -> list[tuple[float, float]]:
    """Return, for each proposal of a seat, the values of the requested and of the offered goods, by
    the seat's report of its own values (V0)."""
    prices = []
    for trade in trades(played):
        own_values = values(played, trade.start, seat, "v0") if trade.proposer == seat else None
        if own_values is None:
            continue
        requested_value = goods_value(own_values, goods(trade.proposal.request))
        offered_value = goods_value(own_values, goods(trade.proposal.offer))
        if requested_value is not None and offered_value is not None:
            prices.append((requested_value, offered_value))
    return prices


def exchange_of(
    plays: Iterable[tuple[Played, Seat]], *, seed: int, draws: int = 2000
) -> ExchangeRate:
    """Return the correlation of offered with requested value, and the slope of offered on requested
    value, over many episodes."""
    requested_values, offered_values, names = [], [], []
    for played, seat in plays:
        for request, offer in price_proposals(played, seat):
            requested_values.append(request)
            offered_values.append(offer)
            names.append(played.episode.id)
    return exchange(requested_values, offered_values, names, seed=seed, draws=draws)


# --- decisions --------------------------------------------------------------------------------


class DecisionTable(msgspec.Struct, frozen=True):
    """The decisions of many episodes as lists. Each row of features holds the value received and
    the value given at order 0, then at order 1, and so on: G0, L0, G1, L1, ..."""

    features: list[list[float]]
    accepted: list[bool]
    episodes: list[str]
    missing: int  # decisions without the reports they would be valued with


def decisions(plays: Iterable[tuple[Played, Seat]], order: int) -> DecisionTable:
    """Return the seats' decisions on trades, with the values that they reported at each order of
    belief up to `order`."""
    rows: list[list[float]] = []
    accepted: list[bool] = []
    names: list[str] = []
    missing = 0
    for played, seat in plays:
        for trade in trades(played):
            if trade.proposal.to != seat or trade.accepted is None:
                continue
            row = _features(played, seat, trade, order)
            if row is None:
                missing += 1
                continue
            rows.append(row)
            accepted.append(trade.accepted)
            names.append(played.episode.id)
    return DecisionTable(rows, accepted, names, missing)


def _features(played: Played, seat: Seat, trade: Trade, order: int) -> list[float] | None:
    """Return two features for each order of belief from 0 to `order`: the value of the goods
    received and of the goods given. None if a report is missing."""
    row: list[float] = []
    for k in range(order + 1):
        reported = values(played, trade.start, seat, f"v{k}", trade.proposer if k else "")
        gain = None if reported is None else goods_value(reported, goods(trade.proposal.offer))
        loss = None if reported is None else goods_value(reported, goods(trade.proposal.request))
        if gain is None or loss is None:
            return None
        row += [gain, loss]
    return row


# --- reports as reports -----------------------------------------------------------------------


class Reporting(msgspec.Struct, frozen=True):
    """How often a seat reported its values completely, partly, or not at all."""

    whole: int = 0
    partial: int = 0
    refused: int = 0

    @property
    def total(self) -> int:
        return self.whole + self.partial + self.refused


def reporting(played: Played, seat: Seat) -> Reporting:
    """Return the numbers of complete, partial and missing value reports of a seat."""
    complete = partial = refused = 0
    for event in played.episode.events:
        if not isinstance(event, Reported | Skipped) or event.seat != seat:
            continue
        if event.probe not in ("v0", "v1", "v2"):
            continue
        value = event.value if isinstance(event, Reported) else None
        if not isinstance(value, dict) or not value:
            refused += 1
        elif set(value) == set(played.replay.view(event.turn, seat).items):
            complete += 1
        else:
            partial += 1
    return Reporting(complete, partial, refused)
