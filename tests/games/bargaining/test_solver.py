"""Optimal play: the protocol's vectors, a brute-force check, and the certified set solved again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from typing import Any

import pytest

from benchmarks.problem_sets.bargaining import certify, make
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.games.bargaining.instances import ENOUGH, frozen
from sally.games.bargaining.partners import PARTNERS
from sally.games.bargaining.solver import RULES, rule_of, solve_known_limit, unknown, unknown_of

EVEN = range(68)
# partner, parameters, value, cost, rounds, optimum, lowest best first bid, uniform quotes: protocol
# `bargaining`, section 8 (computed there by another solver)
KNOWN: tuple[tuple[str, dict[str, int], int, int, int, float, int, float], ...] = (
    ("constant", {"q": 40}, 70, 30, 20, 600.0, 40, 181.188118812),
    ("constant", {"q": 80}, 70, 30, 20, 0.0, 0, -62.376237624),
    ("truthful", {}, 70, 30, 20, 800.0, 30, 316.336633663),
    ("clock", {"start": 90, "step": 3, "margin": 2}, 70, 30, 20, 247.0, 0, 35.643564356),
    ("clock", {"start": 60, "step": 1, "margin": 5}, 55, 20, 20, 105.0, 0, -73.811881188),
    ("responsive", {"start": 80, "down": 5, "up": 2, "margin": 5},
     70, 30, 20, 295.0, 0, 42.97833307),
    ("responsive", {"start": 80, "down": 5, "up": 5, "margin": 0},
     70, 30, 20, 250.0, 0, 1.068418342),
    ("responsive", {"start": 100, "down": 10, "up": 1, "margin": 3},
     90, 10, 20, 796.0, 0, 409.381711119),
    ("responsive", {"start": 60, "down": 2, "up": 4, "margin": 1},
     58, 40, 20, 78.0, 0, -100.326242458),
    ("responsive", {"start": 75, "down": 1, "up": 1, "margin": 0},
     74, 20, 20, 63.0, 0, -23.131369363),
    ("splitter", {"start": 90, "margin": 2}, 70, 30, 20, 684.0, 0, 73.254170416),
    ("splitter", {"start": 60, "margin": 5}, 55, 10, 20, 720.0, 0, -44.583813169),
    ("splitter", {"start": 100, "margin": 0}, 100, 0, 20, 1488.0, 0, 361.283086585),
    ("grim", {"q": 65}, 70, 30, 20, 100.0, 65, -7.555978673),
    ("grim", {"q": 75}, 70, 30, 20, 0.0, 0, -9.440594059),
)  # fmt: skip
UNKNOWN: tuple[tuple[str, dict[str, int], int, Mapping[int, float], int, float, int], ...] = (
    ("truthful", {}, 70, dict.fromkeys(EVEN, 1), 1, 24.536764706, 46),
    ("truthful", {}, 70, dict.fromkeys(EVEN, 1), 20, 718.036764706, 46),
    ("clock", {"start": 90, "step": 10, "margin": 0}, 70, dict.fromkeys(range(0, 65, 4), 1), 20,
     561.882352941, 0),
    ("responsive", {"start": 80, "down": 10, "up": 5, "margin": 0}, 70, {20: 1, 40: 1, 60: 1}, 8,
     68.333333333, 0),
    ("responsive", {"start": 70, "down": 5, "up": 10, "margin": 2}, 65, {10: 0.5, 50: 0.5}, 8, 30.5,
     0),
)  # fmt: skip


@pytest.mark.parametrize("row", KNOWN)
def test_vectors_with_the_limit_known(row: Any) -> None:
    partner, params, value, cost, rounds, optimum, first, random = row
    rule = rule_of(partner, params)
    assert rule is not None
    solution = solve_known_limit(rule, value, cost, rounds)
    assert solution.optimum == pytest.approx(optimum, abs=1e-8)
    assert solution.best_bid(0, rule.first(cost)) == first
    assert solution.random_worth == pytest.approx(random, abs=1e-8)


@pytest.mark.parametrize("row", UNKNOWN)
def test_vectors_with_the_limit_unknown(row: Any) -> None:
    partner, params, value, prior, rounds, optimum, first = row
    rule = rule_of(partner, params)
    assert rule is not None
    solution = unknown(rule, value, prior, rounds)
    assert solution.optimum == pytest.approx(optimum, abs=1e-8)
    assert solution.bid([]) == first


def test_solver_knows_all_declared_partners_with_their_defaults() -> None:
    for name in RULES:
        defaults, code = PARTNERS[name].params, RULES[name].__defaults__ or ()
        assert tuple(defaults.values()) == code


# --- another solver, from the protocol alone ------------------------------------------------------

Next = Callable[[int, int], int]


def _next(partner: str, p: Mapping[str, int], cost: int) -> tuple[int, Next]:
    """The first ask and the rule for the next, in plain Python."""
    floor = cost + p.get("margin", 0)
    if partner == "constant":
        return p["q"], lambda ask, bid: ask
    if partner == "truthful":
        return cost, lambda ask, bid: cost
    if partner == "clock":
        return max(p["start"], floor), lambda ask, bid: max(ask - p["step"], floor)
    if partner == "responsive":
        return max(p["start"], floor), lambda ask, bid: max(
            floor, min(100, ask + p["up"]) if bid >= ask else ask - p["down"]
        )
    if partner == "splitter":
        return max(p["start"], floor), lambda ask, bid: max(floor, -((-(ask + bid)) // 2))
    assert partner == "grim"
    return p["q"], lambda ask, bid: ask if bid >= p["q"] and ask == p["q"] else 100


def brute_known(partner: str, p: Mapping[str, int], value: int, cost: int, rounds: int) -> float:
    first, next_after = _next(partner, p, cost)

    @cache
    def worth(left: int, ask: int) -> float:
        if not left:
            return 0.0
        return max(
            (value - (bid + ask) / 2 if bid >= ask else 0.0) + worth(left - 1, next_after(ask, bid))
            for bid in range(101)
        )

    return worth(rounds, first)


def brute_unknown(
    partner: str, p: Mapping[str, int], value: int, prior: Mapping[int, float], rounds: int
) -> float:
    """The belief kept as the set of costs that fit, with the ask of each."""
    rules = {cost: _next(partner, p, cost) for cost in prior}
    mass = sum(prior.values())

    @cache
    def worth(left: int, asks: tuple[tuple[int, int], ...]) -> float:
        if not left:
            return 0.0
        best = float("-inf")
        for bid in range(101):
            total, numbers = 0.0, dict[int, list[int]]()
            for cost, ask in asks:
                total += prior[cost] / mass * (value - (bid + ask) / 2 if bid >= ask else 0.0)
                numbers.setdefault(ask, []).append(cost)
            for ask, costs in numbers.items():
                total += worth(left - 1, tuple((c, rules[c][1](ask, bid)) for c in costs))
            best = max(best, total)
        return best

    return worth(rounds, tuple((cost, rules[cost][0]) for cost in prior))


@pytest.mark.parametrize("row", KNOWN)
def test_brute_force_finds_the_same_optimum(row: Any) -> None:
    partner, params, value, cost, rounds, optimum, _, _ = row
    assert brute_known(partner, params, value, cost, rounds) == pytest.approx(optimum)


@pytest.mark.parametrize(
    ("partner", "params"),
    [
        ("splitter", {"start": 80, "margin": 3}),
        ("responsive", {"start": 60, "down": 9, "up": 7, "margin": 2}),
        ("clock", {"start": 60, "step": 20, "margin": 1}),
        ("truthful", {}),
        ("grim", {"q": 40}),
    ],
)
def test_brute_force_with_unknown_limit_finds_the_same_optimum(
    partner: str, params: dict[str, int]
) -> None:
    prior = {10: 1.0, 30: 2.0, 55: 1.0}
    rule = rule_of(partner, params)
    assert rule is not None
    solution = unknown(rule, 65, prior, 3)
    assert solution.optimum == pytest.approx(brute_unknown(partner, params, 65, prior, 3))


def _earned(
    rule: Any, bids: Callable[[list[tuple[int, int]]], int], v: int, c: int, n: int
) -> float:
    ask, past, total = rule.first(c), list[tuple[int, int]](), 0.0
    for _ in range(n):
        bid = bids(past)
        total += v - (bid + ask) / 2 if bid >= ask else 0.0
        past.append((ask, bid))
        ask = rule.next_ask(c, ask, bid)
    return total


@pytest.mark.parametrize(("partner", "params"), [(r[0], r[1]) for r in UNKNOWN[2:]])
def test_plan_earns_the_optimum_of_the_recursion(partner: str, params: dict[str, int]) -> None:
    """Playing the best bids against every cost of the prior earns the optimum on average."""
    rule, prior = rule_of(partner, params), {5: 1, 20: 2, 41: 1, 60: 1}
    assert rule is not None
    plan = unknown(rule, 70, prior, 6)
    earned = sum(w * _earned(rule, plan.bid, 70, c, 6) for c, w in prior.items())
    assert earned / sum(prior.values()) == pytest.approx(plan.optimum)


def test_knowing_the_limit_is_never_worth_less() -> None:
    rule = rule_of("responsive", {})
    assert rule is not None
    plan = unknown_of(rule, True, 60, "uniform", 20)
    informed = sum(
        float(w) * solve_known_limit(rule, 60, c, 20).optimum
        for c, w in enumerate(plan.weights)
        if w > 0
    )
    assert plan.optimum <= informed + 1e-9


def test_wrong_parameters_are_refused_with_one_message() -> None:
    for name, params in (
        ("constant", {"q": 101}),
        ("clock", {"step": -1}),
        ("announcer", {"keep": 2}),
    ):
        with pytest.raises(BadInput, match="must be"):
            rule_of(name, params)


# --- the certified set ----------------------------------------------------------------------------


def test_frozen_set_begins_with_the_problems_that_the_generator_draws_first() -> None:
    first_problems = [problem for problem in frozen().problems if int(problem.id.split("-")[2]) < 4]
    assert list(make(each=4).problems) == first_problems


def test_each_depth_and_seat_has_20_problems_and_several_partners() -> None:
    problems = frozen().problems
    assert len(problems) == 120 and len({p.id for p in problems}) == 120
    for depth, seat in product((0, 1, 2), ("buyer", "seller")):
        some_problems = [p for p in problems if (p.depth, p.seat) == (depth, seat)]
        assert len(some_problems) == 20
        assert len({p.partner for p in some_problems}) >= 2


def test_certificates_hold_by_brute_force() -> None:
    """Optimum and both lesser ways of play, recomputed without the solver of the game."""
    for problem in frozen().problems[::7]:
        value, cost = problem.value, problem.cost
        if problem.seat == "seller":
            value, cost = 100 - problem.cost, 100 - problem.value
        if problem.partner == "liar":
            first = min(100, cost + problem.params["shade"])
            optimum = 20 * max(0.0, value - first)
            held = followed = optimum
        else:
            first, rule = _next(problem.partner, problem.params, cost)
            optimum = brute_known(problem.partner, problem.params, value, cost, 20)
            held = max(_line(first, rule, value, lambda ask, b=b: b) for b in range(101))
            followed = _line(first, rule, value, lambda ask, v=value: ask if ask < v else 0)
        assert (problem.optimum, problem.held, problem.followed) == pytest.approx(
            (optimum, held, followed)
        )
        enough = [held >= ENOUGH * optimum, followed >= ENOUGH * optimum, True]
        assert enough.index(True) == problem.depth


def _line(ask: int, after: Next, value: int, bids: Callable[[int], int]) -> float:
    total = 0.0
    for _ in range(20):
        bid = bids(ask)
        total += value - (bid + ask) / 2 if bid >= ask else 0.0
        ask = after(ask, bid)
    return total


def test_problem_without_possible_gain_is_not_certified() -> None:
    assert certify("buyer", 70, 30, "grim", {"q": 75}) is None


def test_problem_is_an_instance_with_its_partner() -> None:
    first = frozen().problems[0]
    game = registry.game("bargaining").build(first.instance().params)
    assert game.payoffs(game.start()) == {"buyer": 0.0, "seller": 0.0}
    assert len(first.across) == 1 and first.seat not in first.across
