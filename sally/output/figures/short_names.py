"""Names of players that have to fit beside a plot: which model, asked how, stays readable."""

from __future__ import annotations

import re

SUM = re.compile(r"@[0-9a-f]{16}\b")  # behind the name of a words pack
KEY = re.compile(r"(?<= )[a-z_]{4,}=")  # before a value that says itself what it is
LEAST = 3  # letters that a word keeps
ASKED = 1  # the place of the strategy in a name, behind the model


def fitted(name: str, most: int) -> str:
    """A name in so many letters: its longest words give way in their middles, step by step.

    A name is a model, a strategy and settings, so a cut through the whole of it would lose the
    strategy, which gives way last. The sum of a words pack goes first, then keys of settings.
    """
    for letters in (SUM, KEY):
        if len(name) > most:
            name = letters.sub("", name)
    if len(name) <= most:
        return name
    player, bracket, remark = name.partition(" (")
    if bracket:  # a remark is a sentence: it gives way as a whole
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
    """A text whose middle has given way, more of its beginning kept: models differ in their sizes.

    What was left out before stays one mark.
    """
    if len(text) <= most:
        return text
    bare = text.replace("…", "")
    head = 2 * most // 3
    return f"{bare[:head]}…{bare[len(bare) - (most - 1 - head) :]}"


def in_two(name: str, most: int = 20) -> tuple[str, str]:
    """A name as a line and a smaller second line: a long one has its model in the first."""
    first, _, rest = name.partition(" ")
    return (first, rest) if len(SUM.sub("", name)) > most else (name, "")
