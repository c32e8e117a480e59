"""Crafting: one atomic check-and-apply, matched by exact amounts alone."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

import msgspec

from sally.games.tradecraft.amounts import Amount, BadAmount, show
from sally.games.tradecraft.filling import Prepared, fits, prepared
from sally.games.tradecraft.hands import Hand, changed, lacking, show_goods
from sally.games.tradecraft.rulesets import Recipe, Ruleset
from sally.games.tradecraft.speech import (
    good_said,
    item_said,
    slot_said,
    units_said,
)


class Applied(msgspec.Struct, frozen=True, gc=False):
    """The craft was done: the new hand, which recipe (by position) and how many times."""

    hand: Hand
    recipe: int
    times: int


class NotARecipe(msgspec.Struct, frozen=True, gc=False):
    """No recipe turns exactly these inputs into this output; the hand stays as it was."""

    reason: str


class CannotAfford(msgspec.Struct, frozen=True, gc=False):
    """The craft fits a recipe, but the hand does not hold the inputs; it stays as it was."""

    reason: str


Crafted: TypeAlias = Applied | NotARecipe | CannotAfford


def craft(
    rules: Ruleset, hand: Hand, inputs: Mapping[str, Amount], output: str, amount: Amount
) -> Crafted:
    """Turn the inputs into the output if a recipe says so and the hand holds them."""
    found = matching(rules, inputs, output, amount)
    if found is None:
        return NotARecipe(why_not(rules, inputs, output, amount))
    try:
        after = changed(hand, inputs, {output: amount})
    except BadAmount:
        short = lacking(hand, inputs)
        return CannotAfford(f"{good_said(output, amount)} cannot be made: {short}.")
    return Applied(after, *found)


def matching(
    rules: Ruleset, inputs: Mapping[str, Amount], output: str, amount: Amount
) -> tuple[int, int] | None:
    """The first recipe (by position) that fits and how many times it runs, or None."""
    if amount.denominator != 1:
        return None  # recipes make whole amounts
    for ready in _by_output(rules).get(output, ()):
        times, rest = divmod(amount.numerator, ready.recipe.amount)
        if rest == 0 and times >= 1 and fits(ready, times, inputs):
            return ready.number, times
    return None


@lru_cache(maxsize=64)
def _by_output(rules: Ruleset) -> dict[str, tuple[Prepared, ...]]:
    ready = prepared(rules)
    return {item: tuple(ready[n] for n in numbers) for item, numbers in rules.makers.items()}


def why_not(rules: Ruleset, inputs: Mapping[str, Amount], output: str, amount: Amount) -> str:
    """One sentence on why no recipe fits."""
    for item in (output, *inputs):
        if (unknown := rules.unknown(item)) is not None:
            return unknown
    for item, given in (*inputs.items(), (output, amount)):
        if given <= 0:
            return f"The amount of {item_said(item)} must be more than zero, not {show(given)}."
    recipes = [rules.recipes[number] for number in rules.makers.get(output, ())]
    if not recipes:
        return f"No recipe makes {item_said(output)}; it can only come from a hand."
    whole = [recipe for recipe in recipes if amount % recipe.amount == 0]
    if not whole:
        lots = " or ".join(sorted({str(recipe.amount) for recipe in recipes}, key=int))
        name = item_said(output)
        return f"{name} is made in lots of {lots}, and {show(amount)} is no whole number of lots."
    recipe = max(whole, key=lambda each: _shared(each, inputs))
    times = int(amount // recipe.amount)
    return (
        f"{show_goods(inputs)} does not make {good_said(output, amount)}: "
        f"{_mismatch(recipe, times, inputs, rules)} ({_takes(recipe, times)})."
    )


def _shared(recipe: Recipe, inputs: Mapping[str, Amount]) -> tuple[int, int]:
    """How near the inputs are to a recipe: slots touched, then slots not touched."""
    touched = sum(any(item in inputs for item in slot.goods) for slot in recipe.slots)
    return touched, touched - len(recipe.slots)


def _takes(recipe: Recipe, times: int) -> str:
    fire = f" and {units_said(recipe.fuel * times)}" if recipe.fuel else ""
    return f"the recipe takes exactly {recipe.said(times).partition(' -> ')[0]}{fire}"


def _mismatch(recipe: Recipe, times: int, inputs: Mapping[str, Amount], rules: Ruleset) -> str:
    """What is wrong with the inputs, measured against one recipe."""
    heat = rules.heat if recipe.fuel else {}
    for item in inputs:
        if item not in heat and not any(item in slot.goods for slot in recipe.slots):
            return f"{item_said(item)} has no place in it"
    for slot in recipe.slots:
        have = sum(inputs.get(item, 0) for item in slot.goods)
        if have < slot.amount * times:
            return f"it lacks {slot_said(slot.amount * times - have, slot.name)}"
    if recipe.fuel and not any(item in heat for item in inputs):
        return "it lacks fuel"
    if recipe.fuel:
        return "ingredients and fuel do not come out exactly"
    return "the amounts do not come out exactly"
