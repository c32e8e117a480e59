"""Harness settings: the layout of a prompt and the form in which the answer is requested.

A study declares them as a language player's `harness`, so a design can cross them and an analysis
can show how much a score depends on them. Settings that are not given follow the strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput, Unreadable
from sally.core.rules.words import objects_in


class Harness(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Layout of a prompt; every default keeps the layout that the strategy itself uses."""

    history: int | None = None  # the number of history lines shown, counted from the end; None: all
    # `first`: the question is also placed above the rules
    question: Literal["last", "first"] = "last"
    options: Literal["listed", "unlisted"] = "listed"  # whether the answer format lists the options
    answer: Literal["line", "json"] = "line"

    def __post_init__(self) -> None:
        if self.history is not None and self.history < 0:
            raise ValueError(f"history must be at least 0 lines, not {self.history}")


AS_IT_IS = Harness()
LINE = "Answer with one line of the form `{label}: <name>`."
JSON = 'Answer with one JSON object of the form {{"answer": "<name>"}}'
AMONG = ", where <name> is one of {names}."


def read_harness(plain: Mapping[str, Any] | None) -> Harness:
    """Return the harness from plain data; raises BadInput if it is not a known layout."""
    try:
        return msgspec.convert(dict(plain or {}), Harness)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadInput(f"harness: {error}.") from None


def form_of(harness: Harness, form: str, label: str, names: tuple[str, ...]) -> str:
    """Return the answer format under this harness; if the move is not chosen from a menu, the
    game's own format."""
    if not names or (harness.options, harness.answer) == ("listed", "line"):
        return form
    if harness.answer == "json":
        instruction = JSON.format_map({})
        return instruction + (
            AMONG.format(names=", ".join(names)) if harness.options == "listed" else "."
        )
    return LINE.format(label=label)


def as_line(harness: Harness, reply: str, label: str, names: tuple[str, ...]) -> str:
    """Convert a reply to the format that the game's parser reads; JSON becomes a labelled line."""
    if harness.answer != "json" or not names:
        return reply
    values = [
        json_object["answer"]
        for json_object in objects_in(reply)
        if list(json_object) == ["answer"]
    ]
    if len(values) != 1 or type(values[0]) not in (str, int):
        raise Unreadable('Answer with exactly one JSON object of the form {"answer": "<name>"}.')
    return f"{label}: {values[0]}"
