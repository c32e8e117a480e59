"""The recipes that can come to matter with what lies on a table, for pages and boards alike."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from sally.games.tradecraft.relevance import reachable
from sally.games.tradecraft.rulesets import Recipe, Ruleset
from sally.games.tradecraft.speech import good_said, item_said, units_said


class Book(msgspec.Struct, frozen=True):
    """Recipes within reach, each written once, with the fuels and the groups that they need."""

    numbers: tuple[int, ...]  # of the recipes in their ruleset
    lines: tuple[tuple[str, str], ...]  # a recipe and what fuel it costs
    fuels: str
    tags: str


@lru_cache(maxsize=64)
def within_reach(rules: Ruleset, table: frozenset[str]) -> Book:
    """Recipes, fuels and groups that matter for goods on a table."""
    reach = reachable(rules, table)
    found: dict[tuple[str, str], int] = {}
    for number, recipe in enumerate(rules.recipes):
        if all(not reach.isdisjoint(slot.goods) for slot in recipe.slots):
            cost = units_said(recipe.fuel) if recipe.fuel else ""
            found.setdefault((recipe.said(), cost), number)
    recipes = [rules.recipes[number] for number in found.values()]
    rates = {item: rate for item, rate in rules.fuel.items() if item in reach}
    burnt = any(recipe.fuel for recipe in recipes)
    fuels = ", ".join(good_said(item, rate) for item, rate in rates.items()) if burnt else ""
    return Book(tuple(found.values()), tuple(found), fuels, _groups(rules, recipes, reach))


def _groups(rules: Ruleset, recipes: list[Recipe], reach: frozenset[str]) -> str:
    used = {name[1:] for r in recipes for s in r.slots for name in s.name.split("|") if "#" in name}
    return "\n".join(
        f"- {item_said(tag)}: {', '.join(item_said(item) for item in goods if item in reach)}"
        for tag, goods in sorted(rules.tags.items())
        if tag in used
    )
