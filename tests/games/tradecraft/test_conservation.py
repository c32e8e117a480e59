"""Whole phases of trades and crafts: goods come and go by recipes and flooring alone."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from sally.games.tradecraft.amounts import Amount, BadAmount
from sally.games.tradecraft.crafting import CraftSuccess, cover, craft, prepare_recipes
from sally.games.tradecraft.hands import Hand, round_down, trade_hands, union
from sally.games.tradecraft.rulesets import Ruleset, shipped_ruleset
from sally.games.tradecraft.tools import runnable

START = (
    {"oak_log": 6, "coal": 2, "raw_iron": 9, "cobblestone": 9, "redstone": 3, "bamboo": 7},
    {"birch_log": 4, "sand": 5, "iron_ingot": 7, "wheat": 9, "stick": 5, "charcoal": 1},
)


def _some(hand: Hand, rng: Random) -> dict[str, Amount]:
    """Goods that the hand may or may not hold."""
    if hand and rng.random() < 0.4:
        item = rng.choice(sorted(hand))
        return {item: Fraction(hand[item]) / rng.choice((1, 2))}
    items = [*hand, "oak_log", "nonsense"]
    chosen = rng.sample(items, min(len(items), rng.randint(0, 3)))
    return {item: Fraction(rng.randint(-1, 12), rng.choice((1, 1, 2, 3))) for item in chosen}


def _try_trade(hands: list[Hand], rng: Random) -> bool:
    offer, request = _some(hands[0], rng), _some(hands[1], rng)
    hands_before, kept_hands = [dict(hand) for hand in hands], list(hands)
    try:
        hands[:] = trade_hands(hands[0], hands[1], offer, request)
    except BadAmount:
        assert hands == kept_hands
        return False
    finally:
        assert [dict(hand) for hand in kept_hands] == hands_before
    return True


def _try_craft(rules: Ruleset, hand: Hand, rng: Random) -> CraftSuccess | None:
    """A craft that is mostly right and sometimes spoilt by a little."""
    choices = runnable(rules, hand)
    if not choices:
        return None
    recipe = prepare_recipes(rules)[choices[rng.randrange(len(choices))]]
    runs = rng.randint(1, 2)
    inputs = cover(recipe, runs, hand) or _some(hand, rng)
    if inputs and rng.random() < 0.2:
        spoilt = rng.choice(sorted(inputs))
        inputs[spoilt] += Fraction(1, rng.choice((1, 2, 8)))
    hand_before = dict(hand)
    done = craft(rules, hand, inputs, recipe.recipe.output, recipe.recipe.amount * runs)
    assert dict(hand) == hand_before
    return done if isinstance(done, CraftSuccess) else None


@pytest.mark.parametrize("seed", range(4))
def test_goods_are_conserved_except_by_recipes_and_flooring(seed: int) -> None:
    rules, rng = shipped_ruleset("minecraft_core"), Random(seed)
    hands = [Hand(goods) for goods in START]
    crafted = moved = 0
    for _ in range(10):
        hand_before = union(hands)
        moved += _try_trade(hands, rng)
        assert union(hands) == hand_before
        for seat in (0, 1):
            for _ in range(3):
                done = _try_craft(rules, hands[seat], rng)
                if done is not None:
                    crafted += 1
                    _check_one_recipe(rules, hands[seat], done)
                    hands[seat] = done.hand
            rest = {i: hands[seat][i] - round_down(hands[seat]).get(i, 0) for i in hands[seat]}
            assert all(0 <= amount < 1 for amount in rest.values())
            hands[seat] = round_down(hands[seat])
    assert crafted > 5, "too few crafts to say anything"
    assert moved > 0


def _check_one_recipe(rules: Ruleset, hand_before: Hand, done: CraftSuccess) -> None:
    """What came and went is what the recipe says: slots filled, fuel burnt, output made."""
    recipe = rules.recipes[done.recipe]
    net: Counter[str] = Counter(done.hand.goods)  # type: ignore[arg-type]
    net.subtract(hand_before.goods)  # type: ignore[arg-type]
    net[recipe.output] -= recipe.amount * done.times
    spent = {item: -amount for item, amount in net.items() if amount}
    assert all(amount > 0 for amount in spent.values())
    needed = sum(slot.amount for slot in recipe.slots) * done.times
    over = sum(spent.values()) - needed
    if recipe.fuel:
        assert over > 0
        assert any(item in rules.fuel for item in spent)
    else:
        assert over == 0
