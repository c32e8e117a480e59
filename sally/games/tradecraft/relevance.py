"""The recipes that can matter for a target, and how often each can be used at most.

Leaving recipes out keeps the integer programme small. Every rule here leaves out only recipes that
no plan needs, and a test compares the answers with those of the full programme.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import msgspec

from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.rulesets import Recipe, Ruleset

MOST_RUNS = 4096  # of one recipe in one plan, where nothing tighter is known


class Relevant(msgspec.Struct, frozen=True):
    """The recipes that may help to make a target, the maximum number of times that each is used,
    and the items involved."""

    recipes: tuple[Recipe, ...]
    run_limits: tuple[int, ...]
    items: frozenset[str]


def reachable(rules: Ruleset, start: frozenset[str]) -> frozenset[str]:
    """Return every item that can be made from unlimited amounts of the starting goods."""
    return _able(rules, start)[0]


@lru_cache(maxsize=256)
def _able(rules: Ruleset, start: frozenset[str]) -> tuple[frozenset[str], tuple[Recipe, ...]]:
    """Return the items that can be made from the starting goods, and the recipes whose slots and
    fuel can be supplied."""
    have = set(start)
    able: dict[int, Recipe] = {}
    news = set(start)
    while news:
        warm = not have.isdisjoint(rules.fuel)
        newly_warm = not news.isdisjoint(rules.fuel)
        users = {number for item in news for number in rules.users.get(item, ())}
        numbers = range(len(rules.recipes)) if newly_warm else sorted(users)
        news = set()
        for number in numbers:
            recipe = rules.recipes[number]
            fed = warm or not recipe.fuel
            if fed and all(not have.isdisjoint(slot.goods) for slot in recipe.slots):
                able[number] = recipe
                news.add(recipe.output)
        news -= have
        have |= news
    return frozenset(have), tuple(able[number] for number in sorted(able))


def relevant(
    rules: Ruleset, pool: Mapping[str, Amount], target: frozenset[str], prune: bool = True
) -> Relevant | None:
    """Return the recipes that can matter for the target; None if the target could not be made
    even from unlimited amounts."""
    start = frozenset(pool)
    reach, able = _able(rules, start)
    if not target <= reach:
        return None
    if prune:
        able = _without_circles(rules, start)
    helping = list(_helping(rules, reach, able, target, prune))
    run_limits = _most_runs(pool, helping) if prune else [MOST_RUNS] * len(helping)
    usable = [(recipe, runs) for recipe, runs in zip(helping, run_limits, strict=True) if runs]
    size = -1
    while size != len(usable):  # without a maker in reach a slot or the fire stays empty, and so on
        size = len(usable)
        at_hand = start | {recipe.output for recipe, _ in usable}
        warm = not at_hand.isdisjoint(rules.heat)
        usable = [
            (recipe, runs)
            for recipe, runs in usable
            if (warm or not recipe.fuel)
            and all(not at_hand.isdisjoint(slot.goods) for slot in recipe.slots)
        ]
    needed_items = {
        item for recipe, _ in usable for slot in recipe.slots for item in slot.goods
    } | target
    items = frozenset(i for i in at_hand if i in needed_items or i in rules.heat) | target
    return Relevant(tuple(r for r, _ in usable), tuple(n for _, n in usable), items)


def _helping(
    rules: Ruleset,
    reach: frozenset[str],
    able: tuple[Recipe, ...],
    target: frozenset[str],
    prune: bool,
) -> tuple[Recipe, ...]:
    """Return recipes that are linked to the target by a chain of needs.

    A recipe that is needed only for the heat of its output is left out if burning its inputs
    instead gives as much heat.
    """
    fuels = [recipe for recipe in able if recipe.output in rules.heat]
    hotter = [r for r in fuels if not prune or _heat_gain(rules, r, reach) > 0]
    needed_items, grown = set(target), True
    helping: dict[tuple[str, Amount], Recipe] = {}
    while grown:
        grown = False
        hot = any(recipe.fuel for recipe in helping.values())
        for recipe in [r for r in able if r.output in needed_items] + (hotter if hot else []):
            key = recipe.text(), recipe.fuel  # smelting and blasting often have the same recipe
            if key not in helping:
                grown = True
                helping[key] = recipe
                needed_items.update(
                    item for slot in recipe.slots for item in slot.goods if item in reach
                )
    return tuple(helping.values())


def _heat_gain(rules: Ruleset, recipe: Recipe, reach: frozenset[str]) -> Amount:
    """Return how much heat one use of a recipe adds: the heat of its output minus that of the fuel
    and of the inputs. Where several goods can fill a slot, the one with the least heat is taken."""
    spent = sum(
        slot.amount * min(rules.heat.get(item, 0) for item in slot.goods if item in reach)
        for slot in recipe.slots
    )
    return rules.heat[recipe.output] * recipe.amount - spent - recipe.fuel


@lru_cache(maxsize=256)
def _without_circles(rules: Ruleset, start: frozenset[str]) -> tuple[Recipe, ...]:
    """Return the feasible recipes, except those that only recover the goods from which their inputs
    were made."""
    able = _able(rules, start)[1]
    makers: dict[str, list[Recipe]] = {}
    for recipe in able:
        makers.setdefault(recipe.output, []).append(recipe)
    return tuple(recipe for recipe in able if not _circular(recipe, start, makers))


def _circular(recipe: Recipe, start: frozenset[str], makers: Mapping[str, list[Recipe]]) -> bool:
    """Return whether the recipe is never useful, because making its inputs uses up at least as much
    of its output as it yields.

    Take a slot that needs s units of one good m, none of which is in a hand at the start. Leaving
    out one run of the recipe frees these s units. Every recipe for m yields lots of 1 or of s
    units, so either one lot of s or s single units need not be made. If the inputs saved in this
    way contain at least as much of the output as the run yields, no plan needs the run.

    If an input slot accepts several kinds of goods, the saved units may be of different kinds and
    not suffice for one run; the amount that may be lost by this is subtracted from the amount
    saved.
    """
    for slot in recipe.slots:
        if len(slot.goods) != 1 or slot.goods[0] in start:
            continue
        ways = makers.get(slot.goods[0], [])
        if any(maker.amount not in (1, slot.amount) for maker in ways):
            continue
        parts = [
            (maker.amount, *_content_and_loss(maker, recipe.output, start, makers))
            for maker in ways
        ]
        lots = [slot.amount * content - loss for lot, content, loss in parts if lot > 1]
        single_contents = [content for lot, content, _ in parts if lot == 1]
        if single_contents:
            total_loss = sum(loss for lot, _, loss in parts if lot == 1)
            lots.append(slot.amount * min(single_contents) - total_loss)
        if lots and min(lots) >= recipe.amount:
            return True
    return False


def _content_and_loss(
    maker: Recipe, output: str, start: frozenset[str], makers: Mapping[str, list[Recipe]]
) -> tuple[Fraction, Fraction]:
    """Return how many units of `output` are used up, directly or to make an input, for one unit
    made by the recipe `maker`.

    The first number is a lower bound that holds for every choice of inputs. The second is the
    amount that may be lost because a slot of the recipe can be filled with several kinds of goods.
    """
    best = Fraction(0), Fraction(0)
    for slot in maker.slots:
        item_content = min(_content(item, output, start, makers) for item in slot.goods)
        content = Fraction(slot.amount, maker.amount) * item_content
        if content > best[0]:
            best = content, (len(slot.goods) - 1) * item_content
    return best


def _content(
    item: str, output: str, start: frozenset[str], makers: Mapping[str, list[Recipe]]
) -> Fraction:
    """Return how many units of `output` certainly went into one unit of an item. Only the direct
    inputs of the recipes that make the item are counted."""
    if item == output:
        return Fraction(1)
    ways = makers.get(item, [])
    if item in start or not ways or any(maker.amount != 1 for maker in ways):
        return Fraction(0)
    return min(
        Fraction(sum(slot.amount for slot in maker.slots if slot.goods == (output,)))
        for maker in ways
    )


def _most_runs(pool: Mapping[str, Amount], recipes: list[Recipe]) -> list[int]:
    """Return how often each recipe can be used at most, given the goods for its slots and ignoring
    fuel.

    Amounts are propagated from recipes that make an item to those that use it; a recipe on a cycle
    gets the bound MOST_RUNS.
    """
    makers: dict[str, list[int]] = {}
    for number, recipe in enumerate(recipes):
        makers.setdefault(recipe.output, []).append(number)
    runs: dict[int, int] = {}
    doing: set[int] = set()

    def amount(item: str) -> Amount:
        return pool.get(item, 0) + sum(bound(n) * recipes[n].amount for n in makers.get(item, ()))

    def bound(number: int) -> int:
        if number in runs:
            return runs[number]
        if number in doing:
            raise _Circle
        doing.add(number)
        slots = recipes[number].slots
        limits = [sum(map(amount, slot.goods)) // slot.amount for slot in slots]
        doing.discard(number)
        runs[number] = min(int(min(limits)), MOST_RUNS)
        return runs[number]

    run_limits = []
    for number in range(len(recipes)):
        try:
            run_limits.append(bound(number))
        except _Circle:
            run_limits.append(MOST_RUNS)
        doing.clear()
    return run_limits


class _Circle(Exception):
    """Raised if the bound of a recipe depends on itself."""
