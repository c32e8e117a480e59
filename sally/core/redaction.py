"""Redaction of API keys: a reply that repeats a key is stored without it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

SHORTEST = 12  # characters of a key; a shorter value may be an ordinary word
HIDDEN = "[key]"
# environment variables that hold keys
_NAMED = re.compile(r"(?i).*(api_?key|secret|token|password)(_.*)?")
_given: set[str] = set()  # keys used in this process


def remember(key: str) -> str:
    """Remember a key that is about to be used, and return it."""
    if len(key) >= SHORTEST and key not in _given:
        _given.add(key)
        known.cache_clear()
    return key


def scrubbed(text: str) -> str:
    """Return the text without the values of known keys."""
    for key in known():
        if key in text:
            text = text.replace(key, HIDDEN)
    return text


@cache
def known() -> tuple[str, ...]:
    """Return every key that was used or was in the environment at the start, the longest first."""
    return tuple(sorted({*_given, *_in_environment()}, key=len, reverse=True))


def _in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and not value.startswith("/") and _NAMED.fullmatch(name):
            yield value
