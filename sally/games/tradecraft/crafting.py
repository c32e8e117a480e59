"""Crafting: goods fill slots exactly, and a craft is checked and applied as one atomic step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import msgspec

from sally.games.tradecraft.amounts import Amount, BadAmount, plain
from sally.games.tradecraft.hands import Hand, exchange_goods, lacking, show_goods
from sally.games.tradecraft.rulesets import Recipe, Ruleset, Slot
from sally.games.tradecraft.speech import good_said, item_said, slot_said, units_said

_TORN = -1  # marks a good that fits several slots, or a slot and the fire


class Prepared(NamedTuple):
    """A recipe prepared once per ruleset, with the slot that each of its goods fits."""

    number: int
    recipe: Recipe
    needs: tuple[int, ...]
    place: dict[str, int]  # the slot of each good; goods that can only burn are not listed
    heat: dict[str, tuple[int, int]]  # fuel units in one piece, as numerator and denominator
    fuel: tuple[int, int]  # fuel units of one run


@lru_cache(maxsize=64)
def prepare_recipes(rules: Ruleset) -> tuple[Prepared, ...]:
    """Return every recipe of a ruleset in prepared form."""
    heat = {item: (unit.numerator, unit.denominator) for item, unit in rules.heat.items()}
    ready = []
    for number, recipe in enumerate(rules.recipes):
        place: dict[str, int] = {}
        for position, slot in enumerate(recipe.slots):
            for item in slot.goods:
                torn = item in place or (recipe.fuel and item in heat)
                place[item] = _TORN if torn else position
        needs = tuple(slot.amount for slot in recipe.slots)
        fuel = recipe.fuel.numerator, recipe.fuel.denominator
        ready.append(Prepared(number, recipe, needs, place, heat if recipe.fuel else {}, fuel))
    return tuple(ready)


def fits(ready: Prepared, times: int, goods: Mapping[str, Amount]) -> bool:
    """Return whether exactly these goods suffice to run the recipe `times` times."""
    filled: list[Amount] = [0] * len(ready.needs)
    # what burns, as a fraction kept by hand: Fraction is ten times slower
    units, denominator = 0, 1
    torn = False
    for item, amount in goods.items():
        top, bottom = amount.numerator, amount.denominator
        if top <= 0:
            return False
        slot = ready.place.get(item)
        if slot is None:
            warmth = ready.heat.get(item)
            if warmth is None:
                return False
            units, denominator = (
                units * bottom * warmth[1] + top * warmth[0] * denominator,
                denominator * bottom,
            )
            denominator *= warmth[1]
        elif slot == _TORN:
            torn = True
        else:
            filled[slot] += amount
    if torn:
        heat = {item: Fraction(*ready.heat[item]) for item in goods if item in ready.heat}
        return fills_exactly(ready.recipe, times, goods, heat)
    if units * ready.fuel[1] != ready.fuel[0] * times * denominator:
        return False
    return all(full == need * times for full, need in zip(filled, ready.needs, strict=True))


def fills_exactly(
    recipe: Recipe, times: int, goods: Mapping[str, Amount], heat: Mapping[str, Amount]
) -> bool:
    """Return the result of `fits` by full search, for goods that fit several slots."""
    must = [item for item in goods if item not in heat]
    may = sorted((item for item in goods if item in heat), key=lambda item: heat[item])
    needed = sum(slot.amount for slot in recipe.slots) * times
    burnt = []
    for order in (must + may, must + may[::-1]):
        used = into_slots(recipe.slots, times, order, goods)
        if sum(used.values()) != needed or any(used[item] != goods[item] for item in must):
            return False
        burnt.append(sum((goods[item] - used[item]) * heat[item] for item in may))
    hottest, coolest = burnt
    return coolest <= recipe.fuel * times <= hottest


def cover(ready: Prepared, times: int, goods: Mapping[str, Amount]) -> dict[str, Amount] | None:
    """Return inputs from these goods that run the recipe `times` times; None if they do not
    suffice."""
    recipe = ready.recipe
    usable = [item for item in goods if item in ready.place]
    if _TORN in map(ready.place.__getitem__, usable):
        warmth = {item: Fraction(*ready.heat[item]) for item in usable if item in ready.heat}
        # The worst fuel goes into the slots, so that the most heat is left.
        usable.sort(key=lambda item: warmth.get(item, 0))
        used = into_slots(recipe.slots, times, usable, goods)
    else:
        used = {}
        amounts_left: list[Amount] = [need * times for need in ready.needs]
        for item in usable:
            slot = ready.place[item]
            if amounts_left[slot]:
                used[item] = part = min(goods[item], amounts_left[slot])
                amounts_left[slot] -= part
    if sum(used.values()) != sum(ready.needs) * times:
        return None
    if recipe.fuel and not _stoke(used, Fraction(recipe.fuel) * times, ready, goods):
        return None
    return {item: plain(amount) for item, amount in used.items() if amount}


def _stoke(
    used: dict[str, Amount], lack: Fraction, ready: Prepared, goods: Mapping[str, Amount]
) -> bool:
    """Add fuel to `used`, fuels with the most heat first, so that the fewest pieces are used;
    return False if there is too little."""
    fuels = [item for item in goods if item in ready.heat]
    for item in sorted(fuels, key=lambda item: -ready.heat[item][0] / ready.heat[item][1]):
        stock = goods[item] - used.get(item, 0)
        burn = min(stock, lack / Fraction(*ready.heat[item]))
        if burn > 0:
            used[item] = used.get(item, 0) + burn
            lack -= burn * Fraction(*ready.heat[item])
        if lack <= 0:
            return True
    return False


def most_times(ready: Prepared, goods: Mapping[str, Amount]) -> int:
    """Return how many times the recipe can be run with these goods."""
    slots = ready.recipe.slots
    bounds = [sum(goods.get(item, 0) for item in slot.goods) // slot.amount for slot in slots]
    low, high = 0, int(min(bounds, default=0)) + 1
    guess = high - 1  # without fuel or ambiguous goods the bound is attained
    while high - low > 1:
        if cover(ready, guess, goods) is None:
            high = guess
        else:
            low = guess
        guess = (low + high) // 2
    return low


def into_slots(
    slots: Sequence[Slot], times: int, order: Sequence[str], goods: Mapping[str, Amount]
) -> dict[str, Amount]:
    """Return how much of each good goes into the slots if each good in turn fills as much as it
    can."""
    open_amount: list[Amount] = [slot.amount * times for slot in slots]
    flow: list[dict[str, Amount]] = [{} for _ in slots]
    used: dict[str, Amount] = {}
    for item in order:
        stock = goods[item]
        while stock > 0:
            path = _path(item, slots, open_amount, flow)
            if path is None:
                break
            push = min(stock, open_amount[path[-1][1]], *(flow[s][i] for i, s in _steps_back(path)))
            for good, slot in path:
                flow[slot][good] = flow[slot].get(good, 0) + push
            for good, slot in _steps_back(path):
                flow[slot][good] -= push
            open_amount[path[-1][1]] -= push
            stock -= push
        used[item] = goods[item] - stock
    return used


_Path = list[tuple[str, int]]


def _steps_back(path: _Path) -> _Path:
    """Return the (good, slot) pairs that are emptied along a path. Each good on the path takes a
    slot, and the good that was there moves on to the next slot."""
    return [(good, path[n][1]) for n, (good, _) in enumerate(path[1:])]


def _path(
    item: str,
    slots: Sequence[Slot],
    open_amount: Sequence[Amount],
    flow: Sequence[Mapping[str, Amount]],
) -> _Path | None:
    """Return a chain of (good, slot) pairs that ends in an open slot; each good moves on to make
    room for the one before it."""
    waiting: list[tuple[_Path, str]] = [([], item)]
    visited: set[int] = set()
    while waiting:
        path_before, good = waiting.pop(0)
        for number, slot in enumerate(slots):
            if number in visited or good not in slot.goods:
                continue
            visited.add(number)
            path = [*path_before, (good, number)]
            if open_amount[number] > 0:
                return path
            waiting += [(path, o) for o, n in flow[number].items() if n > 0 and o != good]
    return None


class CraftSuccess(msgspec.Struct, frozen=True, gc=False):
    """A successful craft: the new hand, the position of the recipe, and how many times it was
    run."""

    hand: Hand
    recipe: int
    times: int


class CraftFailure(msgspec.Struct, frozen=True, gc=False):
    """A failed craft, which leaves the hand unchanged: no recipe turns exactly these inputs into
    this output, or the inputs are not in the hand."""

    reason: str


Crafted: TypeAlias = CraftSuccess | CraftFailure


def craft(
    rules: Ruleset, hand: Hand, inputs: Mapping[str, Amount], output: str, amount: Amount
) -> Crafted:
    """Turn the inputs into the output if a recipe allows it and the inputs are in the hand."""
    recipe_and_times = matching(rules, inputs, output, amount)
    if recipe_and_times is None:
        return CraftFailure(why_not(rules, inputs, output, amount))
    try:
        hand_after = exchange_goods(hand, inputs, {output: amount})
    except BadAmount:
        short = lacking(hand, inputs)
        return CraftFailure(f"{good_said(output, amount)} cannot be made: {short}.")
    return CraftSuccess(hand_after, *recipe_and_times)


def matching(
    rules: Ruleset, inputs: Mapping[str, Amount], output: str, amount: Amount
) -> tuple[int, int] | None:
    """Return the position of the first recipe that fits and how many times it is run; None if no
    recipe fits."""
    if amount.denominator != 1:
        return None  # recipes make whole amounts
    for ready in _by_output(rules).get(output, ()):
        times, remainder = divmod(amount.numerator, ready.recipe.amount)
        if remainder == 0 and times >= 1 and fits(ready, times, inputs):
            return ready.number, times
    return None


@lru_cache(maxsize=64)
def _by_output(rules: Ruleset) -> dict[str, tuple[Prepared, ...]]:
    ready = prepare_recipes(rules)
    return {item: tuple(ready[n] for n in numbers) for item, numbers in rules.makers.items()}


def why_not(rules: Ruleset, inputs: Mapping[str, Amount], output: str, amount: Amount) -> str:
    """Return one sentence that explains why no recipe fits."""
    for item in (output, *inputs):
        if (unknown := rules.unknown(item)) is not None:
            return unknown
    for item, given_amount in (*inputs.items(), (output, amount)):
        if given_amount <= 0:
            return f"The amount of {item_said(item)} must be more than zero, not {given_amount}."
    recipes = [rules.recipes[number] for number in rules.makers.get(output, ())]
    if not recipes:
        return f"No recipe makes {item_said(output)}; it can only come from a hand."
    dividing = [recipe for recipe in recipes if amount % recipe.amount == 0]
    if not dividing:
        lots = " or ".join(sorted({str(recipe.amount) for recipe in recipes}, key=int))
        name = item_said(output)
        return f"{name} is made in lots of {lots}, and {amount} is no whole number of lots."
    recipe = max(dividing, key=lambda candidate: _closeness(candidate, inputs))
    times = int(amount // recipe.amount)
    return (
        f"{show_goods(inputs)} does not make {good_said(output, amount)}: "
        f"{_mismatch(recipe, times, inputs, rules)} ({_takes(recipe, times)})."
    )


def _closeness(recipe: Recipe, inputs: Mapping[str, Amount]) -> tuple[int, int]:
    """Return how close the inputs are to a recipe, as a sort key: the number of matched slots,
    then minus the number of unmatched slots."""
    touched = sum(any(item in inputs for item in slot.goods) for slot in recipe.slots)
    return touched, touched - len(recipe.slots)


def _takes(recipe: Recipe, times: int) -> str:
    fire = f" and {units_said(recipe.fuel * times)}" if recipe.fuel else ""
    return f"the recipe takes exactly {recipe.as_text(times).partition(' -> ')[0]}{fire}"


def _mismatch(recipe: Recipe, times: int, inputs: Mapping[str, Amount], rules: Ruleset) -> str:
    """Return the first mismatch between the inputs and one recipe, as text."""
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
