"""The craft phase as an integer programme, and its solutions as lists of crafts with exact amounts.

Each recipe is run a whole number of times; the goods that fill a slot or are burnt can be any
rational amount. The programme first ignores the order of crafts. This only adds solutions, so if it
finds none, none exists, and otherwise its minimum is a lower bound. A solution is then ordered and
replayed with the exact crafting rules. If it has no valid order, crafts are placed in rounds that
use only goods left by earlier rounds. If even that does not reach the minimum, and only a few runs
of recipes are possible, the programme is solved once more with as many rounds as runs. Otherwise
`Undecided` is raised instead of returning a guess. All coefficients are small whole numbers, so
that the results are far from the tolerances of the solver HiGHS.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import msgspec

from sally.games.tradecraft.amounts import Amount, plain, read_amount
from sally.games.tradecraft.crafting import CraftSuccess, craft
from sally.games.tradecraft.hands import Hand, exchange_goods, holds, union
from sally.games.tradecraft.relevance import Relevant, relevant
from sally.games.tradecraft.rulesets import Recipe, Ruleset

_MOST_ROUNDS = 6
_MOST_RUNS_IN_ORDER = 24  # with at most this many runs in all, one round per run decides
_LEAST_RUNS = 1e-4  # a small price on runs that breaks ties and avoids useless conversions

Aim = Literal["any", "crafts", "goods"]


class Undecided(RuntimeError):
    """Raised if the solver can neither find an ordered plan nor rule one out."""


class Craft(msgspec.Struct, frozen=True):
    """One craft action with its exact amounts as text."""

    inputs: dict[str, str]
    output: str
    amount: int


class Plan(msgspec.Struct, frozen=True):
    """A plan: goods to take from others, then crafts to make."""

    goods_taken: dict[str, int]
    crafts: tuple[Craft, ...]


def replay(rules: Ruleset, hand: Hand, crafts: tuple[Craft, ...]) -> Hand:
    """Return the hand after all crafts by the exact rules; raise ValueError if one is refused."""
    for step in crafts:
        inputs = {item: read_amount(amount) for item, amount in step.inputs.items()}
        done = craft(rules, hand, inputs, step.output, step.amount)
        if not isinstance(done, CraftSuccess):
            raise ValueError(done.reason)
        hand = done.hand
    return hand


def best_plan(
    rules: Ruleset,
    own_goods: Mapping[str, Amount],
    others: Mapping[str, Amount],
    target: Mapping[str, Amount],
    aim: Aim,
    prune: bool = True,
) -> Plan | None:
    """Return a plan that reaches the target, or None if no plan does.

    The aim "crafts" minimises the number of crafts. The aim "goods" minimises the number of units
    taken from other players and then the number of kinds of goods taken from them. The aim "any"
    has no preference. Without `prune`, the programme contains every reachable recipe.
    """
    useful = relevant(rules, union((own_goods, others)), frozenset(target), prune)
    if useful is None:
        return None
    programme = _Programme(rules, useful, own_goods, others, target, aim)
    relaxed = programme.solve(rounds=None)
    if relaxed is None:
        return None
    plan = _order_crafts(rules, relaxed, own_goods, others, target)
    rounds = 2
    while plan is None and rounds <= _MOST_ROUNDS:
        answer = programme.solve(rounds)
        if answer is not None and (
            answer.value == relaxed.value
            # v crafts are the fewest: v - 1 of them would have fitted into these rounds.
            or (aim == "crafts" and answer.value <= rounds + 1)
        ):
            plan = _order_crafts(rules, answer, own_goods, others, target)
        rounds += 1
    if plan is None and 0 < sum(useful.run_limits) <= _MOST_RUNS_IN_ORDER:
        answer = programme.solve(
            sum(useful.run_limits)
        )  # every order there is fits into these rounds
        if answer is None:
            return None
        plan = _order_crafts(rules, answer, own_goods, others, target)
    if plan is None:
        raise Undecided(
            f"The search found no order of crafts for {dict(target)}, and did not prove that there "
            "is none."
        )
    return plan


_Choices = list[tuple[int, tuple[str, ...]]]  # for each slot its amount and the goods in reach


class _Run(NamedTuple):
    recipe: Recipe
    times: int
    slots: _Choices


class _Round(msgspec.Struct):
    """One round of a plan: runs of recipes, and the goods reserved for slots and fuel."""

    runs: list[_Run]
    slots: dict[tuple[str, ...], dict[str, Amount]]
    fire: dict[str, Amount]


class _Answer(msgspec.Struct):
    value: int
    goods_taken: dict[str, int]
    rounds: list[_Round]


class _Programme:
    """The integer programme for one planning problem, with named rows and columns."""

    def __init__(
        self,
        rules: Ruleset,
        useful: Relevant,
        own_goods: Mapping[str, Amount],
        others: Mapping[str, Amount],
        target: Mapping[str, Amount],
        aim: Aim,
    ) -> None:
        self.recipes, self.most, self.items = useful.recipes, useful.run_limits, useful.items
        self.own, self.others, self.target, self.aim = own_goods, others, target, aim
        # Fuel in whole numbers: every heat and every cost times one common denominator.
        parts = [rules.heat[i].denominator for i in rules.heat if i in self.items]
        scale = math.lcm(*parts, *(recipe.fuel.denominator for recipe in self.recipes))
        self.cost = [int(recipe.fuel * scale) for recipe in self.recipes]
        heat = rules.heat if any(self.cost) else {}
        self.heat = {i: int(h * scale) for i, h in heat.items() if i in self.items}
        self.kinds = sorted(item for item in others if item in self.items)
        self.choices: list[_Choices] = [
            [
                (slot.amount, tuple(item for item in slot.goods if item in self.items))
                for slot in recipe.slots
            ]
            for recipe in self.recipes
        ]
        flexible = {goods for slots in self.choices for _, goods in slots if len(goods) > 1}
        self.flexible = sorted(flexible)

    def solve(self, rounds: int | None) -> _Answer | None:
        """Return the best plan with `rounds` rounds of crafts; with None, the order of the crafts
        is ignored."""
        import numpy as np
        from scipy.optimize import Bounds, LinearConstraint, milp  # heavy; only a plan needs it

        columns = list(self._columns(rounds or 1))
        if not columns:  # nothing to do: the hand stays as it is
            ready = holds(Hand(self.own), self.target)
            return _Answer(0, {}, []) if ready else None
        place = {name: number for number, (name, *_) in enumerate(columns)}
        rows = list(self._rows(rounds))
        table = np.zeros((len(rows), len(columns)))
        for number, (terms, _, _) in enumerate(rows):
            for name, factor in terms:
                table[number, place[name]] += factor
        solution = milp(
            np.array([price for *_, price in columns]),
            integrality=np.array([int(is_integer) for _, _, is_integer, _ in columns]),
            bounds=Bounds(0, np.array([upper_bound for _, upper_bound, _, _ in columns])),
            constraints=LinearConstraint(
                table, np.array([low for _, low, _ in rows]), np.array([high for *_, high in rows])
            ),
            options={"mip_rel_gap": 0},
        )
        if solution.status == 2:
            return None
        if solution.status != 0 or solution.x is None or solution.fun is None:
            raise Undecided(f"The integer programme did not finish: {solution.message}")
        return self._read(place, solution.x, round(float(solution.fun)), rounds or 1)

    def _columns(self, rounds: int) -> Iterator[tuple[Any, float, bool, float]]:
        """Yield every variable of the programme as (name, upper bound, whether it is an integer,
        price)."""
        for item in self.kinds:
            price = len(self.kinds) + 1 if self.aim == "goods" else 0
            yield ("take", item), float(self.others[item]), True, price
            if self.aim == "goods":
                yield ("kind", item), 1, True, 1
        for t in range(rounds):
            for r, max_runs in enumerate(self.most):
                yield ("run", t, r), max_runs, True, _LEAST_RUNS
                if self.aim == "crafts":
                    yield ("used", t, r), 1, True, 1
            for goods in self.flexible:
                for item in goods:
                    yield ("fill", t, goods, item), math.inf, False, 0
            for item in self.heat:
                yield ("burn", t, item), math.inf, False, 0

    def _rows(self, rounds: int | None) -> Iterator[tuple[list[tuple[Any, float]], float, float]]:
        """Yield every constraint as (terms, lower bound, upper bound)."""
        for item in self.kinds if self.aim == "goods" else ():
            available = float(self.others[item])
            yield [(("kind", item), available), (("take", item), -1)], 0, math.inf
        for t in range(rounds or 1):
            if self.aim == "crafts":
                for r, most_runs in enumerate(self.most):
                    yield [(("used", t, r), most_runs), (("run", t, r), -1)], 0, math.inf
            for goods in self.flexible:
                terms: list[tuple[Any, float]] = [(("fill", t, goods, i), 1) for i in goods]
                for r, slots in enumerate(self.choices):
                    terms += [(("run", t, r), -n) for n, fit in slots if fit == goods]
                yield terms, 0, 0
            if any(self.cost):  # without fuel in reach this excludes recipes that need some
                terms = [(("burn", t, item), heat) for item, heat in self.heat.items()]
                yield terms + [(("run", t, r), -c) for r, c in enumerate(self.cost)], 0, 0
        for item in sorted(self.items):
            have = -float(self.own.get(item, 0))
            flow: list[tuple[Any, float]] = [(("take", item), 1)] if item in self.kinds else []
            for t in range(rounds or 1):
                spent = self._spent(item, t)
                if rounds:  # a round uses only what was there before it
                    yield flow + spent, have, math.inf
                output_runs = [
                    (r, e.amount) for r, e in enumerate(self.recipes) if e.output == item
                ]
                flow = flow + spent + [(("run", t, r), n) for r, n in output_runs]
            yield flow, have + float(self.target.get(item, 0)), math.inf

    def _spent(self, item: str, t: int) -> list[tuple[Any, float]]:
        terms: list[tuple[Any, float]] = [(("burn", t, item), -1)] if item in self.heat else []
        terms += [(("fill", t, goods, item), -1) for goods in self.flexible if item in goods]
        for r, slots in enumerate(self.choices):
            terms += [(("run", t, r), -n) for n, goods in slots if goods == (item,)]
        return terms

    def _read(self, columns: dict[Any, int], x: Any, value: int, rounds: int) -> _Answer:
        taken_goods: dict[str, int] = {}
        read = [_Round([], {goods: {} for goods in self.flexible}, {}) for _ in range(rounds)]
        for name, number in columns.items():
            # The corners of these polytopes have small denominators; the replay is the judge.
            amount = plain(Fraction(float(x[number])).limit_denominator(5000))
            match name:
                case ("take", item) if amount:
                    taken_goods[item] = int(amount)
                case ("run", t, r) if amount:
                    read[t].runs.append(_Run(self.recipes[r], int(amount), self.choices[r]))
                case ("fill", t, goods, item) if amount > 0:
                    read[t].slots[goods][item] = amount
                case ("burn", t, item) if amount > 0:
                    read[t].fire[item] = amount
        return _Answer(value, taken_goods, read)


def _order_crafts(
    rules: Ruleset,
    answer: _Answer,
    own_goods: Mapping[str, Amount],
    others: Mapping[str, Amount],
    target: Mapping[str, Amount],
) -> Plan | None:
    """Return the solution as crafts that the exact rules accept; None if no order works."""
    if not holds(Hand(others), answer.goods_taken):
        return None
    hand = exchange_goods(Hand(own_goods), {}, answer.goods_taken)
    crafts: tuple[Craft, ...] = ()
    for budget in answer.rounds:
        round_crafts = _in_order(rules, hand, budget)
        if round_crafts is None:
            return None
        crafts += round_crafts
        hand = replay(rules, hand, round_crafts)
    return Plan(answer.goods_taken, crafts) if holds(hand, target) else None


def _in_order(rules: Ruleset, hand: Hand, budget: _Round) -> tuple[Craft, ...] | None:
    """Return the crafts of one round of a plan in a possible order: each is made as soon as the
    hand has the goods for it. None if the hand never has the goods for one of them."""
    crafts: list[Craft] = []
    waiting = budget.runs
    while waiting:
        for run in waiting:
            inputs = _draw_inputs(rules, hand, budget, run)
            if inputs is None:
                continue
            output, amount = run.recipe.output, run.recipe.amount * run.times
            done = craft(rules, hand, inputs, output, amount)
            if not isinstance(done, CraftSuccess):
                return None
            hand = done.hand
            crafts.append(Craft({i: str(n) for i, n in inputs.items()}, output, amount))
            waiting = [waiting_run for waiting_run in waiting if waiting_run is not run]
            break
        else:
            return None
    return tuple(crafts)


def _draw_inputs(rules: Ruleset, hand: Hand, budget: _Round, run: _Run) -> dict[str, Amount] | None:
    """Return inputs for one craft, taken from the reserved goods; None if there are too few."""
    stock = dict(hand.goods)
    registries = {goods: dict(budget.slots[goods]) for _, goods in run.slots if len(goods) > 1}
    fire = dict(budget.fire)
    inputs: dict[str, Amount] = {}

    def draw(item: str, limit: Amount) -> Amount:
        part = min(limit, stock.get(item, 0))
        if part > 0:
            stock[item] -= part
            inputs[item] = plain(inputs.get(item, 0) + part)
        return part

    for amount, goods in run.slots:
        lack: Amount = amount * run.times
        parts = registries.get(goods) or {goods[0]: lack}
        for item in parts:
            part = draw(item, min(lack, parts[item]))
            parts[item] -= part
            lack -= part
        if lack > 0:
            return None
    lack = run.recipe.fuel * run.times
    for item in fire if lack else ():
        part = draw(item, min(fire[item], Fraction(lack) / rules.heat[item]))
        fire[item] -= part
        lack -= part * rules.heat[item]
    if lack > 0:
        return None
    budget.slots.update(registries)
    budget.fire = fire
    return inputs
