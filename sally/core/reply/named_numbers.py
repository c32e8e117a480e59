"""Replies that give every name a number: odds that sum to one, and values on a scale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sally.core.errors import Unreadable, join_names
from sally.core.reply.plain_text import plain, without_thoughts

_ODDS = re.compile(r"(?im)^[^\w\n]*+odds[*_` ]*+[:=]")
_ASIDE = re.compile(r"\band\b|\([^()]*\)")


def read_odds(reply: str, names: Sequence[str]) -> tuple[float, ...]:
    """Return the probabilities that a reply gives to the names after `Odds:`, as percentages or
    shares, normalised so that they sum to one.

    Raises:
        Unreadable: A name has no number or several, or the reply says something else as well.
    """
    teach = f"Answer with `Odds:` and a percentage for each of {join_names(names, 'and')}."
    unread = stated = plain(_ODDS.split(without_thoughts(reply))[-1])
    odds = []
    for number in _number_patterns(tuple(names)):
        numbers = number.findall(stated)
        if len(numbers) != 1:
            raise Unreadable(teach)
        odds.append(float(numbers[0]))
        unread = number.sub(" ", unread)
    if re.search(r"[\w?/]", _ASIDE.sub(" ", unread)):
        raise Unreadable(teach)
    total = sum(odds)
    if not (99 <= total <= 101 or (0.99 <= total <= 1.01 and "%" not in stated)):
        raise Unreadable(f"{teach} Yours sum to {total:g}, not to 100.")
    return tuple(chance / total for chance in odds)


@lru_cache(maxsize=64)
def _number_patterns(names: tuple[str, ...]) -> list[re.Pattern[str]]:
    """Return, for each name, the pattern of the name followed by a number."""
    number = r"[^\w-]{1,6}(\d+(?:\.\d+)?)(?![\d-])\s*%?"
    return [re.compile(rf"(?<!\w){re.escape(plain(name))}{number}") for name in names]


def read_values(reply: str, names: Sequence[str], low: float, high: float) -> dict[int, float]:
    """Return the number that a reply gives each name, by index; names without one, or with two
    different ones, are left out.

    Raises:
        Unreadable: No name has a number from `low` to `high`.
    """
    places = {name.casefold(): place for place, name in enumerate(names)}
    pattern, numbers = _value_pattern(tuple(names), f"{high:g}"), dict[int, set[str]]()
    for line in without_thoughts(reply).split("\n"):
        if hit := pattern.fullmatch(line):
            numbers.setdefault(places[hit[1].casefold()], set()).add(hit[2])
    stated = {place: float(*texts) for place, texts in sorted(numbers.items()) if len(texts) == 1}
    values = {place: number for place, number in stated.items() if low <= number <= high}
    if not values:
        raise Unreadable(f"Answer with one line `<item>: <number>` for {join_names(names, 'and')}.")
    return values


@lru_cache(maxsize=64)
def _value_pattern(names: tuple[str, ...], highest: str) -> re.Pattern[str]:
    """Return the pattern of a line with a name and a number, such as `3` or `3/10`."""
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    # then no punctuation before a name belongs to it
    plainly = all(re.match(r"\w", name) for name in names)
    signs_before = r"\W*+" if plainly else r"\W*"
    number = rf"(-?\d+(?:\.\d+)?)(?: ?/ ?{highest})?"
    signs_after = r"(?: points?)?(?:[\s*_`]*\([^()]*\))?[\s*_`.,;|]*"
    return re.compile(rf"(?i){signs_before}({any_name})\W*[:=][\s*_`]*{number}{signs_after}")
