"""Exact amounts: whole numbers are ints, all others Fractions, and none are floats.

Operations on ints take a tenth of the time of those on Fractions, and most amounts are whole, so
`plain` converts whole values to ints; arithmetic that mixes the two types stays exact, whatever
denominators arise from fuel and mixed slots.
"""

import math
import re
from fractions import Fraction
from typing import TypeAlias

Amount: TypeAlias = int | Fraction

MOST = 1_000_000  # more of one good than any ruleset can use
FINEST = 1_000_000  # the largest denominator a player may write

_WRITTEN = re.compile(r"([+-]?)(\d{1,18})(?:\.(\d{1,18})|/(\d{1,18}))?", re.ASCII)


class BadAmount(ValueError):
    """Raised for an amount that cannot be read or is not allowed; the message gives the reason."""


def plain(amount: Amount) -> Amount:
    """Return the same amount, as an int if it is whole."""
    if type(amount) is int or amount.denominator != 1:
        return amount
    return amount.numerator


def read_amount(raw: object) -> Amount:
    """Return the amount given as a number or as a string such as "2", "0.5" or "2/3"."""
    amount = _value(raw)
    if amount < 0:
        raise BadAmount(f"An amount cannot be negative, as {_quote(raw)} is.")
    if amount == 0:
        raise BadAmount("An amount must be more than zero; leave out what you do not mean.")
    if amount > MOST:
        raise BadAmount(f"{_quote(raw)} is too much: an amount is at most {MOST}.")
    if amount.denominator > FINEST:
        raise BadAmount(
            f"{_quote(raw)} is too fine: the denominator of an amount is at most {FINEST}."
        )
    return plain(amount)


def _value(raw: object) -> Amount:
    if isinstance(raw, bool):
        raise BadAmount(f"{raw} is not an amount; write a number such as 2, 0.5 or 2/3.")
    if isinstance(raw, int | Fraction):
        return raw
    if isinstance(raw, float):
        if not math.isfinite(raw):
            raise BadAmount(f"{raw} is not an amount; write a finite number such as 2 or 0.5.")
        # The shortest decimal is what was meant: 0.1 is a tenth, not its binary neighbour.
        return Fraction(repr(raw))
    if isinstance(raw, str):
        return _read_written(raw)
    raise BadAmount(
        f"An amount is a number such as 2, 0.5 or 2/3, not a value of type {type(raw).__name__}."
    )


def _read_written(text: str) -> Amount:
    number = _WRITTEN.fullmatch(text.strip())
    if number is None:
        raise BadAmount(
            f"{_quote(text)} is not an amount; write up to 18 digits such as 2, 0.5 or 2/3."
        )
    sign, integer, decimals, denominator = number.groups()
    value = Fraction(int(integer))
    if decimals:
        value += Fraction(int(decimals), 10 ** len(decimals))
    if denominator:
        if int(denominator) == 0:
            raise BadAmount(f"{_quote(text)} divides by zero; write an amount such as 1/2.")
        value /= int(denominator)
    return -value if sign == "-" else value


def _quote(raw: object) -> str:
    """Return the rejected value, shortened; a huge number is not printed."""
    if isinstance(raw, int | Fraction) and max(abs(raw.numerator), raw.denominator) >= 10**30:
        return "That number"
    text = repr(raw) if isinstance(raw, str) else str(raw)
    return text if len(text) <= 40 else text[:37] + "..."
