"""What kind of thing an item is, so that a picture of its kind can be drawn beside its name."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import resources

from sally.games.tradecraft.speech import item_said

SHAPES = 6  # for names that say nothing, such as made-up ones


@lru_cache(maxsize=4096)
def glyph(item: str) -> str:
    """The kind by the last word of a name that tells it; else a shape that the name alone fixes."""
    for word in reversed(item_said(item).split()):
        if word in _kinds():
            return _kinds()[word]
    return f"shape{blake2b(item.encode(), digest_size=4).digest()[0] % SHAPES}"


@cache
def _kinds() -> dict[str, str]:
    text = (resources.files(__package__) / "data" / "glyphs.toml").read_text("utf-8")
    return {word: kind for kind, words in tomllib.loads(text).items() for word in words.split()}
