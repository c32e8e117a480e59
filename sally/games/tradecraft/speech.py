"""Goods as people say them: `oak planks`, `1 2/3`; pages for models keep the names of the rules."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sally.core.errors import listed
from sally.games.tradecraft.amounts import BadAmount, read_amount


def item_said(item: str) -> str:
    """An item's name in words."""
    return item.rpartition(":")[2].replace("_", " ").replace(".", " ")


def amount_said(amount: str | int | Fraction) -> str:
    """An amount as people write it: 2, 2/3, 1 2/3; what cannot be read stays as it is."""
    try:
        exact = read_amount(amount)
    except BadAmount:
        return str(amount)
    whole, rest = divmod(exact, 1)
    return " ".join(str(part) for part in (whole, rest) if part)


def goods_said(goods: Iterable[tuple[str, str | int | Fraction]]) -> str:
    """Goods in a sentence, or "nothing"."""
    return listed(f"{amount_said(amount)} {item_said(item)}" for item, amount in goods)
