"""Parsing of replies in their usual forms; ambiguous replies are rejected."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from sally.core.errors import Unreadable
from sally.core.rules.words import objects_in
from sally.games.tradecraft.speech import item_meant, item_said

# Denominators that recipes and fuels lead to; two decimals distinguish only a few of them.
COARSE, FINE = (3, 6, 8, 12), (3, 6, 8, 9, 12, 16, 24, 48)
_DECIMAL = re.compile(r"\d{1,9}\.(\d{2,18})")
_MIXED = re.compile(r"(\d{1,9})\s+(\d{1,9}/\d{1,9})")  # 1 2/3
_WHOLE = re.compile(r"(\d{1,9})(?:\.0{1,9})?")


def seat_meant(name: Any, seats: Collection[str]) -> Any:
    """Return the seat named by `P2`, `player 2` or `2`; other values are returned unchanged."""
    if not isinstance(name, str) or name in seats:
        return name
    found = re.fullmatch(r"(?i)\s*p?(?:layer)?[\s_]*(\d)\s*", name)
    return f"p{found[1]}" if found and f"p{found[1]}" in seats else name


def amount_meant(amount: Any) -> Any:
    """Return an amount as exact text; a rounded decimal such as 0.667 becomes the nearest ratio."""
    if type(amount) in (int, float):
        amount = repr(amount)
    if not isinstance(amount, str):
        return amount
    text = amount.strip()
    if (whole := _WHOLE.fullmatch(text)) is not None:
        return str(int(whole[1]))
    if (mixed := _MIXED.fullmatch(text)) is not None and not re.search(r"/0+$", text):
        return str(int(mixed[1]) + Fraction(mixed[2]))
    if (decimal := _DECIMAL.fullmatch(text)) is None:
        return text
    return _ratio_near(Fraction(text), len(decimal[1])) or text


def _ratio_near(written: Fraction, places: int) -> str | None:
    """Return the simplest ratio that rounds or truncates to this decimal; None if the decimal is
    exact."""
    if written.denominator <= 20 or 64 % written.denominator == 0:
        return None  # tenths, quarters, eighths and so on are exact
    unit = Fraction(1, 10**places)
    for bottom in COARSE if places == 2 else FINE:
        near = Fraction(int(written * bottom + Fraction(1, 2)), bottom)
        if near and -unit / 2 <= near - written < unit:
            return str(near)
    return None


def whole_meant(number: Any) -> Any:
    """Return the whole number in 2, 2.0, "2" or "2.0"; other values are returned unchanged."""
    if type(number) is float and number.is_integer():
        return int(number)
    if isinstance(number, str) and (found := _WHOLE.fullmatch(number.strip())) is not None:
        return int(found[1])
    return number


def tidied(
    plain: Mapping[str, Any], known: Collection[str], seats: Collection[str]
) -> dict[str, Any]:
    """Return a reply's JSON object in standard form: goods as pairs of texts, names as in the
    rules."""
    tidy = dict(plain)
    if isinstance(tidy.get("kind"), str):
        tidy["kind"] = tidy["kind"].strip().lower()
    for side in ("offer", "request", "inputs"):
        if side in tidy:
            tidy[side] = _goods(tidy[side], known)
    if tidy.get("kind") == "propose":
        tidy["to"] = seat_meant(tidy.get("to"), seats)
        tidy.setdefault("message", "")
        tidy.setdefault("offer", [])
        tidy.setdefault("request", [])
    if tidy.get("kind") == "answer":
        tidy.setdefault("message", "")
        if isinstance(tidy.get("answer"), str):
            tidy["answer"] = tidy["answer"].strip().lower()
    if tidy.get("kind") == "craft":
        made = tidy.get("output")
        if isinstance(made, dict) and len(made) == 1 and "amount" not in tidy:
            ((tidy["output"], tidy["amount"]),) = made.items()
        tidy["amount"] = whole_meant(tidy.get("amount"))
        if isinstance(tidy.get("output"), str):
            tidy["output"] = item_meant(tidy["output"], known)
    return tidy


def _goods(given: Any, known: Collection[str]) -> Any:
    """Return goods as a list of pairs; other values are returned unchanged and rejected later."""
    if isinstance(given, dict):
        given = [list(pair) for pair in given.items()]
    if not isinstance(given, list):
        return given
    return [
        [item_meant(pair[0], known), amount_meant(pair[1])]
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
        else pair
        for pair in given
    ]


def values_in_json(
    reply: str, items: Collection[str], low: float, high: float
) -> dict[str, float] | None:
    """Return the values in a report written as JSON, or None if no object gives a value for an
    item."""
    found: dict[str, float] = {}
    for each in objects_in(reply):
        for item, worth in _by_item(each, items).items():
            value = _number(worth)
            if value is None:
                raise Unreadable(f"The value of {item_said(item)} is not a number: {worth!r:.40}.")
            if not low <= value <= high:
                raise Unreadable(
                    f"The value of {item_said(item)}, {value:g}, is not from {low:g} to {high:g}."
                )
            if found.setdefault(item, value) != value:
                both = f"{found[item]:g} and {value:g}"
                raise Unreadable(f"{item_said(item)} has two values, {both}; give one.")
    return found or None


def _by_item(given: Mapping[str, Any], items: Collection[str]) -> dict[str, Any]:
    """Return the entries of a JSON object whose keys are names of items. If no key is such a name
    and the object contains exactly one other object, return the entries of that inner object
    instead."""
    named = {item_meant(key, items): worth for key, worth in given.items()}
    mine = {item: worth for item, worth in named.items() if item in items}
    inner = [worth for worth in given.values() if isinstance(worth, dict)]
    return _by_item(inner[0], items) if not mine and len(inner) == 1 else mine


def _number(worth: Any) -> float | None:
    if isinstance(worth, str):
        written = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*(?:/\s*10)?\s*", worth)
        return float(written[1]) if written else None
    return float(worth) if type(worth) in (int, float) else None
