"""Tools that players can call, and the recipes that can matter with the goods in play."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.crafting import cover, most_times, prepare_recipes
from sally.games.tradecraft.relevance import reachable
from sally.games.tradecraft.rulesets import Recipe, Ruleset
from sally.games.tradecraft.speech import amount_said, good_said, item_meant, item_said, units_said


def item_info(rules: Ruleset, item: str) -> dict[str, Any]:
    """Return the recipes that make an item, those that use it, its tags and its value as fuel."""
    written_name, item = item, item_meant(item, rules.item_set)
    problem = rules.unknown(item)
    if problem is not None:
        return {"item": written_name, "problem": problem}
    rate = rules.fuel.get(item)
    return {
        "item": item_said(item),
        "made_by": [_describe_recipe(rules.recipes[n]) for n in rules.makers.get(item, ())],
        "used_in": [_describe_recipe(rules.recipes[n]) for n in rules.users.get(item, ())],
        "tags": sorted(item_said(tag) for tag, goods in rules.tags.items() if item in goods),
        "items_per_fuel_unit": None if rate is None else amount_said(rate),
    }


def possible_recipes(rules: Ruleset, hand: Mapping[str, Amount]) -> list[dict[str, Any]]:
    """Return every recipe that can be used with the goods in the hand, with the maximum number of
    uses and the inputs for one use."""
    recipes = []
    ready = prepare_recipes(rules)
    for number in runnable(rules, hand):
        inputs = cover(ready[number], 1, hand)
        if inputs is not None:
            recipes.append(
                {
                    **_describe_recipe(rules.recipes[number]),
                    "most_times": most_times(ready[number], hand),
                    "inputs": {item_said(i): amount_said(n) for i, n in sorted(inputs.items())},
                }
            )
    return recipes


def runnable(rules: Ruleset, hand: Mapping[str, Amount]) -> list[int]:
    """Return the recipes (by position) for which this hand has a good for every slot."""
    fills, layers = _bits(rules)
    filled = 0
    for item in hand:
        filled |= fills.get(item, 0)
    number = len(rules.recipes)
    ready = (1 << number) - 1
    for layer, absent in enumerate(layers):
        ready &= (filled >> layer * number) | absent
    numbers = []
    while ready:
        lowest = ready & -ready
        numbers.append(lowest.bit_length() - 1)
        ready ^= lowest
    return numbers


@lru_cache(maxsize=64)
def _bits(rules: Ruleset) -> tuple[dict[str, int], list[int]]:
    """Return bit masks with which all recipes can be checked at once.

    The n-th slots of all recipes form a layer with one bit per recipe. The first result holds, for
    each item, the slots that it can fill; the second, for each layer, the recipes that have no slot
    in it.
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


def _describe_recipe(recipe: Recipe) -> dict[str, Any]:
    return {
        "recipe": recipe.as_text(),
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


class RecipeIndex(msgspec.Struct, frozen=True):
    """The recipes that can be reached from the goods in play, each listed once, with the fuels and
    the tags that they need."""

    numbers: tuple[int, ...]  # of the recipes in their ruleset
    lines: tuple[tuple[str, str], ...]  # a recipe and what fuel it costs
    fuels: str
    tags: str


@lru_cache(maxsize=64)
def within_reach(rules: Ruleset, table: frozenset[str]) -> RecipeIndex:
    """Return the recipes, fuels and tags that matter for the goods in play."""
    reach = reachable(rules, table)
    numbers_by_text: dict[tuple[str, str], int] = {}
    for number, recipe in enumerate(rules.recipes):
        if all(not reach.isdisjoint(slot.goods) for slot in recipe.slots):
            cost = units_said(recipe.fuel) if recipe.fuel else ""
            numbers_by_text.setdefault((recipe.as_text(), cost), number)
    recipes = [rules.recipes[number] for number in numbers_by_text.values()]
    rates = {item: rate for item, rate in rules.fuel.items() if item in reach}
    burnt = any(recipe.fuel for recipe in recipes)
    fuels = ", ".join(good_said(item, rate) for item, rate in rates.items()) if burnt else ""
    return RecipeIndex(
        tuple(numbers_by_text.values()),
        tuple(numbers_by_text),
        fuels,
        _groups(rules, recipes, reach),
    )


def _groups(rules: Ruleset, recipes: list[Recipe], reach: frozenset[str]) -> str:
    used = {name[1:] for r in recipes for s in r.slots for name in s.name.split("|") if "#" in name}
    return "\n".join(
        f"- {item_said(tag)}: {', '.join(item_said(item) for item in goods if item in reach)}"
        for tag, goods in sorted(rules.tags.items())
        if tag in used
    )
