"""Goods in the form that people write: `oak planks`, `4 sticks`, `1 2/3 coal`, `any 2 planks`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from importlib import resources

from sally.core.errors import listed
from sally.games.tradecraft.amounts import BadAmount, read_amount

Said = str | int | Fraction  # an amount, exact or as it was written

# Countable things. Others do not change in number: coal, string, iron ore, and invented names,
# whose plural is unknown.
COUNTED = frozenset(
    (resources.files(__package__) / "data" / "counted.txt").read_text("utf-8").split()
)
PAIRS = frozenset({"boots", "leggings", "shears"})
ONE_OF = {"planks": "plank"}  # plural names, and their singular
_ODD = {"leaf": "leaves", "loaf": "loaves", "knife": "knives", "sheaf": "sheaves"}
_ODD |= {"bookshelf": "bookshelves", "potato": "potatoes"}


@lru_cache(maxsize=4096)
def item_said(item: str) -> str:
    """Return an item's name as ordinary words."""
    return item.rpartition(":")[2].replace("_", " ").replace(".", " ")


def counted(item: str, many: bool) -> str:
    """Return an item's name for use with an amount: stick, sticks, pair of shears."""
    said = item_said(item)
    before, _, last = said.rpartition(" ")
    head = f"{before} " if before else ""
    if last in PAIRS:
        return f"{'pairs' if many else 'pair'} of {said}"
    if not many:
        return head + ONE_OF.get(last, last)
    return head + (_plural(last) if last in COUNTED else last)


def _plural(word: str) -> str:
    if word in _ODD:
        return _ODD[word]
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(ch|sh|s|x|z)$", word) else "s")


def amount_said(amount: Said) -> str:
    """Return an amount in the form that people write: 2, 2/3, 1 2/3; unreadable values are
    unchanged."""
    if (exact := _exact(amount)) is None or exact <= 0:
        return str(amount)
    whole, rest = divmod(exact, 1)
    return " ".join(str(part) for part in (whole, rest) if part)


def _exact(amount: Said) -> int | Fraction | None:
    if not isinstance(amount, str):
        return amount  # computed amounts may exceed what a player may write
    try:
        return read_amount(amount)
    except BadAmount:
        return None


def _many(amount: Said) -> bool:
    return (exact := _exact(amount)) is None or exact > 1


@lru_cache(maxsize=4096)  # the same goods occur in many lines
def good_said(item: str, amount: Said) -> str:
    """Return an amount of an item: `4 sticks`, `1/8 coal`."""
    return f"{amount_said(amount)} {counted(item, _many(amount))}"


def goods_said(goods: Mapping[str, Said] | Iterable[tuple[str, Said]]) -> str:
    """Return goods as a phrase, or "nothing"."""
    pairs = goods.items() if isinstance(goods, Mapping) else goods
    return listed(good_said(item, amount) for item, amount in pairs)


def units_said(fuel: Said) -> str:
    """Return an amount of fuel: `1/8 fuel unit`, `2 fuel units`."""
    return f"{amount_said(fuel)} fuel unit{'s' if _many(fuel) else ''}"


# --- recipes --------------------------------------------------------------------------------------


def slot_said(amount: Said, name: str) -> str:
    """Return one slot of a recipe as text: `2 sticks`, `any 2 planks`, `1 coal or charcoal`."""
    first, *more = name.split("|")
    if not first.startswith("#"):
        named = [item_said(each.removeprefix("#")) for each in more]
        return listed((good_said(first, amount), *named), "or")
    group = item_said(first[1:])  # a group is named in the plural: planks, wooden slabs
    if not _many(amount):
        group = re.sub(r"(?<=[^s])s$", "", group)
    return listed((f"any {amount_said(amount)} {group}", *map(item_said, more)), "or")


# --- names, read back -----------------------------------------------------------------------------


def item_meant(name: str, known: Collection[str]) -> str:
    """Return the item with this name, which may be spelled as in the rules or as in everyday text.

    A name that matches no item is returned unchanged, so that the error can quote it.
    """
    if name in known:
        return name
    tidy = " ".join(re.split(r"[\s_-]+", name.strip().lower()))
    forms = _forms(known if isinstance(known, frozenset) else frozenset(known))
    spellings = (tidy, tidy.replace(":", " "), tidy.rpartition(":")[2])
    return next((forms[each] for each in spellings if each in forms), name)


@lru_cache(maxsize=64)
def _forms(known: frozenset[str]) -> dict[str, str]:
    """Return the item for each written form of its name; a form shared by two items is left out."""
    found: dict[str, str] = {}
    for write in (item_said, lambda item: counted(item, True), lambda item: counted(item, False)):
        fresh: dict[str, set[str]] = {}
        for item in known:
            fresh.setdefault(write(item), set()).add(item)
        for said, items in fresh.items():
            if len(items) == 1:
                found.setdefault(said, *items)
    return found
