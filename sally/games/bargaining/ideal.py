"""The declared pool of bargaining, and exact Bayes-adaptive play against it.

The pool holds the six silent quoting rules with their default parameters, equally likely; the other
seat's limit is drawn from the prior of the value family, given the player's own limit. The rules
are deterministic, so the recursion over the rules and limits that fit the past asks is exact: with
one rule left it uses the table of `solver.Unknown`; several rules are told apart by their asks
after a few rounds. Everything here is in the seller's frame: the pool asks and the player bids.
Payoffs are averaged over the coin toss that rounds a midpoint price ending in .5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.bargaining.metrics import table
from sally.games.bargaining.rules import BUYER, Bargaining, other_seat
from sally.games.bargaining.solver import (
    SIZE,
    Rule,
    mirror_price,
    rule_of,
    solve_known_limit,
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

    def _asks(self, n: int, rule_state: QuoteState) -> Iterator[tuple[int, float, QuoteState]]:
        """Yield each ask that a rule may make, with its weight and the rule's state after it."""
        margin = self.rules[n].margin
        if rule_state.floor >= 0:
            yield (
                max(rule_state.floor, rule_state.target),
                float(self._by_floor[n][rule_state.floor]),
                rule_state,
            )
        elif margin is None:
            yield rule_state.target, 1.0, rule_state
        else:
            bound = min(rule_state.bound, rule_state.target - margin)
            if bound >= 0 and self.mass[bound] > 0:
                yield (
                    rule_state.target,
                    float(self.mass[bound]),
                    QuoteState(rule_state.target, bound),
                )
            for floor, highest in self.floors[n].items():
                if floor > rule_state.target and highest <= rule_state.bound:
                    weight = float(self._by_floor[n][floor])
                    yield floor, weight, QuoteState(rule_state.target, rule_state.bound, floor)

    def _makers_by_ask(self, belief: Belief) -> dict[int, list[tuple[int, float, QuoteState]]]:
        """Return, for each possible ask, the rules that would make this ask, with their weights
        and next states."""
        makers: dict[int, list[tuple[int, float, QuoteState]]] = {}
        for n, rule_state in enumerate(belief):
            for ask, weight, next_state in (
                self._asks(n, rule_state) if rule_state is not None else ()
            ):
                makers.setdefault(ask, []).append((n, weight, next_state))
        return makers

    def forecast(self, belief: Belief) -> Floats:
        """Return the ideal observer's probabilities of the next ask."""
        odds = np.zeros(SIZE)
        for ask, makers in self._makers_by_ask(belief).items():
            odds[ask] = sum(weight for _, weight, _ in makers)
        return np.asarray(odds / odds.sum())

    def update_belief(self, belief: Belief, own_bid: int, other_ask: int) -> Belief:
        """Return the belief after a round; an ask that no rule would make leaves it unchanged."""
        makers = self._makers_by_ask(belief).get(other_ask)
        return belief if makers is None else self._move_belief(makers, own_bid, other_ask)

    def _move_belief(
        self, makers: list[tuple[int, float, QuoteState]], own_bid: int, other_ask: int
    ) -> Belief:
        targets = (
            max(int(self.rules[n].next_targets[other_ask, own_bid]), s.floor) for n, _, s in makers
        )
        return self._belief_at(makers, targets)

    def _belief_at(
        self, makers: list[tuple[int, float, QuoteState]], targets: Iterable[int]
    ) -> Belief:
        """Return the belief in which the rules that made an ask have these targets next."""
        next_states: list[QuoteState | None] = [None] * len(self.rules)
        for (n, _, rule_state), target in zip(makers, targets, strict=True):
            next_states[n] = QuoteState(target, rule_state.bound, rule_state.floor)
        return tuple(next_states)

    def outcomes(self, belief: Belief, rounds_left: int) -> Floats:
        """Return the value of a round plus that of the later rounds, indexed by (own bid, ask)."""
        values = self.pay + (self.value(belief, rounds_left - 1) if rounds_left > 1 else 0.0)
        for ask, makers in self._makers_by_ask(belief).items() if rounds_left > 1 else ():
            values[:, ask] = self.pay[:, ask] + self._later(makers, ask, rounds_left - 1)
        return values

    def _later(
        self, makers: list[tuple[int, float, QuoteState]], ask: int, rounds_left: int
    ) -> Floats:
        """Return, for each bid, the value of the later rounds if the other seat makes this ask."""
        if len(makers) == 1:
            ((n, _, rule_state),) = makers
            return self._alone(n, rule_state, self.rules[n].next_targets[ask], rounds_left)
        targets_by_bid = zip(
            *(np.maximum(self.rules[n].next_targets[ask], s.floor).tolist() for n, _, s in makers),
            strict=True,
        )
        values: dict[tuple[int, ...], float] = {}  # many bids lead to the same targets
        later = np.empty(SIZE)
        for bid, targets in enumerate(targets_by_bid):
            if targets not in values:
                values[targets] = self.value(self._belief_at(makers, targets), rounds_left)
            later[bid] = values[targets]
        return later

    def _alone(
        self, n: int, rule_state: QuoteState, targets: Floats | int, rounds_left: int
    ) -> Floats:
        """Return the value of the remaining rounds against one rule, for each of the rule's
        possible next targets (`targets`)."""
        number, rule = self.rounds - rounds_left, self.rules[n]
        if rule_state.floor >= 0:
            cost = self.floors[n][rule_state.floor]
            solved = solve_known_limit(rule, self.value_of_unit, cost, self.rounds)
            return np.asarray(
                solved.remaining_values[number][np.maximum(rule_state.floor, targets)]
            )
        total_mass = 1.0 if rule.margin is None else float(self.mass[rule_state.bound])
        return np.asarray(
            self.plans[n].remaining_values[number][targets, rule_state.bound] / total_mass
        )

    def worths(self, belief: Belief, rounds_left: int) -> Floats:
        """Return the expected total payoff after each bid, with Bayes-adaptive play in the later
        rounds."""
        return np.asarray(self.outcomes(belief, rounds_left) @ self.forecast(belief))

    def value(self, belief: Belief, rounds_left: int) -> float:
        """Return the expected total payoff of Bayes-adaptive play over the remaining rounds."""
        fitting = [(n, rule_state) for n, rule_state in enumerate(belief) if rule_state is not None]
        if rounds_left == 0:
            return 0.0
        if len(fitting) == 1:
            ((n, rule_state),) = fitting
            return float(self._alone(n, rule_state, rule_state.target, rounds_left))
        if (belief, rounds_left) not in self._values:
            self._values[belief, rounds_left] = float(self.worths(belief, rounds_left).max())
        return self._values[belief, rounds_left]

    def gain(self, belief: Belief, own_bid: int, other_ask: int) -> float:
        """Return the payoff of a round, averaged over the coin toss that rounds a midpoint price
        ending in .5."""
        return float(self.pay[own_bid, other_ask])

    def known_value(self, place: int, rounds_left: int) -> float:
        """Return the optimal total payoff of the remaining rounds against a rule whose limit is
        known."""
        n, cost = divmod(place, SIZE)
        return solve_known_limit(self.rules[n], self.value_of_unit, cost, rounds_left).optimum

    def informed_value(self, rounds_left: int) -> float:
        """Return the expected total earnings of a player that knows the other seat's rule and limit
        from the start."""
        possible_costs = np.flatnonzero(self.costs).tolist()
        return sum(
            float(self.costs[c]) * self.known_value(n * SIZE + c, rounds_left) / len(self.rules)
            for n in range(len(self.rules))
            for c in possible_costs
        )


