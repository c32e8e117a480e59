"""Declared quoting rules, and optimal play against them by exact dynamic programming.

A rule is written in the seller's frame: its next ask follows from its last ask and the bid in that
round. A partner in the buyer's seat is the same rule with prices mirrored (p -> 100 - p) and its
value mirrored into a cost. Payoffs are averaged over the coin toss that rounds a midpoint price
ending in .5.

- Limit known: backward induction over (round, ask).
- Limit unknown: the rules are deterministic, so a belief is the set of costs that fit the past
  asks, with their prior weights. Every rule here quotes `max(floor of the cost, target)`, where the
  target does not depend on the cost; so after each ask, either one cost remains (its floor was
  quoted) or all costs up to some bound (the target was quoted). That makes the exact recursion a
  table over (round, target, bound).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sally.core.errors import BadInput
from sally.games.bargaining.values import HIGHEST, Family, Floats, other_odds

SIZE = HIGHEST + 1
SAME = 1e-9  # expected payoffs closer than this are equal
_ASKS, _BIDS = np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij")

Ints = npt.NDArray[np.int64]
Policy = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rule:
    """A quoting rule in the seller's frame."""

    start: int  # the first target
    next_targets: Ints  # [ask, bid]: the next target
    margin: int | None = None  # never below cost plus this; None: independent of the cost
    keep: float = 1.0  # the chance of quoting its target; else `slip` higher
    slip: int = 0

    def floor(self, cost: int) -> int:
        """Return the lowest price that the rule ever asks if its cost is `cost`."""
        return 0 if self.margin is None else max(0, min(HIGHEST, cost + self.margin))

    def first(self, cost: int) -> int:
        """Return the price that the rule asks in the first round if its cost is `cost`."""
        return max(self.floor(cost), self.start)

    def next_ask(self, cost: int, ask: int, bid: int) -> int:
        """Return the next ask, given the last ask and bid."""
        return max(self.floor(cost), int(self.next_targets[ask, bid]))

    def slipped_quote(self, ask: int) -> int:
        """Return the quote that replaces `ask` if the rule breaks its announcement."""
        return min(HIGHEST, ask + self.slip)


# --- the rules by name ----------------------------------------------------------------------------


def _price(name: str, number: int) -> int:
    if not (type(number) is int and 0 <= number <= HIGHEST):
        raise BadInput(f"{name} must be a whole number from 0 to {HIGHEST}, not {number!r}")
    return number


def _clip_prices(targets: npt.NDArray[Any]) -> Ints:
    table: Ints = np.clip(targets, 0, HIGHEST).astype(np.int64)
    table.flags.writeable = False
    return table


def constant(q: int = 50) -> Rule:
    """Quote q in every round, regardless of the player's own limit."""
    return Rule(_price("q", q), _clip_prices(_ASKS))


def truthful() -> Rule:
    """Quote the player's own limit."""
    return Rule(0, _clip_prices(_ASKS), margin=0)


def clock(start: int = 90, step: int = 3, margin: int = 2) -> Rule:
    """Concede `step` per round from `start`, down to the limit plus `margin`."""
    table = _clip_prices(_ASKS - _price("step", step))
    return Rule(_price("start", start), table, margin=_price("margin", margin))


def responsive(start: int = 80, down: int = 5, up: int = 2, margin: int = 5) -> Rule:
    """Ask `down` less after a round without a trade and `up` more after one with a trade."""
    moved = np.where(_BIDS >= _ASKS, _ASKS + _price("up", up), _ASKS - _price("down", down))
    return Rule(_price("start", start), _clip_prices(moved), margin=_price("margin", margin))


def splitter(start: int = 90, margin: int = 2) -> Rule:
    """Quote halfway between the last ask and the last bid; halves are rounded up."""
    moved = (_ASKS + _BIDS + 1) // 2
    return Rule(_price("start", start), _clip_prices(moved), margin=_price("margin", margin))


def grim(q: int = 65) -> Rule:
    """Quote q until a bid falls short of it, then 100 in every round."""
    is_met = (_price("q", q) == _ASKS) & (q <= _BIDS)
    moved = np.where(is_met, q, HIGHEST)
    return Rule(q, _clip_prices(moved))


