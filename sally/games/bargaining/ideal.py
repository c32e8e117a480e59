"""The declared pool of bargaining, and exact Bayes-adaptive play against it.

The pool holds the six silent quoting rules with their default parameters, equally likely; the other
seat's limit is drawn from the prior of the value family, given the player's own limit. The rules
are deterministic, so the recursion over the rules and limits that fit the past asks is exact: with
one rule left it uses the table of `solver.Unknown`; several rules are told apart by their asks
after a few rounds. Everything here is in the seller's frame: the pool asks and the player bids.
Payoffs are averaged over the coin toss that rounds a midpoint price ending in .5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.bargaining.metrics import table
from sally.games.bargaining.rules import BUYER, Bargaining, other
from sally.games.bargaining.solver import (
    SIZE,
    Rule,
    known,
    mirrored,
    rule_of,
    unknown,
)
from sally.games.bargaining.values import HIGHEST, Family, Floats, other_odds
from sally.stats.ideal import IdealProblem, SeenRound, pool_place

POOL = ("constant", "truthful", "clock", "responsive", "splitter", "grim")


class QuoteState(NamedTuple):
    """The state of a quoting rule that fits the other seat's past asks: the price that it aims to
    ask next, and what is known about the lowest price that it ever asks."""

    target: int
    bound: int = HIGHEST  # the highest cost that fits, while the floor is not known
    floor: int = -1  # the lowest ask at its cost, once it was quoted


Belief = tuple[QuoteState | None, ...]  # by rule; None: it does not fit the past


class RulePool:
    """Inference and play against a pool of quoting rules with an unknown limit.

    Args:
        rules: The pool, each rule equally likely.
        value: The player's limit.
        costs: The probability of each limit of the other seat.
        rounds: The rounds of the game.
    """

    def __init__(
        self, rules: Sequence[Rule], value: int, costs: tuple[float, ...], rounds: int
    ) -> None:
        self.rules, self.value_of_unit, self.rounds = tuple(rules), value, rounds
        self.costs, self.mass = np.array(costs), np.cumsum(costs)
        bids, asks = np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij")
        self.pay: Floats = np.where(bids >= asks, value - (bids + asks) / 2, 0.0)
        prior = dict(enumerate(costs))
        self.plans = [unknown(rule, value, prior, rounds) for rule in rules]
        self.floors: list[dict[int, int]] = [  # by rule: floor -> the highest cost that has it
            {rule.floor(int(c)): int(c) for c in np.flatnonzero(self.costs)} for rule in rules
        ]
        self._by_floor = [
            np.bincount([r.floor(c) for c in range(SIZE)], self.costs, SIZE) for r in rules
        ]
        self._values: dict[tuple[Belief, int], float] = {}

    def start(self) -> Belief:
        """Return the belief before the first round."""
        return tuple(QuoteState(rule.start) for rule in self.rules)

    def _asks(self, n: int, at: QuoteState) -> Iterator[tuple[int, float, QuoteState]]:
        """Yield each ask that a rule may make, with its weight and the rule's state after it."""
        margin = self.rules[n].margin
        if at.floor >= 0:
            yield max(at.floor, at.target), float(self._by_floor[n][at.floor]), at
        elif margin is None:
            yield at.target, 1.0, at
        else:
            bound = min(at.bound, at.target - margin)
            if bound >= 0 and self.mass[bound] > 0:
                yield at.target, float(self.mass[bound]), QuoteState(at.target, bound)
            for floor, highest in self.floors[n].items():
                if floor > at.target and highest <= at.bound:
                    weight = float(self._by_floor[n][floor])
                    yield floor, weight, QuoteState(at.target, at.bound, floor)

    def _shown(self, belief: Belief) -> dict[int, list[tuple[int, float, QuoteState]]]:
        """Return, for each possible ask, the rules that would make this ask, with their weights
        and next states."""
        found: dict[int, list[tuple[int, float, QuoteState]]] = {}
        for n, at in enumerate(belief):
            for ask, weight, then in self._asks(n, at) if at is not None else ():
                found.setdefault(ask, []).append((n, weight, then))
        return found

    def forecast(self, belief: Belief) -> Floats:
        """Return the ideal observer's probabilities of the next ask."""
        odds = np.zeros(SIZE)
        for ask, makers in self._shown(belief).items():
            odds[ask] = sum(weight for _, weight, _ in makers)
        return np.asarray(odds / odds.sum())

    def after(self, belief: Belief, mine: int, theirs: int) -> Belief:
        """Return the belief after a round; an ask that no rule would make leaves it unchanged."""
        makers = self._shown(belief).get(theirs)
        return belief if makers is None else self._moved(makers, mine, theirs)

    def _moved(self, makers: list[tuple[int, float, QuoteState]], mine: int, theirs: int) -> Belief:
        then: list[QuoteState | None] = [None] * len(self.rules)
        for n, _, at in makers:
            target = int(self.rules[n].then[theirs, mine])
            then[n] = at._replace(target=max(target, at.floor))
        return tuple(then)

    def outcomes(self, belief: Belief, left: int) -> Floats:
        """Return the value of a round plus that of the later rounds, indexed by (own bid, ask)."""
        worth = self.pay + (self.value(belief, left - 1) if left > 1 else 0.0)
        for ask, makers in self._shown(belief).items() if left > 1 else ():
            worth[:, ask] = self.pay[:, ask] + self._later(makers, ask, left - 1)
        return worth

    def _later(self, makers: list[tuple[int, float, QuoteState]], ask: int, left: int) -> Floats:
        """Return, for each bid, the value of the later rounds if the other seat makes this ask."""
        if len(makers) == 1:
            ((n, _, at),) = makers
            return self._alone(n, at, self.rules[n].then[ask], left)
        return np.array([self.value(self._moved(makers, bid, ask), left) for bid in range(SIZE)])

    def _alone(self, n: int, at: QuoteState, targets: Floats | int, left: int) -> Floats:
        """Return the value of the remaining rounds against one rule, for each of the rule's
        possible next targets (`targets`)."""
        number, rule = self.rounds - left, self.rules[n]
        if at.floor >= 0:
            cost = self.floors[n][at.floor]
            solved = known(rule, self.value_of_unit, cost, self.rounds)
            return np.asarray(solved.worth[number][np.maximum(at.floor, targets)])
        whole = 1.0 if rule.margin is None else float(self.mass[at.bound])
        return np.asarray(self.plans[n].worth[number][targets, at.bound] / whole)

    def worths(self, belief: Belief, left: int) -> Floats:
        """Return the expected total payoff after each bid, with Bayes-adaptive play in the later
        rounds."""
        return np.asarray(self.outcomes(belief, left) @ self.forecast(belief))

    def value(self, belief: Belief, left: int) -> float:
        """Return the expected total payoff of Bayes-adaptive play over the remaining rounds."""
        fitting = [(n, at) for n, at in enumerate(belief) if at is not None]
        if left == 0:
            return 0.0
        if len(fitting) == 1:
            ((n, at),) = fitting
            return float(self._alone(n, at, at.target, left))
        if (belief, left) not in self._values:
            self._values[belief, left] = float(self.worths(belief, left).max())
        return self._values[belief, left]

    def gain(self, belief: Belief, mine: int, theirs: int) -> float:
        """Return the payoff of a round, averaged over the coin toss that rounds a midpoint price
        ending in .5."""
        return float(self.pay[mine, theirs])

    def known_value(self, place: int, left: int) -> float:
        """Return the optimal total payoff of the remaining rounds against a rule whose limit is
        known."""
        n, cost = divmod(place, SIZE)
        return known(self.rules[n], self.value_of_unit, cost, left).optimum

    def informed(self, left: int) -> float:
        """Return the expected total earnings of a player that knows the other seat's rule and limit
        from the start."""
        there = np.flatnonzero(self.costs).tolist()
        return sum(
            float(self.costs[c]) * self.known_value(n * SIZE + c, left) / len(self.rules)
            for n in range(len(self.rules))
            for c in there
        )


