"""Crafts are matched by exact amounts alone: whole runs, nothing more, nothing unrelated."""

from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.crafting import (
    Crafted,
    CraftFailure,
    CraftSuccess,
    cover,
    craft,
    most_times,
    prepare_recipes,
)
from sally.games.tradecraft.hands import Hand
from sally.games.tradecraft.rulesets import parse, shipped_ruleset

CORE = shipped_ruleset("minecraft_core")
TORN = parse(
    """
    name = "torn"
    [tags]
    any = ["x", "y", "z"]
    [fuel]
    x = 2
    y = 1
    coal = 1
    [cost]
    fire = "1/2"
    [recipes]
    plain = ["2 #any + x -> p", "x|y + y|z -> q"]
    fire = ["2 #any + x|y -> r"]
    """
)
RICH = Hand(
    {
        "oak_log": 9,
        "birch_log": 3,
        "coal": 2,
        "raw_iron": 5,
        "stick": 3,
        "cobblestone": 8,
        "birch_planks": 3,
        "oak_planks": 3,
        "stone": 3,
    }
)


def play(inputs: dict[str, Amount], output: str, amount: Amount = 1) -> Crafted:
    return craft(CORE, RICH, inputs, output, amount)


@pytest.mark.parametrize(
    ("inputs", "output", "amount"),
    [
        ({"coal": 1, "stick": 1}, "torch", 4),
        ({"coal": 2, "stick": 2}, "torch", 8),
        ({"oak_planks": 1, "birch_planks": 1}, "stick", 4),
        ({"oak_planks": F(1, 3), "birch_planks": F(5, 3)}, "stick", 4),
        ({"raw_iron": 1, "coal": F(1, 8)}, "iron_ingot", 1),
        ({"raw_iron": 3, "oak_planks": 2}, "iron_ingot", 3),
        ({"raw_iron": 2, "stick": 3, "coal": F(1, 16)}, "iron_ingot", 2),
        ({"oak_log": F(5, 3)}, "charcoal", 1),
        ({"oak_log": 1, "birch_log": F(2, 3)}, "charcoal", 1),
        ({"oak_log": 1, "coal": F(1, 8)}, "charcoal", 1),
        ({"stone": 1}, "stone_slab", 2),
    ],
)
def test_exact_craft_is_applied(inputs: dict[str, Amount], output: str, amount: int) -> None:
    done = play(inputs, output, amount)
    assert isinstance(done, CraftSuccess), done
    for item, used in inputs.items():
        assert RICH[item] - done.hand.get(item, 0) == used
    assert done.hand[output] - RICH.get(output, 0) == amount


@pytest.mark.parametrize(
    ("inputs", "output", "amount", "says"),
    [
        ({"coal": 1, "stick": 2}, "torch", 4, "do not come out exactly"),
        ({"coal": 1, "stick": 1, "stone": 1}, "torch", 4, "stone has no place"),
        ({"coal": 1}, "torch", 4, "lacks 1 stick"),
        ({"coal": 1, "stick": 1}, "torch", 3, "lots of 4"),
        ({"coal": 1, "stick": 1}, "torch", 6, "lots of 4"),
        ({"coal": F(1, 2), "stick": F(1, 2)}, "torch", 2, "lots of 4"),
        ({"coal": F(1, 4), "stick": F(1, 4)}, "torch", F(1, 2), "lots of 4"),
        ({"raw_iron": 1}, "iron_ingot", 1, "lacks fuel"),
        ({"raw_iron": 1, "coal": 1}, "iron_ingot", 1, "fuel do not come out"),
        ({"raw_iron": 1, "coal": F(1, 8), "stick": 1}, "iron_ingot", 1, "fuel do not come out"),
        ({"oak_log": 2}, "charcoal", 1, "fuel do not come out"),
        ({"cobblestone": 1, "coal": F(1, 8)}, "coal", 1, "has no place"),
        ({"stone": 1, "coal": F(1, 8)}, "stone_slab", 2, "coal has no place"),
        ({}, "torch", 4, "nothing does not make 4 torches"),
        ({"coal": 1}, "cobblestone", 1, "only come from a hand"),
        ({"coal": 1, "stick": 1}, "troch", 4, "did you mean torch?"),
        ({"kohle": 1}, "torch", 4, "is no item of minecraft_core"),
        ({"coal": 1, "stick": 1}, "torch", 0, "more than zero"),
        ({"coal": 1, "stick": 1}, "torch", -4, "more than zero"),
        ({"coal": -1, "stick": 1}, "torch", 4, "more than zero"),
        ({"coal": 1, "stick": 1, "stone": 0}, "torch", 4, "more than zero"),
    ],
)
def test_invalid_craft_is_refused_with_the_reason(
    inputs: dict[str, Amount], output: str, amount: Amount, says: str
) -> None:
    done = play(inputs, output, amount)
    assert isinstance(done, CraftFailure), done
    assert says in done.reason