def announcer(q: int = 50, keep: float = 1.0, slip: int = 10) -> Rule:
    """Announce q; quote q with probability `keep`, and q plus `slip` otherwise."""
    if not 0 <= keep <= 1:
        raise BadInput(f"keep must be from 0 to 1, not {keep}")
    price, table = _price("q", q), _clip_prices(np.full((SIZE, SIZE), q))
    return Rule(price, table, keep=float(keep), slip=_price("slip", slip))


def liar(shade: int = 15) -> Rule:
    """State a false limit that is `shade` better for the speaker than the true one, and quote this
    price."""
    return Rule(0, _clip_prices(_ASKS), margin=_price("shade", shade))


RULES: Mapping[str, Callable[..., Rule]] = {
    "constant": constant,
    "truthful": truthful,
    "clock": clock,
    "responsive": responsive,
    "splitter": splitter,
    "grim": grim,
    "announcer": announcer,
    "liar": liar,
}


@lru_cache(maxsize=256)
def _rule(name: str, params: tuple[tuple[str, Any], ...]) -> Rule:
    return RULES[name](**dict(params))


def rule_of(name: str, params: Mapping[str, Any] | None = None) -> Rule | None:
    """Return the declared rule of a partner; None if the partner declares none."""
    return _rule(name, tuple(sorted((params or {}).items()))) if name in RULES else None


def mirror_price(is_buyer: bool, price: int) -> int:
    """Convert a price or limit between a seat's own frame and the seller's frame, in either
    direction."""
    return HIGHEST - price if is_buyer else price


# --- limit known ----------------------------------------------------------------------------------


def _pays(rule: Rule, value: int) -> Floats:
    """Return the mean payoff of a round to a buyer with this value, indexed by [ask, bid]."""
    kept_payoffs = np.where(_BIDS >= _ASKS, value - (_BIDS + _ASKS) / 2, 0.0)
    if rule.keep >= 1:
        return kept_payoffs
    quoted = np.minimum(_ASKS + rule.slip, HIGHEST)
    broken = np.where(quoted <= _BIDS, value - (_BIDS + quoted) / 2, 0.0)
    return np.asarray(rule.keep * kept_payoffs + (1 - rule.keep) * broken)


@dataclass(frozen=True, eq=False)
class KnownLimitSolution:
    """The solution against a rule whose limit is known: the value of the remaining rounds, for each
    round and ask."""

    rule: Rule
    value: int  # of the player, in the buyer's frame
    cost: int  # of the rule, in the seller's frame
    remaining_values: Floats  # [round, ask] for the optimum; one more row of zeros at the end
    random: Floats  # [round, ask] for uniform quotes

    @property
    def rounds(self) -> int:
        return len(self.remaining_values) - 1

    @property
    def optimum(self) -> float:
        return float(self.remaining_values[0, self.rule.first(self.cost)])

    @property
    def random_worth(self) -> float:
        return float(self.random[0, self.rule.first(self.cost)])

    def bids(self, round: int, ask: int) -> Floats:
        """Return, for each bid, the value of a round (counted from 0) with this ask and of optimal
        play in the later rounds."""
        following = np.maximum(self.rule.floor(self.cost), self.rule.next_targets[ask])
        return np.asarray(
            _pays(self.rule, self.value)[ask] + self.remaining_values[round + 1][following]
        )

    def best_bid(self, round: int, ask: int) -> int:
        """Return the lowest of the best bids in a round (counted from 0) with this ask."""
        bid_values = self.bids(round, ask)
        return int(np.flatnonzero(bid_values >= bid_values.max() - SAME)[0])


@lru_cache(maxsize=1024)
def solve_known_limit(rule: Rule, value: int, cost: int, rounds: int) -> KnownLimitSolution:
    """Compute the buyer's best play against a seller that follows a quoting rule and whose lowest
    price is known, by backward induction."""
    pays = _pays(rule, value)
    following = np.maximum(rule.floor(cost), rule.next_targets)
    values, random = np.zeros((rounds + 1, SIZE)), np.zeros((rounds + 1, SIZE))
    for round_index in range(rounds - 1, -1, -1):
        values[round_index] = (pays + values[round_index + 1][following]).max(axis=1)
        random[round_index] = (pays + random[round_index + 1][following]).mean(axis=1)
    return KnownLimitSolution(rule, value, cost, values, random)


