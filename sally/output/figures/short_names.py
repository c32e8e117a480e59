"""Shortening of player names that must fit beside a plot."""

from __future__ import annotations

import re

SUM = re.compile(r"@[0-9a-f]{16}\b")  # hash after the name of a words pack
KEY = re.compile(r"(?<= )[a-z_]{4,}=")  # key of a self-explanatory setting
LEAST = 3  # minimum length of a shortened word
ASKED = 1  # position of the strategy in a name, after the model


def fitted(name: str, most: int) -> str:
    """Shorten a name to `most` characters by cutting the middle of its longest words.

    A name is a model, a strategy and settings. The hash of a words pack is removed first, then keys
    of settings; the strategy is shortened last.
    """
    for letters in (SUM, KEY):
        if len(name) > most:
            name = letters.sub("", name)
    if len(name) <= most:
        return name
    player, bracket, remark = name.partition(" (")
    if bracket:  # a remark in brackets is cut as a whole
        player = fitted(player, max(most // 2, most - len(remark) - 2))
        return f"{player} {_less(f'({remark}', most - len(player) - 1)}"
    words = name.split(" ")
    for places in ([i for i in range(len(words)) if i != ASKED], range(len(words))):
        while len(" ".join(words)) > most:
            at = max(places, key=lambda i: len(words[i]))
            if len(words[at]) <= LEAST:
                break
            words[at] = _less(words[at], len(words[at]) - 1)
    return _less(" ".join(words), most)


def _less(text: str, most: int) -> str:
    """Shorten a text to `most` characters by replacing its middle with an ellipsis; two thirds of
    what remains come from the beginning."""
    if len(text) <= most:
        return text
    bare = text.replace("…", "")
    head = 2 * most // 3
    return f"{bare[:head]}…{bare[len(bare) - (most - 1 - head) :]}"


def in_two(name: str, most: int = 20) -> tuple[str, str]:
    """Split a long name into two lines: the model, and the rest."""
    first, _, rest = name.partition(" ")
    return (first, rest) if len(SUM.sub("", name)) > most else (name, "")
