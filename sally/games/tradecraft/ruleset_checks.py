"""Checks of a ruleset: recipes that make goods from nothing, goods out of reach, tags without
members."""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from sally.games.tradecraft.relevance import reachable
from sally.games.tradecraft.rulesets import Ruleset

_FIRE = "the fire"  # has a space, so no item is called that


def check(rules: Ruleset) -> list[str]:
    """Return every problem found, one sentence each; an empty list means a valid ruleset."""
    return [
        *_empty_tags(rules),
        *_repeated_recipes(rules),
        *_unreachable(rules),
        *_from_nothing(rules),
    ]


def _empty_tags(rules: Ruleset) -> list[str]:
    problems = [
        f"Tag #{tag} has no members." for tag, goods in sorted(rules.tags.items()) if not goods
    ]
    for recipe in rules.recipes:
        problems += [
            f"{recipe.text()}: nothing can fill the slot {slot.name}."
            for slot in recipe.slots
            if not slot.goods
        ]
        if not recipe.slots:
            problems.append(f"{recipe.text()}: {recipe.output} comes from nothing.")
        if recipe.fuel and not rules.fuel:
            problems.append(f"{recipe.text()}: it needs fuel, but the ruleset has none.")
    return problems


def _repeated_recipes(rules: Ruleset) -> list[str]:
    lines = Counter((recipe.kind, recipe.text()) for recipe in rules.recipes)
    return [f"{text}: written {n} times as {kind}." for (kind, text), n in lines.items() if n > 1]


def circles(rules: Ruleset) -> list[str]:
    """Return one sentence for each cycle of items that are made only from each other; these are
    notes, not errors."""
    circle_names = [" and ".join(sorted(circle)) for circle in _circles(rules)]
    sentences = [
        f"{names} are made only of each other; a starting hand must contain one."
        for names in circle_names
    ]
    if openers := _openers(rules):
        names = " and ".join(sorted(openers))
        sentences.append(
            f"{names} are made only of goods that need them; if a starting hand contains them, "
            "all that follows from them can be made."
        )
    return sentences


@lru_cache(maxsize=8)
def _circles(rules: Ruleset) -> list[frozenset[str]]:
    """Return groups of unreachable items in which each item makes all the others reachable.

    A ruleset that declares its starting goods has no such groups.
    """
    if rules.given:
        return []
    reach = reachable(rules, rules.starting)
    unreachable = [item for item in rules.items if item not in reach and item in rules.makers]
    opened = {item: reachable(rules, rules.starting | {item}) for item in unreachable}
    groups = [
        frozenset(
            candidate
            for candidate in unreachable
            if candidate in opened[item] and item in opened[candidate]
        )
        for item in unreachable
    ]
    return list(dict.fromkeys(group for group in groups if len(group) > 1))


@lru_cache(maxsize=8)
def _openers(rules: Ruleset) -> frozenset[str]:
    """Return goods that a starting hand must contain in addition to those that `_circles` finds
    (groups of goods that are made only from each other).

    This is a minimal set of goods that are out of reach although some recipe makes them; goods that
    more recipes use are preferred. A good from which nothing else can be made is instead reported
    as out of reach. Published lists of recipes that combine two goods into one need this, because
    their elements (air, fire) can be made only from goods that are themselves made of these
    elements.
    """
    if rules.given:
        return frozenset()
    start = rules.starting.union(*_circles(rules))
    able = {r.output for r in rules.recipes if r.slots and all(slot.goods for slot in r.slots)}
    unreachable = able - reachable(rules, start)
    openers = frozenset(unreachable)
    for item in sorted(unreachable, key=lambda item: (len(rules.users.get(item, ())), item)):
        if unreachable <= reachable(rules, start | openers - {item}):
            openers -= {item}
    reach = reachable(rules, start | openers)
    return frozenset(
        item for item in openers if len(reach - reachable(rules, start | openers - {item})) > 1
    )


def _unreachable(rules: Ruleset) -> list[str]:
    """Return one sentence for each item that cannot be made, even if one good of each cycle of
    recipes is available."""
    start = rules.starting.union(_openers(rules), *_circles(rules))
    unreachable = [item for item in rules.items if item not in reachable(rules, start)]
    return [
        f"{item} cannot be reached from the starting goods: "
        + ("every way to make it is closed." if item in rules.makers else "nothing makes it.")
        for item in unreachable
    ]


class _Step(NamedTuple):
    """One way in which goods change into each other; amounts used up are negative."""

    changes: dict[str, Fraction]
    recipe: str | None


def _steps(rules: Ruleset) -> list[_Step]:
    """Return the steps that change amounts of goods: running a recipe, filling a slot that several
    goods fit, and burning fuel.

    A slot that several goods fit is treated as a good of its own, named after the goods that fit;
    the heat of burnt fuel is another such good.
    """
    steps: list[_Step] = []
    places: dict[str, tuple[str, ...]] = {}
    for recipe in rules.recipes:
        change: dict[str, Fraction] = {recipe.output: Fraction(recipe.amount)}
        for slot in recipe.slots:
            place = slot.goods[0] if len(slot.goods) == 1 else "|".join(slot.goods)
            places[place] = slot.goods
            change[place] = change.get(place, Fraction(0)) - slot.amount
        change[_FIRE] = -Fraction(recipe.fuel)
        steps.append(_Step(change, recipe.text()))
    for place, goods in places.items():
        if len(goods) > 1:
            steps += [_Step({place: Fraction(1), i: Fraction(-1)}, None) for i in goods]
    for item, heat in rules.heat.items():
        steps.append(_Step({_FIRE: Fraction(heat), item: Fraction(-1)}, None))
    return steps


def _from_nothing(rules: Ruleset) -> list[str]:
    """Return one sentence for recipes that together make more goods than they use up (by linear
    programming)."""
    steps = _steps(rules)
    names = dict.fromkeys([*rules.items, *(name for step in steps for name in step.changes)])
    row = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(row), len(steps)))
    for column, step in enumerate(steps):
        for name, change in step.changes.items():
            table[row[name], column] = float(change)
    gain = table[: len(rules.items)].sum(axis=0)
    answer = scipy.optimize.linprog(-gain, A_ub=-table, b_ub=np.zeros(len(row)), bounds=(0, 1))
    if answer.x is None or answer.fun is None:
        raise RuntimeError(
            "The search for recipes that create goods from nothing did not finish: "
            f"{answer.message}"
        )
    if -answer.fun < 1e-7:
        return []
    runs = [Fraction(value).limit_denominator(10_000) for value in answer.x]
    total: dict[str, Fraction] = {}
    for step, times in zip(steps, runs, strict=True):
        for name, change in step.changes.items():
            total[name] = total.get(name, Fraction(0)) + change * times
    exact = "" if min(total.values()) >= 0 else " (up to rounding)"
    gained = [item for item in rules.items if total.get(item, 0) > 0]
    used = [s.recipe for s, times in zip(steps, runs, strict=True) if s.recipe and times]
    return [f"Goods from nothing{exact}: {'; '.join(used)} together give {', '.join(gained)}."]
