"""Reading a choice out of words: what a careful person would accept, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sally.core.errors import Unreadable, listed

_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|except|anything but|(?:do|wo|ca|is|would|should)nt)\b"
)
_MARKS = str.maketrans("", "", "*_`\"'“”‘’[]<>")


def plain(text: str) -> str:
    """The text without markdown, quotes and doubled blanks, in one letter case."""
    return re.sub(r"[ \t]+", " ", text.translate(_MARKS)).strip().casefold()


def after_label(reply: str, label: str) -> str | None:
    """What stands behind the last `label:` at the start of a line, or None without one."""
    marked = rf"(?im)^[\s>#*_`-]*{re.escape(label)}[*_` ]*[:：][*_` ]*(.*)$"
    found = re.findall(marked, reply)
    return found[-1] if found else None


def named(text: str, names: Sequence[str]) -> list[int]:
    """Which of the names stand in the text as whole words, longest first; none if it denies."""
    left, hits = plain(text), []
    for i in sorted(range(len(names)), key=lambda i: -len(names[i])):
        if not plain(names[i]):
            continue
        whole = rf"(?<![\w-]){re.escape(plain(names[i]))}(?![\w-])"
        left, count = re.subn(whole, " ", left)
        if count:
            hits.append(i)
    return [] if _DENIED.search(left) else sorted(hits)


def read_choice(reply: str, names: Sequence[str], label: str) -> int:
    """The index of the one name that the reply chooses; raises Unreadable otherwise."""
    stated = after_label(reply, label)
    teach = f"Answer with `{label}:` and exactly one of {listed(names, 'or')}."
    if stated is not None:
        hits = named(stated, names)
    else:
        said = plain(reply).strip(" .!")
        hits = [i for i, name in enumerate(names) if said and plain(name).strip(" .!") == said]
    if len(hits) != 1:
        raise Unreadable(teach)
    return hits[0]
