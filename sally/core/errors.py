"""Bad input in one clear sentence: what is wrong, where, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


class BadInput(ValueError):
    """Something the user gave us cannot be right; the message is shown as it stands."""


class RunFailed(Exception):
    """A run could not go on, through no fault of what the user wrote; the message says why."""


class IllegalMove(BadInput):
    """An answer that the rules do not allow at this point; the match is left as it was."""


class NotAsked(BadInput):
    """An answer to an ask that is not open: out of turn, given twice, or made up."""


class PromptDiffers(Exception):
    """A replayed call does not show what the logged call showed."""


class Unreadable(ValueError):
    """A reply in which no legal answer can be read; its message teaches the one who retries."""


class TooLong(Unreadable):
    """A reply with more characters than are ever read."""


def unknown(what: str, name: str, known: Iterable[str]) -> BadInput:
    """The error for a name that is not there, with the nearest ones that are."""
    names = sorted(known, key=_by_number)
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return BadInput(f"There is no {what} named {name!r}; did you mean {listed(close, 'or')}?")
    if not names:
        return BadInput(f"There is no {what} named {name!r}; none is known here.")
    return BadInput(f"There is no {what} named {name!r}; known are {listed(names, 'and')}.")


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    """Names as people sort them: 2 before 10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts]


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names in a sentence: `a`, `a and b`, `a, b and c`."""
    *head, tail = [str(n) for n in names] or ["nothing"]
    return f"{', '.join(head)} {last} {tail}" if head else tail
