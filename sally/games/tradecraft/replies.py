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
    seat_name = re.fullmatch(r"(?i)\s*p?(?:layer)?[\s_]*(\d)\s*", name)
    return f"p{seat_name[1]}" if seat_name and f"p{seat_name[1]}" in seats else name


def amount_meant(amount: Any) -> Any:
    """Return an amount as exact text; a rounded decimal such as 0.667 becomes the nearest ratio."""
    if type(amount) in (int, float):
        amount = repr(amount)
    if not isinstance(amount, str):
        return amount
    text = amount.strip()
    if (integer := _WHOLE.fullmatch(text)) is not None:
        return str(int(integer[1]))
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
        nearest = Fraction(int(written * bottom + Fraction(1, 2)), bottom)
        if nearest and -unit / 2 <= nearest - written < unit:
            return str(nearest)
    return None


def whole_meant(number: Any) -> Any:
    """Return the whole number in 2, 2.0, "2" or "2.0"; other values are returned unchanged."""
    if type(number) is float and number.is_integer():
        return int(number)
    if isinstance(number, str) and (integer := _WHOLE.fullmatch(number.strip())) is not None:
        return int(integer[1])
    return number


def tidy_reply(
    plain: Mapping[str, Any], item_names: Collection[str], seats: Collection[str]
) -> dict[str, Any]:
    """Return a reply's JSON object in standard form: goods as pairs of texts, names as in the
    rules."""
    tidy = dict(plain)
    if isinstance(tidy.get("kind"), str):
        tidy["kind"] = tidy["kind"].strip().lower()
    for side in ("offer", "request", "inputs"):
        if side in tidy:
            tidy[side] = _goods(tidy[side], item_names)
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
        output = tidy.get("output")
        if isinstance(output, dict) and len(output) == 1 and "amount" not in tidy:
            ((tidy["output"], tidy["amount"]),) = output.items()
        tidy["amount"] = whole_meant(tidy.get("amount"))
        if isinstance(tidy.get("output"), str):
            tidy["output"] = item_meant(tidy["output"], item_names)
    return tidy


def _goods(pairs: Any, item_names: Collection[str]) -> Any:
    """Return goods as a list of pairs; other values are returned unchanged and rejected later."""
    if isinstance(pairs, dict):
        pairs = [list(pair) for pair in pairs.items()]
    if not isinstance(pairs, list):
        return pairs
    return [
        [item_meant(pair[0], item_names), amount_meant(pair[1])]
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
        else pair
        for pair in pairs
    ]


def values_in_json(
    reply: str, items: Collection[str], low: float, high: float
) -> dict[str, float] | None:
    """Return the values in a report written as JSON, or None if no object gives a value for an
    item."""
    values: dict[str, float] = {}
    for json_object in objects_in(reply):
        for item, raw_value in _by_item(json_object, items).items():
            value = _number(raw_value)
            if value is None:
                raise Unreadable(
                    f"The value of {item_said(item)} is not a number: {raw_value!r:.40}."
                )
            if not low <= value <= high:
                raise Unreadable(
                    f"The value of {item_said(item)}, {value:g}, is not from {low:g} to {high:g}."
                )
            if values.setdefault(item, value) != value:
                two_values = f"{values[item]:g} and {value:g}"
                raise Unreadable(f"{item_said(item)} has two values, {two_values}; give one.")
    return values or None


def _by_item(entries: Mapping[str, Any], items: Collection[str]) -> dict[str, Any]:
    """Return the entries of a JSON object whose keys are names of items. If no key is such a name
    and the object contains exactly one other object, return the entries of that inner object
    instead."""
    by_name = {item_meant(key, items): raw_value for key, raw_value in entries.items()}
    item_entries = {item: raw_value for item, raw_value in by_name.items() if item in items}
    inner = [raw_value for raw_value in entries.values() if isinstance(raw_value, dict)]
    return _by_item(inner[0], items) if not item_entries and len(inner) == 1 else item_entries


def _number(raw_value: Any) -> float | None:
    if isinstance(raw_value, str):
        written = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*(?:/\s*10)?\s*", raw_value)
        return float(written[1]) if written else None
    return float(raw_value) if type(raw_value) in (int, float) else None
