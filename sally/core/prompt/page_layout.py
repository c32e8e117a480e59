"""Choices of a harness that are nobody's mind: how a page is laid out and an answer asked for.

They are declared in a study as a language player's `harness`, so that a design can cross them and
an analysis can say how much of a score hangs on them. What is not named is as the strategy has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput, Unreadable
from sally.core.prompt.words import objects_in


class Harness(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a page is laid out; every default is what a strategy does by itself."""

    history: int | None = None  # the last so many lines of the past; None: all of it
    question: Literal["last", "first"] = "last"  # whether it also stands above the rules
    options: Literal["listed", "unlisted"] = "listed"  # whether the form of answer names them
    answer: Literal["line", "json"] = "line"

    def __post_init__(self) -> None:
        if self.history is not None and self.history < 0:
            raise ValueError(f"history must be at least 0 lines, not {self.history}")


AS_IT_IS = Harness()
LINE = "Answer with one line of the form `{label}: <name>`."
JSON = 'Answer with one JSON object of the form {{"answer": "<name>"}}'
AMONG = ", where <name> is one of {names}."


def read_harness(given: Mapping[str, Any] | None) -> Harness:
    """The harness from plain data; one clear sentence where it is none."""
    try:
        return msgspec.convert(dict(given or {}), Harness)
    except (msgspec.ValidationError, ValueError) as why:
        raise BadInput(f"harness: {why}.") from None


def form_of(harness: Harness, form: str, label: str, names: tuple[str, ...]) -> str:
    """How to answer, in this harness; where there is no menu, the game's own form stays."""
    if not names or (harness.options, harness.answer) == ("listed", "line"):
        return form
    if harness.answer == "json":
        asked = JSON.format_map({})
        return asked + (
            AMONG.format(names=", ".join(names)) if harness.options == "listed" else "."
        )
    return LINE.format(label=label)


def as_line(harness: Harness, reply: str, label: str, names: tuple[str, ...]) -> str:
    """A reply as the game's words read it; a JSON answer becomes the line that it stands for."""
    if harness.answer != "json" or not names:
        return reply
    found = [one for one in objects_in(reply) if "answer" in one]
    if len(found) != 1:
        raise Unreadable('Answer with exactly one JSON object of the form {"answer": "<name>"}.')
    return f"{label}: {found[0]['answer']}"
