"""Goods in the form that people write: `oak planks`, `4 sticks`, `1 2/3 coal`, `any 2 planks`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from importlib import resources

from sally.core.errors import join_names
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


def counted_name(item: str, is_plural: bool) -> str:
    """Return an item's name for use with an amount: stick, sticks, pair of shears."""
    item_name = item_said(item)
    head_words, _, last = item_name.rpartition(" ")
    head = f"{head_words} " if head_words else ""
    if last in PAIRS:
        return f"{'pairs' if is_plural else 'pair'} of {item_name}"
    if not is_plural:
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
    integer, fraction = divmod(exact, 1)
    return " ".join(str(part) for part in (integer, fraction) if part)


def _exact(amount: Said) -> int | Fraction | None:
    if not isinstance(amount, str):
        return amount  # computed amounts may exceed what a player may write
    try:
        return read_amount(amount)
    except BadAmount:
        return None


def _is_plural(amount: Said) -> bool:
    return (exact := _exact(amount)) is None or exact > 1


@lru_cache(maxsize=4096)  # the same goods occur in many lines
def good_said(item: str, amount: Said) -> str:
    """Return an amount of an item: `4 sticks`, `1/8 coal`."""
    return f"{amount_said(amount)} {counted_name(item, _is_plural(amount))}"


def goods_said(goods: Mapping[str, Said] | Iterable[tuple[str, Said]]) -> str:
    """Return goods as a phrase, or "nothing"."""
    pairs = goods.items() if isinstance(goods, Mapping) else goods
    return join_names(good_said(item, amount) for item, amount in pairs)


def units_said(fuel: Said) -> str:
    """Return an amount of fuel: `1/8 fuel unit`, `2 fuel units`."""
    return f"{amount_said(fuel)} fuel unit{'s' if _is_plural(fuel) else ''}"


# --- recipes --------------------------------------------------------------------------------------


def slot_said(amount: Said, name: str) -> str:
    """Return one slot of a recipe as text: `2 sticks`, `any 2 planks`, `1 coal or charcoal`."""
    first, *alternatives = name.split("|")
    if not first.startswith("#"):
        alternative_names = [
            item_said(alternative.removeprefix("#")) for alternative in alternatives
        ]
        return join_names((good_said(first, amount), *alternative_names), "or")
    group = item_said(first[1:])  # a group is named in the plural: planks, wooden slabs
    if not _is_plural(amount):
        group = re.sub(r"(?<=[^s])s$", "", group)
    return join_names((f"any {amount_said(amount)} {group}", *map(item_said, alternatives)), "or")


# --- names, read back -----------------------------------------------------------------------------


def item_meant(name: str, item_names: Collection[str]) -> str:
    """Return the item with this name, which may be spelled as in the rules or as in everyday text.

    A name that matches no item is returned unchanged, so that the error can quote it.
    """
    if name in item_names:
        return name
    tidy = " ".join(re.split(r"[\s_-]+", name.strip().lower()))
    forms = _forms(item_names if isinstance(item_names, frozenset) else frozenset(item_names))
    spellings = (tidy, tidy.replace(":", " "), tidy.rpartition(":")[2])
    return next((forms[spelling] for spelling in spellings if spelling in forms), name)


@lru_cache(maxsize=64)
def _forms(item_names: frozenset[str]) -> dict[str, str]:
    """Return the item for each written form of its name; a form shared by two items is left out."""
    items_by_form: dict[str, str] = {}
    for write in (
        item_said,
        lambda item: counted_name(item, True),
        lambda item: counted_name(item, False),
    ):
        fresh: dict[str, set[str]] = {}
        for item in item_names:
            fresh.setdefault(write(item), set()).add(item)
        for form, items in fresh.items():
            if len(items) == 1:
                items_by_form.setdefault(form, *items)
    return items_by_form
