"""Replies that give every name a number: odds that sum to one, and values on a scale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sally.core.errors import Unreadable, listed
from sally.core.reply.plain_text import after_label, doubtful, without_thoughts


def read_odds(reply: str, names: Sequence[str]) -> tuple[float, ...]:
    """Return the probabilities that a reply gives to the names, as percentages or shares,
    normalised so that they sum to one."""
    teach = f"Answer with `Odds:` and a percentage for each of {listed(names, 'and')}."
    rest = stated = after_label(reply, "Odds") or without_thoughts(reply)
    odds = []
    for number in _numbered(tuple(names)):
        numbers = number.findall(stated)
        if len(numbers) != 1:
            raise Unreadable(teach)
        odds.append(float(numbers[0]))
        rest = number.sub(" ", rest)
    if doubtful(rest):
        raise Unreadable(teach)
    total = sum(odds)
    if not (99 <= total <= 101 or (0.99 <= total <= 1.01 and "%" not in stated)):
        raise Unreadable(f"{teach} Yours sum to {total:g}, not to 100.")
    return tuple(p / total for p in odds)


@lru_cache(maxsize=64)
def _numbered(names: tuple[str, ...]) -> list[re.Pattern[str]]:
    """Return, for each name, the pattern of the name followed by a number."""
    number = r"[^\w-]{1,6}(\d+(?:\.\d+)?)(?![\d-])\s*%?"
    return [re.compile(rf"(?i)(?<!\w){re.escape(name)}{number}") for name in names]


def read_values(reply: str, names: Sequence[str], low: float, high: float) -> dict[int, float]:
    """Return the number that a reply gives each name, by index; names without one are left out.

    Raises:
        Unreadable: No name has a number from `low` to `high`.
    """
    lines, places = (
        without_thoughts(reply).split("\n"),
        {name.casefold(): i for i, name in enumerate(names)},
    )
    line, said = _valued(tuple(names), f"{high:g}"), dict[int, dict[int, str]]()
    for n, text in enumerate(lines):
        hit = line.fullmatch(text) if text else None
        if hit and (place := places.get(hit[1].casefold())) is not None:
            said.setdefault(place, {})[n] = hit[2]
    once = {i: float(next(iter(at.values()))) for i, at in said.items() if len({*at.values()}) == 1}
    values = {i: once[i] for i in sorted(once) if low <= once[i] <= high}
    if not values:
        raise Unreadable(f"Answer with one line `<item>: <number>` for {listed(names, 'and')}.")
    return values


@lru_cache(maxsize=64)
def _valued(names: tuple[str, ...], most: str) -> re.Pattern[str]:
    """Return the pattern of a line with a name and a number, such as `3` or `3/10`."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    # then no punctuation before a name belongs to it
    plainly = all(re.match(r"\w", name) for name in names)
    before = r"\W*+" if plainly else r"\W*"
    number = rf"(-?\d+(?:\.\d+)?)(?: ?/ ?{most})?"
    after = r"(?: points?)?(?:[\s*_`]*\([^()]*\))?[\s*_`.,;|]*"
    return re.compile(rf"(?i){before}({known})\W*[:=][\s*_`]*{number}{after}")
