"""Rulesets as data: recipes, tags and fuel, in a compact file format of our own.

A ruleset file is TOML. A recipe is one line, "slots -> output", under the name of its kind:

    name = "little"
    given = ["oak_log", "coal"]            # goods that only a starting hand can bring (optional)
    [tags]
    planks = ["oak_planks", "#other"]      # a tag may contain tags
    [fuel]                                 # how many of an item make one fuel unit
    coal = 1
    "#planks" = "16/3"
    [cost]                                 # fuel units for each result, by kind
    smelting = "1/8"
    [recipes]
    shapeless = ["oak_log -> 4 oak_planks", "coal|charcoal + stick -> 4 torch"]
    smelting = ["#logs -> charcoal"]
"""

import difflib
import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib import resources

import msgspec

from sally.games.tradecraft.amounts import Amount, BadAmount, plain, read_amount
from sally.games.tradecraft.speech import good_said, item_said, slot_said

SHIPPED = ("minecraft_core", "alchemy")

_NAME = re.compile(r"[^\s#|+>=]+")
_PART = re.compile(r"(?:(\d{1,6})\s+)?(\S+)")


class BadRuleset(ValueError):
    """Raised if a ruleset cannot be read; the message states the problem, its place and a correct
    form."""


class Slot(msgspec.Struct, frozen=True):
    """One ingredient of a recipe: its amount, its written name, and the goods that can fill it."""

    amount: int
    name: str
    goods: tuple[str, ...]


class Recipe(msgspec.Struct, frozen=True):
    """A recipe from slots to an output; the crafting grid, shape and station of a Minecraft
    recipe are dropped, and the fuel cost is kept."""

    kind: str
    slots: tuple[Slot, ...]
    output: str
    amount: int
    fuel: int | Fraction = 0  # fuel units that one run costs

    def text(self, times: int = 1) -> str:
        """Return the recipe as one line of our file format."""
        slots = " + ".join(_part(slot.amount * times, slot.name) for slot in self.slots)
        return f"{slots} -> {_part(self.amount * times, self.output)}"

    def as_text(self, times: int = 1) -> str:
        """Return the recipe as text for people: `any 2 planks + 1 stick -> 1 wooden sword`."""
        places = " + ".join(slot_said(slot.amount * times, slot.name) for slot in self.slots)
        return f"{places} -> {good_said(self.output, self.amount * times)}"


@dataclass(frozen=True, eq=False)
class Ruleset:
    """A ruleset: recipes, tags, fuels and starting goods."""

    name: str
    recipes: tuple[Recipe, ...]
    tags: Mapping[str, tuple[str, ...]]
    fuel: Mapping[str, Amount]  # how many of the item make one fuel unit
    # declared starting goods; empty: all goods that no recipe makes
    given: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()  # what a loader left out, and why

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Every item named by a recipe, a tag, the fuel table or the starting goods, sorted."""
        names = {recipe.output for recipe in self.recipes} | set(self.fuel) | set(self.given)
        names.update(i for recipe in self.recipes for slot in recipe.slots for i in slot.goods)
        names.update(item for members in self.tags.values() for item in members)
        return tuple(sorted(names))

    @cached_property
    def item_set(self) -> frozenset[str]:
        """The items as a set."""
        return frozenset(self.items)

    @cached_property
    def heat(self) -> dict[str, Amount]:
        """Fuel units in one piece of each fuel."""
        return {item: plain(1 / Fraction(rate)) for item, rate in self.fuel.items()}

    @cached_property
    def makers(self) -> dict[str, tuple[int, ...]]:
        """For each item, the recipes (by position) that make it."""
        numbers_by_item: dict[str, list[int]] = {}
        for number, recipe in enumerate(self.recipes):
            numbers_by_item.setdefault(recipe.output, []).append(number)
        return {item: tuple(numbers) for item, numbers in numbers_by_item.items()}

    @cached_property
    def users(self) -> dict[str, tuple[int, ...]]:
        """For each item, the recipes (by position) with a slot that it may fill."""
        numbers_by_item: dict[str, list[int]] = {}
        for number, recipe in enumerate(self.recipes):
            for item in dict.fromkeys(i for slot in recipe.slots for i in slot.goods):
                numbers_by_item.setdefault(item, []).append(number)
        return {item: tuple(numbers) for item, numbers in numbers_by_item.items()}

    @cached_property
    def starting(self) -> frozenset[str]:
        """The goods from which everything else must be made."""
        return self.given or frozenset(self.items) - frozenset(self.makers)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the rules, independent of their file."""
        return hashlib.sha256(dump(self).encode()).hexdigest()[:16]

    def unknown(self, item: str) -> str | None:
        """Return why this is not an item of the ruleset, with the nearest name; None if it is
        one."""
        if item in self.item_set:
            return None
        nearest = difflib.get_close_matches(str(item)[:60].replace(" ", "_"), self.items, n=1)
        hint = f"; did you mean {item_said(nearest[0])}?" if nearest else "."
        return f"{str(item)[:60]!r} is no item of {self.name}{hint}"


