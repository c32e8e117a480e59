"""What players may look up: one implementation for models, people and bots."""

from collections.abc import Mapping
from typing import Any

from sally.games.tradecraft.amounts import Amount, show
from sally.games.tradecraft.filling import cover, most_times, prepared
from sally.games.tradecraft.rulesets import Recipe, Ruleset


def item_info(rules: Ruleset, item: str) -> dict[str, Any]:
    """The recipes that make an item, those that use it, its tags and its worth as fuel."""
    problem = rules.unknown(item)
    if problem is not None:
        return {"item": item, "problem": problem}
    rate = rules.fuel.get(item)
    return {
        "item": item,
        "made_by": [_described(rules.recipes[n]) for n in rules.makers.get(item, ())],
        "used_in": [_described(rules.recipes[n]) for n in rules.users.get(item, ())],
        "tags": sorted(tag for tag, goods in rules.tags.items() if item in goods),
        "items_per_fuel_unit": None if rate is None else show(rate),
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
                    "inputs": {item: show(amount) for item, amount in sorted(inputs.items())},
                }
            )
    return found


def runnable(rules: Ruleset, hand: Mapping[str, Amount]) -> list[int]:
    """The recipes (by position) that have something of this hand for every slot."""
    users = rules.users
    numbers = sorted({number for item in hand for number in users.get(item, ())})
    return [
        number
        for number in numbers
        if all(any(item in hand for item in slot.goods) for slot in rules.recipes[number].slots)
    ]


def _described(recipe: Recipe) -> dict[str, Any]:
    return {
        "recipe": recipe.text(),
        "kind": recipe.kind,
        "slots": [
            {"amount": str(slot.amount), "name": slot.name, "any_of": list(slot.goods)}
            for slot in recipe.slots
        ],
        "fuel_units": show(recipe.fuel),
        "output": recipe.output,
        "amount": str(recipe.amount),
    }
