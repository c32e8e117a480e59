"""The keys to providers are nobody's reading: a reply that repeats one is stored without it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

SHORTEST = 12  # characters of a key; what is shorter may be a word
HIDDEN = "[key]"
_NAMED = re.compile(r"(?i).*(api_?key|secret|token|password)(_.*)?")  # variables that hold keys
_given: set[str] = set()  # keys that were used in this process


def remember(key: str) -> str:
    """Know a key that is about to be used; it is handed back."""
    if len(key) >= SHORTEST and key not in _given:
        _given.add(key)
        known.cache_clear()
    return key


def scrubbed(text: str) -> str:
    """The text without the values of the keys that this process has."""
    for key in known():
        if key in text:
            text = text.replace(key, HIDDEN)
    return text


@cache
def known() -> tuple[str, ...]:
    """Every key that was used or stood in the environment at first, the longest first."""
    return tuple(sorted({*_given, *_in_environment()}, key=len, reverse=True))


def _in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and not value.startswith("/") and _NAMED.fullmatch(name):
            yield value