# --- limit unknown --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Unknown:
    """Optimal play against a rule whose limit is unknown but has a known prior."""

    rule: Rule
    value: int
    rounds: int
    weights: Floats  # by cost, summing to one
    remaining_values: (
        Floats  # [round, target, bound]: summed over the costs up to bound, prior-weighted
    )
    best: Ints  # [round, target, bound]: the lowest best bid

    @property
    def optimum(self) -> float:
        return float(self.remaining_values[0, self.rule.start, HIGHEST])

    def bid(self, past: Sequence[tuple[int, int]]) -> int:
        """Return the best bid after past rounds of (ask, bid); the lowest if several are best."""
        target, bound, cost = self.rule.start, HIGHEST, None
        for ask, bid in past:
            if cost is None and self.rule.margin is not None:
                if ask > target:
                    cost = ask - self.rule.margin
                else:
                    bound = min(bound, target - self.rule.margin)
            target = int(self.rule.next_targets[ask, bid])
        number = len(past)
        if cost is not None:
            solved = solve_known_limit(self.rule, self.value, cost, self.rounds)
            return solved.best_bid(number, max(self.rule.floor(cost), target))
        return int(self.best[number, target, max(bound, 0)])


def unknown(rule: Rule, value: int, prior: Mapping[int, float], rounds: int) -> Unknown:
    """Compute the buyer's exact best play against a seller that follows a quoting rule and whose
    cost is drawn from `prior` (weights by cost)."""
    weights = np.zeros(SIZE)
    for cost, weight in prior.items():
        weights[int(cost)] = weight
    if weights.min() < 0 or weights.sum() <= 0:
        raise BadInput(
            "the weights of a prior must be at least 0, and at least one must be above 0"
        )
    return _unknown(rule, value, tuple(float(w) for w in weights / weights.sum()), rounds)


def unknown_of(rule: Rule, is_buyer: bool, limit: int, family: Family, rounds: int) -> Unknown:
    """Solve for optimal play against the other seat's rule, given the player's seat and limit; the
    prior of the other seat's limit is that of the distribution `family`."""
    odds = other_odds(family, is_buyer, limit)
    costs = odds if is_buyer else odds[::-1]
    return _unknown(rule, mirror_price(not is_buyer, limit), tuple(map(float, costs)), rounds)


@lru_cache(maxsize=128)
def _unknown(rule: Rule, value: int, prior: tuple[float, ...], rounds: int) -> Unknown:
    if rule.margin is not None and rule.keep < 1:
        raise BadInput(
            "the exact belief cannot be computed for a rule that makes random errors and depends "
            "on its player's limit"
        )
    weights = np.array(prior)
    values = np.zeros((rounds + 1, SIZE, SIZE))
    best = np.zeros((rounds, SIZE, SIZE), dtype=np.int64)
    pays, next_targets = _pays(rule, value), rule.next_targets
    numbers = np.arange(SIZE)
    mass = np.cumsum(weights)
    # the costs whose ask is the target itself: all up to target - margin
    reached = numbers - rule.margin if rule.margin is not None else np.full(SIZE, HIGHEST)
    floors = np.array([rule.floor(cost) for cost in range(SIZE)])
    ahead = np.zeros((SIZE, rounds + 1, SIZE))  # [cost, round, ask]: value once the cost is known
    for cost in np.flatnonzero(weights) if rule.margin is not None else ():
        ahead[cost] = solve_known_limit(rule, value, int(cost), rounds).remaining_values
    # [target, bound]: the bound if the target is quoted
    stays = np.minimum(reached[:, None], numbers[None, :])
    none_below, staying = stays < 0, np.maximum(stays, 0)
    mass_shown = np.where(none_below, 0.0, mass[staying])
    above = np.maximum(stays, -1) + 1  # in a cumulative sum that begins with 0
    following = np.maximum(floors, next_targets[floors].T)  # [bid, cost]: the ask after the limit
    for number in range(rounds - 1, -1, -1):
        top = np.full((SIZE, SIZE), -np.inf)
        if rule.margin is not None:
            weighted = weights * (pays[floors].T + ahead[numbers, number + 1, following])
            summed = np.pad(np.cumsum(weighted, axis=1), ((0, 0), (1, 0)))
        for bid in range(SIZE):
            later = values[number + 1][next_targets[:, bid][:, None], staying]
            later[none_below] = 0.0
            total = pays[:, bid][:, None] * mass_shown + later
            if rule.margin is not None:
                total = total + summed[bid, 1:] - summed[bid][above]
            better = total > top + SAME
            top[better] = total[better]
            best[number][better] = bid
        values[number] = top
    return Unknown(rule, value, rounds, weights, values, best)