@lru_cache(maxsize=64)
def ideal_of(is_buyer: bool, limit: int, family: Family, rounds: int) -> RulePool:
    """Return the pool from the perspective of a player with this seat and limit."""
    odds = other_odds(family, is_buyer, limit)
    costs = odds if is_buyer else odds[::-1]
    rules = [rule for name in POOL if (rule := rule_of(name)) is not None]
    return RulePool(rules, mirror_price(not is_buyer, limit), tuple(map(float, costs)), rounds)


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return the rounds of an episode as a problem for the ideal observer; None if the partner does
    not belong to the declared pool."""
    game, seat_episode = played.replay.rules(Bargaining), table(played, seat)
    partner = played.episode.setup.lineup.get(str(other_seat(seat)))
    rule = pool_place("bargaining", [PlayerSpec(name) for name in POOL], partner)
    if seat_episode is None or rule is None or played.episode.payoffs is None:
        return None
    is_buyer = seat == BUYER
    forecasts: dict[int, int] = {
        len(played.replay.state(r.turn).past): r.value
        for r in played.replay.reports.values()
        if (r.seat, r.probe) == (seat, "their_quote") and isinstance(r.value, int)
    }
    seen_rounds = []
    for quoted in seat_episode.rounds:
        forecast = forecasts.get(quoted.number)
        odds = (
            None if forecast is None else tuple(np.eye(SIZE)[mirror_price(not is_buyer, forecast)])
        )
        own_quote, other_quote = (
            mirror_price(not is_buyer, price) for price in (quoted.own_quote, quoted.other_quote)
        )
        seen_rounds.append(SeenRound(own_quote, other_quote, odds))
    place = rule * SIZE + mirror_price(not is_buyer, seat_episode.their_limit)
    ideal = ideal_of(is_buyer, seat_episode.limit, game.family, game.rounds)
    return IdealProblem(ideal, place, tuple(seen_rounds))