@lru_cache(maxsize=8)
def shipped_ruleset(name: str) -> Ruleset:
    """Return a shipped ruleset by name."""
    if name not in SHIPPED:
        raise BadRuleset(
            f"There is no shipped ruleset {name!r}; the shipped ones are {', '.join(SHIPPED)}."
        )
    source = resources.files("sally.games.tradecraft") / "data" / f"{name}.toml"
    return parse(source.read_text(encoding="utf-8"), source=f"{name}.toml")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The top-level structure of a ruleset file."""

    name: str
    recipes: dict[str, list[str]]
    given: list[str] = []
    tags: dict[str, list[str]] = {}
    fuel: dict[str, int | float | str] = {}
    cost: dict[str, int | float | str] = {}


def parse(text: str, source: str = "ruleset") -> Ruleset:
    """Parse the text of a ruleset file in our own format."""
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as problem:
        raise BadRuleset(f"{source}: {problem}") from None
    tags = resolved_tags(file.tags)
    cost = {kind: _amount(raw, f"{source}, cost of {kind}") for kind, raw in file.cost.items()}
    recipes = [
        parse_recipe(line, kind, tags, cost.get(kind, 0), source)
        for kind, lines in file.recipes.items()
        for line in lines
    ]
    return Ruleset(
        name=file.name,
        recipes=tuple(recipes),
        tags=tags,
        fuel=_fuel(file.fuel, tags, source),
        given=frozenset(file.given),
    )


def parse_recipe(
    line: str, kind: str, tags: Mapping[str, tuple[str, ...]], cost: Amount = 0, source: str = ""
) -> Recipe:
    """Parse a recipe from one line such as "2 #planks -> 4 stick"."""
    left_side, arrow, right = line.partition("->")
    parts = [_PART.fullmatch(part.strip()) for part in left_side.split("+")]
    product = _PART.fullmatch(right.strip())
    if not arrow or product is None or not all(parts) or not _NAME.fullmatch(product[2]):
        raise BadRuleset(
            f"{source}: cannot read {line!r}; write a recipe like '2 #planks -> 4 stick'."
        )
    amounts: dict[str, int] = {}
    for part in parts:
        assert part is not None
        amounts[part[2]] = amounts.get(part[2], 0) + int(part[1] or 1)
    amount = int(product[1] or 1)
    if not amount or not all(amounts.values()):
        raise BadRuleset(f"{source}: {line!r} has an amount of zero; amounts are 1 or more.")
    slots = [Slot(n, name, members(name, tags, source)) for name, n in amounts.items()]
    return Recipe(kind, tuple(slots), product[2], amount, plain(Fraction(cost) * amount))


def members(name: str, tags: Mapping[str, tuple[str, ...]], source: str = "") -> tuple[str, ...]:
    """Return the goods that a written ingredient allows: an item, a #tag, or several joined by
    |."""
    goods: dict[str, None] = {}
    for choice in name.split("|"):
        if not _NAME.fullmatch(choice.removeprefix("#")):
            raise BadRuleset(
                f"{source}: {name!r} does not name an item; write stick, #planks or a|b."
            )
        choice_goods = tags.get(choice[1:], ()) if choice.startswith("#") else (choice,)
        goods.update(dict.fromkeys(choice_goods))
    return tuple(goods)


def resolved_tags(raw: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Return tags with nested tags resolved; a tag that contains itself adds nothing."""

    def spread(tag: str) -> dict[str, None]:
        goods: dict[str, None] = {}
        tags_seen, path = {tag}, [iter(raw.get(tag, ()))]
        while path:  # each tag is expanded once: paths through tags can be countless and long
            name = next(path[-1], None)
            inner = name.removeprefix("#") if name is not None else None
            if name is None or inner is None:
                path.pop()
            elif inner == name:
                goods[name] = None
            elif inner not in tags_seen:
                tags_seen.add(inner)
                path.append(iter(raw.get(inner, ())))
        return goods

    return {tag: tuple(spread(tag)) for tag in raw}


def dump(rules: Ruleset) -> str:
    """Return the ruleset as text in our own file format; parsing it gives the same rules."""
    rows = [f"name = {_q(rules.name)}", f"given = {_q(sorted(rules.given))}", "[tags]"]
    rows += [f"{_q(tag)} = {_q(list(goods))}" for tag, goods in sorted(rules.tags.items())]
    rows += ["[fuel]"]
    rows += [f"{_q(item)} = {_q(str(rate))}" for item, rate in sorted(rules.fuel.items())]
    costs = {recipe.kind: Fraction(recipe.fuel) / recipe.amount for recipe in rules.recipes}
    rows += ["[cost]"]
    rows += [f"{_q(kind)} = {_q(str(n))}" for kind, n in sorted(costs.items()) if n]
    rows += ["[recipes]"]
    for kind in sorted({recipe.kind for recipe in rules.recipes}):
        lines = [_q(r.text()) for r in rules.recipes if r.kind == kind]
        rows += [f"{_q(kind)} = [", *(f"    {line}," for line in lines), "]"]
    return "\n".join(rows) + "\n"


def _q(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _part(amount: int, name: str) -> str:
    return name if amount == 1 else f"{amount} {name}"


def _amount(raw: int | float | str, source: str) -> Amount:
    try:
        return read_amount(raw)
    except BadAmount as problem:
        raise BadRuleset(f"{source}: {problem}") from None


def _fuel(
    raw: Mapping[str, int | float | str], tags: Mapping[str, tuple[str, ...]], source: str
) -> dict[str, Amount]:
    """Return the fuel table by item; an entry for an item overrides an entry for its tag."""
    table: dict[str, Amount] = {}
    for name in sorted(raw, key=lambda name: not name.startswith("#")):
        rate = _amount(raw[name], f"{source}, fuel {name}")
        table.update(dict.fromkeys(members(name, tags, source), rate))
    return table