def test_recipe_without_the_goods_is_refused() -> None:
    done = play({"coal": 3, "stick": 3}, "torch", 12)
    assert isinstance(done, CraftFailure)
    assert done.reason == "12 torches cannot be made: 3 coal would be needed, and the hand holds 2."


def test_campfire_and_stonecutter_burn_nothing() -> None:
    hand = Hand({"potato": 2, "coal": 1})
    assert isinstance(craft(CORE, hand, {"potato": 1}, "baked_potato", 1), CraftSuccess)
    assert isinstance(
        craft(CORE, hand, {"potato": 1, "coal": F(1, 8)}, "baked_potato", 1), CraftSuccess
    )


@pytest.mark.parametrize(
    ("fuel", "pieces"),
    [
        ("coal", F(1, 8)),
        ("charcoal", F(1, 8)),
        ("oak_planks", F(2, 3)),
        ("oak_log", F(2, 3)),
        ("stick", 2),
        ("white_wool", 2),
        ("oak_button", 2),
        ("bowl", 2),
        ("oak_slab", F(4, 3)),
        ("wooden_axe", 1),
        ("oak_sign", 1),
        ("oak_door", 1),
        ("oak_boat", F(1, 6)),
        ("blaze_rod", F(1, 12)),
        ("dried_kelp_block", F(1, 20)),
        ("coal_block", F(1, 80)),
        ("bamboo", 4),
        ("scaffolding", 4),
    ],
)
def test_fuel_burns_at_the_rates_of_the_protocol(fuel: str, pieces: Amount) -> None:
    hand = Hand({"sand": 1, fuel: 9})
    assert isinstance(craft(CORE, hand, {"sand": 1, fuel: pieces}, "glass", 1), CraftSuccess)
    assert isinstance(craft(CORE, hand, {"sand": 1, fuel: F(pieces) / 2}, "glass", 1), CraftFailure)


@pytest.mark.parametrize(
    ("inputs", "output", "fits"),
    [
        ({"x": 3}, "p", True),  # one good in both slots
        ({"x": 1, "y": F(1, 2), "z": F(3, 2)}, "p", True),
        ({"y": 3}, "p", False),  # nothing for the slot that takes x alone
        ({"x": 1, "z": 1}, "q", True),
        ({"y": 2}, "q", True),  # y serves both slots
        ({"x": 2}, "q", False),
        ({"x": F(1, 2), "y": 1, "z": F(1, 2)}, "q", True),
        # r takes 2 of x, y, z, 1 of x, y and half a fuel unit: an x holds 1/2, a y holds 1
        ({"x": 4}, "r", True),
        ({"y": F(7, 2)}, "r", True),
        ({"x": 2, "y": F(3, 2)}, "r", True),
        ({"x": F(8, 3), "y": 1}, "r", True),  # 2/3 left: of heat 1/3 as x, 2/3 as y, 1/2 mixed
        ({"x": F(7, 2)}, "r", False),
        ({"y": 4}, "r", False),
        ({"z": 2, "x": 2}, "r", True),
        ({"z": 2, "y": F(3, 2)}, "r", True),
        ({"z": 3, "coal": F(1, 2)}, "r", False),
        ({"z": 2, "x": F(3, 2), "y": F(1, 4)}, "r", True),
        ({"z": 2, "x": 1, "y": 1}, "r", True),  # y into the slot, x into the fire
        ({"z": 2, "x": 1, "y": F(1, 4)}, "r", False),
    ],
)
def test_goods_fitting_several_slots_are_matched_exactly(
    inputs: dict[str, Amount], output: str, fits: bool
) -> None:
    done = craft(TORN, Hand(inputs), inputs, output, 1)
    assert isinstance(done, CraftSuccess if fits else CraftFailure), done