@lru_cache(maxsize=64)
def ideal_of(is_buyer: bool, limit: int, family: Family, rounds: int) -> RulePool:
    """Return the pool from the perspective of a player with this seat and limit."""
    odds = other_odds(family, is_buyer, limit)
    costs = odds if is_buyer else odds[::-1]
    rules = [rule for name in POOL if (rule := rule_of(name)) is not None]
    return RulePool(rules, mirrored(not is_buyer, limit), tuple(map(float, costs)), rounds)


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return the rounds of an episode as a problem for the ideal observer; None if the partner does
    not belong to the declared pool."""
    game, at = played.replay.rules(Bargaining), table(played, seat)
    who = played.episode.setup.lineup.get(str(other(seat)))
    rule = pool_place("bargaining", [PlayerSpec(name) for name in POOL], who)
    if at is None or rule is None or played.episode.payoffs is None:
        return None
    is_buyer = seat == BUYER
    said: dict[int, int] = {
        len(played.replay.state(r.turn).past): r.value
        for r in played.replay.reports.values()
        if (r.seat, r.probe) == (seat, "their_quote") and isinstance(r.value, int)
    }
    seen = []
    for one in at.rounds:
        told = said.get(one.number)
        odds = None if told is None else tuple(np.eye(SIZE)[mirrored(not is_buyer, told)])
        mine, theirs = (mirrored(not is_buyer, price) for price in (one.mine, one.theirs))
        seen.append(SeenRound(mine, theirs, odds))
    place = rule * SIZE + mirrored(not is_buyer, at.their_limit)
    ideal = ideal_of(is_buyer, at.limit, game.family, game.rounds)
    return IdealProblem(ideal, place, tuple(seen))
