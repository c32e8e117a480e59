"""Shortening of player names that must fit beside a plot."""

from __future__ import annotations

import re
from collections.abc import Sequence

SUM = re.compile(r"@[0-9a-f]{16}\b")  # hash after the name of a words pack
KEY = re.compile(r"(?<= )[a-z_]{4,}=")  # key of a self-explanatory setting
LEAST = 3  # minimum length of a shortened word
ASKED = 1  # position of the strategy in a name, after the model


def shorten(name: str, length: int) -> str:
    """Shorten a name to `length` characters by cutting the middle of its longest words.

    A name is a model, a strategy and settings. The hash of a words pack is removed first, then keys
    of settings; the strategy is shortened last.
    """
    for letters in (SUM, KEY):
        if len(name) > length:
            name = letters.sub("", name)
    if len(name) <= length:
        return name
    player, bracket, remark = name.partition(" (")
    if bracket:  # a remark in brackets is cut as a whole
        player = shorten(player, max(length // 2, length - len(remark) - 2))
        return f"{player} {_cut_middle(f'({remark}', length - len(player) - 1)}"
    words = name.split(" ")
    for places in ([i for i in range(len(words)) if i != ASKED], range(len(words))):
        while len(" ".join(words)) > length:
            longest = max(places, key=lambda i: len(words[i]))
            if len(words[longest]) <= LEAST:
                break
            words[longest] = _cut_middle(words[longest], len(words[longest]) - 1)
    return _cut_middle(" ".join(words), length)


def split_common(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words that all names share, and each name without them.

    A name without other words, such as that of a model beside its words packs, stays as it is.
    Nothing is taken out if two names would be the same.
    """
    if len(set(names)) < 2:
        return "", list(names)
    shared = set.intersection(*(set(name.split(" ")) for name in names))
    bare = [" ".join(w for w in name.split(" ") if w not in shared) or name for name in names]
    if len(set(bare)) < len(set(names)):
        return "", list(names)
    return " ".join(word for word in names[0].split(" ") if word in shared), bare


def _cut_middle(text: str, length: int) -> str:
    """Shorten a text to `length` characters by replacing its middle with an ellipsis; two thirds of
    what remains come from the beginning."""
    if len(text) <= length:
        return text
    bare = text.replace("…", "")
    head = 2 * length // 3
    return f"{bare[:head]}…{bare[len(bare) - (length - 1 - head) :]}"


def in_two(name: str, length: int = 20) -> tuple[str, str]:
    """Split a long name into two lines: the model, and the rest."""
    first, _, remainder = name.partition(" ")
    return (first, remainder) if len(SUM.sub("", name)) > length else (name, "")
