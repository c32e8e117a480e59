"""Nobody is blind for want of fuel: the solver against exhaustive search where goods burn."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from benchmarks.problem_sets.tradecraft import certify
from sally.core.errors import BadInput
from sally.games.tradecraft.amounts import Amount, plain
from sally.games.tradecraft.craft_plan import best_plan, replay
from sally.games.tradecraft.crafting import CraftSuccess, craft
from sally.games.tradecraft.hands import Hand, holds
from sally.games.tradecraft.instances import instance_set
from sally.games.tradecraft.partners import craft_plan, crafting
from sally.games.tradecraft.rulesets import Recipe, Ruleset, parse, shipped_ruleset
from sally.games.tradecraft.solver import trades_needed
from tests.games.tradecraft.table import P1, match_of

CORE = shipped_ruleset("minecraft_core")
QUARTER = Fraction(1, 4)


@pytest.mark.parametrize("string", [0, 3, 4, 8])
def test_plan_from_nuggets_does_not_depend_on_spare_string(string: int) -> None:
    hand = Hand({"iron_nugget": 27, "string": string})
    plan = best_plan(CORE, hand, {}, {"bucket": 1}, "crafts")
    assert plan is not None and len(plan.crafts) == 2
    assert holds(replay(CORE, hand, plan.crafts), {"bucket": 1})


def test_trader_with_nuggets_and_three_string_crafts_its_bucket() -> None:
    hands = ({"iron_nugget": 27, "string": 3}, {"cobblestone": 1})
    match = match_of(hands, ({"bucket": 1}, {"lever": 1}))
    view = match.game.observe(match.state, P1)
    assert craft_plan(CORE, view.hand, view.target) is not None
    assert type(crafting(view)).__name__ == "Craft"


def test_raw_iron_without_fuel_cannot_be_smelted() -> None:
    assert best_plan(CORE, Hand({"raw_iron": 9, "string": 3}), {}, {"bucket": 1}, "any") is None


# --- against exhaustive search --------------------------------------------------------------------


def rules_with_fire(rng: Random) -> Ruleset:
    """Five goods in a row, some recipes cold and some fired; what burns may have to be made."""
    items = "abcde"
    cold, fired = [], []
    for _ in range(4):
        low, high = sorted(rng.sample(range(5), 2))
        line = f"{rng.randint(1, 3)} {items[low]} -> {rng.randint(1, 2)} {items[high]}"
        (fired if rng.random() < 0.5 else cold).append(line)
    fuels = "\n".join(
        f"{i} = {rng.choice([1, 2, chr(34) + '1/2' + chr(34)])}" for i in rng.sample(items[:4], 2)
    )
    cold.append("3 z -> e")  # a way that needs no fire and that nobody can go
    return parse(
        f'name = "fire"\n[fuel]\n{fuels}\n[cost]\nfire = "1/2"\n'
        f"[recipes]\ncold = {cold}\nfire = {fired}"
    )


def burnt(rules: Ruleset, hand: Hand, units: Fraction) -> Iterator[dict[str, Amount]]:
    """Every way to burn so many fuel units in quarters of a piece."""
    fuels = [item for item in rules.heat if hand.get(item)]
    ranges = [range(int(Fraction(hand[item]) / QUARTER) + 1) for item in fuels]
    for steps in product(*ranges):
        lot = {i: QUARTER * n for i, n in zip(fuels, steps, strict=True) if n}
        if sum((rules.heat[i] * n for i, n in lot.items()), Fraction(0)) == units:
            yield dict(lot)


def one_craft(rules: Ruleset, hand: Hand, recipe: Recipe) -> Iterator[Hand]:
    for times in range(1, 13):
        inputs: dict[str, Amount] = {s.goods[0]: s.amount * times for s in recipe.slots}
        if any(hand.get(item, 0) < n for item, n in inputs.items()):
            return
        for fire in burnt(rules, hand, Fraction(recipe.fuel) * times) if recipe.fuel else ({},):
            lot = {i: plain(inputs.get(i, 0) + fire.get(i, 0)) for i in {**inputs, **fire}}
            done = craft(rules, hand, lot, recipe.output, recipe.amount * times)
            if isinstance(done, CraftSuccess):
                yield done.hand


def fewest(rules: Ruleset, hand: Hand, target: dict[str, int], limit: int = 4) -> int | None:
    level, visited = {hand}, {hand}
    for crafts in range(limit + 1):
        if any(holds(item, target) for item in level):
            return crafts
        level = {n for h in level for r in rules.recipes for n in one_craft(rules, h, r)} - visited
        visited |= level
    return None


@pytest.mark.parametrize("part", range(10))
def test_fuel_plans_equal_exhaustive_search_on_500_small_cases(part: int) -> None:
    reached = out_of_reach = 0
    for seed in range(50 * part, 50 * part + 50):
        rng = Random(seed)
        rules = rules_with_fire(rng)
        hand = Hand({item: rng.randint(1, 3) for item in rng.sample("abcd", 2)})
        target = {rng.choice("cde"): 1}
        plan = best_plan(rules, hand, {}, target, "crafts")
        result = fewest(rules, hand, target)
        if plan is None:
            assert result is None, (seed, rules.recipes, hand, target)
            out_of_reach += 1
            continue
        assert holds(replay(rules, hand, plan.crafts), target)
        assert result == len(plan.crafts), (seed, [r.text() for r in rules.recipes], hand, target)
        reached += 1
    assert reached > 5 and out_of_reach > 5


def test_plan_needs_as_many_trades_as_players_hold_its_goods() -> None:
    hands = [Hand({"stick": 1}), Hand({"coal": 1}), Hand({"cobblestone": 2, "coal": 1})]
    targets = [{"torch": 1}, {"lever": 1}, {"torch": 4}]
    seats = certify(CORE, hands, targets).seats
    assert trades_needed(hands, 0, seats[0]) == 1  # coal, from either
    assert trades_needed(hands, 1, seats[1]) == 2  # stick from one, cobblestone from another
    nothing = certify(CORE, hands, [{"bucket": 1}, *targets[1:]]).seats[0]
    assert trades_needed(hands, 0, nothing) is None
    for instance in instance_set("minecraft_core_2p_2").instances[:8]:
        numbers = [
            trades_needed(instance.hands, n, s) for n, s in enumerate(instance.certificate.seats)
        ]
        assert numbers == [1, 1]


def test_priming_of_goals_is_optional_and_named() -> None:
    pages = {
        name: match_of(priming=name).context(P1).words.rules(P1)
        for name in ("none", "cooperative", "competitive")
    }
    assert pages["none"] == match_of().context(P1).words.rules(P1)
    assert "all players reach their targets" in pages["cooperative"]
    assert "the others do not" in pages["competitive"]
    with pytest.raises(BadInput, match="priming"):
        match_of(priming="kind")