goods_of_torn = st.dictionaries(
    st.sampled_from(["x", "y", "z", "coal"]),
    st.integers(1, 16).map(lambda n: F(n, 4)),
    min_size=1,
)


@given(goods_of_torn, st.sampled_from(["p", "q", "r"]))
@settings(max_examples=150, deadline=None)
def test_fast_check_agrees_with_linear_programming(inputs: dict[str, Amount], output: str) -> None:
    assert isinstance(craft(TORN, Hand(inputs), inputs, output, 1), CraftSuccess) == _by_linprog(
        inputs, output
    )


def _by_linprog(inputs: dict[str, Amount], output: str) -> bool:
    """An independent answer: unknowns are (good, slot) and (good, fire), all goods used up."""
    from scipy.optimize import linprog

    recipe = next(r for r in TORN.recipes if r.output == output)
    places = [(i, s) for i in inputs for s, slot in enumerate(recipe.slots) if i in slot.goods]
    places += [(i, -1) for i in inputs if recipe.fuel and i in TORN.heat]
    if not places:
        return False
    rows = [[float(i == item) for i, _ in places] for item in inputs]
    sums = [float(amount) for amount in inputs.values()]
    for number, slot in enumerate(recipe.slots):
        rows.append([float(s == number) for _, s in places])
        sums.append(float(slot.amount))
    rows.append([float(TORN.heat[i]) if s == -1 else 0.0 for i, s in places])
    sums.append(float(recipe.fuel))
    return bool(linprog([0.0] * len(places), A_eq=rows, b_eq=sums, method="highs").status == 0)


def test_worst_fuel_is_used_as_ingredient() -> None:
    rules = parse(
        'name="burn"\n[fuel]\nbark=4\nresin=1\n[cost]\nfire="1/2"\n'
        '[recipes]\nfire=["bark|resin -> tar"]'
    )
    for hand in (Hand({"resin": 1, "bark": 1}), Hand({"bark": 1, "resin": 1})):
        assert cover(prepare_recipes(rules)[0], 1, hand) == {"bark": 1, "resin": F(1, 2)}
        assert most_times(prepare_recipes(rules)[0], hand) == 1


hands = st.dictionaries(
    st.sampled_from(["oak_log", "birch_log", "coal", "oak_planks", "stick", "raw_iron", "sand"]),
    st.integers(1, 72).map(lambda n: F(n, 8)),
    min_size=1,
).map(Hand)


@given(hands, st.integers(0, len(CORE.recipes) - 1), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_inputs_covered_by_a_hand_always_craft(hand: Hand, number: int, runs: int) -> None:
    ready = prepare_recipes(CORE)[number]
    inputs = cover(ready, runs, hand)
    most = most_times(ready, hand)
    assert (inputs is not None) == (most >= runs)
    if inputs is not None:
        recipe = ready.recipe
        done = craft(CORE, hand, inputs, recipe.output, recipe.amount * runs)
        assert isinstance(done, CraftSuccess), done


@given(
    hands,
    st.dictionaries(
        st.sampled_from(["oak_log", "coal", "stick", "raw_iron", "nonsense", "oak_planks"]),
        st.integers(-1, 24).map(lambda n: F(n, 8)),
    ),
    st.sampled_from(["torch", "charcoal", "iron_ingot", "stick", "oak_planks", "nonsense"]),
    st.integers(-1, 8).map(lambda n: F(n, 2) if n % 2 else n // 2),
)
@settings(max_examples=150, deadline=None)
def test_goods_change_only_by_recipes_and_refusal_changes_nothing(
    hand: Hand, inputs: dict[str, Amount], output: str, amount: Amount
) -> None:
    hand_before = dict(hand)
    done = craft(CORE, hand, inputs, output, amount)
    assert dict(hand) == hand_before
    if isinstance(done, CraftSuccess):
        recipe = CORE.recipes[done.recipe]
        assert recipe.output == output
        assert recipe.amount * done.times == amount
        net = {item: done.hand.get(item, 0) - hand.get(item, 0) for item in {*hand, *done.hand}}
        expected = {item: -used for item, used in inputs.items()}
        expected[output] = expected.get(output, 0) + amount
        assert {i: n for i, n in net.items() if n} == {i: n for i, n in expected.items() if n}
        assert all(card > 0 for card in done.hand.values())
    else:
        assert done.reason.endswith((".", "?"))
