"""What players may look up: one implementation for models, people and bots."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.filling import cover, most_times, prepared
from sally.games.tradecraft.rulesets import Recipe, Ruleset
from sally.games.tradecraft.speech import amount_said, item_meant, item_said


def item_info(rules: Ruleset, item: str) -> dict[str, Any]:
    """The recipes that make an item, those that use it, its tags and its worth as fuel."""
    said, item = item, item_meant(item, rules.known)
    problem = rules.unknown(item)
    if problem is not None:
        return {"item": said, "problem": problem}
    rate = rules.fuel.get(item)
    return {
        "item": item_said(item),
        "made_by": [_described(rules.recipes[n]) for n in rules.makers.get(item, ())],
        "used_in": [_described(rules.recipes[n]) for n in rules.users.get(item, ())],
        "tags": sorted(item_said(tag) for tag, goods in rules.tags.items() if item in goods),
        "items_per_fuel_unit": None if rate is None else amount_said(rate),
    }


def possible_recipes(rules: Ruleset, hand: Mapping[str, Amount]) -> list[dict[str, Any]]:
    """Every recipe the hand can run now: how many times at most, and inputs for one run."""
    found = []
    ready = prepared(rules)
    for number in runnable(rules, hand):
        inputs = cover(ready[number], 1, hand)
        if inputs is not None:
            found.append(
                {
                    **_described(rules.recipes[number]),
                    "most_times": most_times(ready[number], hand),
                    "inputs": {item_said(i): amount_said(n) for i, n in sorted(inputs.items())},
                }
            )
    return found


def runnable(rules: Ruleset, hand: Mapping[str, Amount]) -> list[int]:
    """The recipes (by position) that have something of this hand for every slot."""
    fills, layers = _bits(rules)
    filled = 0
    for item in hand:
        filled |= fills.get(item, 0)
    number = len(rules.recipes)
    ready = (1 << number) - 1
    for layer, absent in enumerate(layers):
        ready &= (filled >> layer * number) | absent
    found = []
    while ready:
        lowest = ready & -ready
        found.append(lowest.bit_length() - 1)
        ready ^= lowest
    return found


@lru_cache(maxsize=64)
def _bits(rules: Ruleset) -> tuple[dict[str, int], list[int]]:
    """Slots as bits: what each item fills, and layer by layer which recipes have no such slot.

    The n-th slots of all recipes form a layer with one bit a recipe, so that a few operations on
    long integers answer for all recipes at once.
    """
    number = len(rules.recipes)
    fills: dict[str, int] = {}
    absent = [(1 << number) - 1] * max((len(recipe.slots) for recipe in rules.recipes), default=0)
    for position, recipe in enumerate(rules.recipes):
        for layer, slot in enumerate(recipe.slots):
            absent[layer] &= ~(1 << position)
            for item in slot.goods:
                fills[item] = fills.get(item, 0) | 1 << (layer * number + position)
    return fills, absent


def _described(recipe: Recipe) -> dict[str, Any]:
    return {
        "recipe": recipe.said(),
        "kind": recipe.kind,
        "slots": [
            {
                "amount": str(slot.amount),
                "name": item_said(slot.name.replace("#", "").replace("|", " or ")),
                "any_of": [item_said(item) for item in slot.goods],
            }
            for slot in recipe.slots
        ],
        "fuel_units": amount_said(recipe.fuel),
        "output": item_said(recipe.output),
        "amount": str(recipe.amount),
    }
