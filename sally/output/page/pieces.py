"""The small pieces that transcripts are made of, and values in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import msgspec

from sally.core.game import NATURE
from sally.core.log import Censored, Ended, Event, Looked, Moved, Reported, Skipped, Told
from sally.core.model import Message
from sally.output.page.html import Html, tag
from sally.output.plots import number


def is_natures(events: Sequence[Event]) -> bool:
    """Whether nobody but nature had a turn here."""
    return all(isinstance(event, Moved) and event.seat == NATURE for event in events)


def drawn(action: Any) -> str:
    """What nature drew, as the log has it."""
    if not isinstance(action, dict):
        return plain_text(action)
    rest = {name: value for name, value in action.items() if name != "kind"}
    said = "; ".join(f"{name} {amounts_text(value)}" for name, value in rest.items())
    return f"{action['kind']}: {said}" if "kind" in action else said


def fold(head: str, said: str) -> Html:
    """A long text, closed until somebody opens it."""
    return tag("details", tag("summary", head), tag("pre", said, dir="auto"), class_="rules")


def line(head: str, *inside: str | Html | None) -> Html:
    """One line of a seat: what it does, and what stands beside that."""
    lead = tag("span", head, class_="lead") if head else None
    return tag("div", lead, tag("div", inside), class_="line")


def quoted(head: str, said: str) -> Html | None:
    """A text under its heading; nothing where there is none."""
    if not said.strip():
        return None
    return line(head, tag("pre", str(said), dir="auto"))


def reply_line(said: str) -> Html | None:
    """What was said, word for word."""
    if not said.strip():
        return None
    return line("says", tag("pre", said, dir="auto", class_="reply"))


def tries_badge(tries: int) -> Html | None:
    """How many tries an answer took, if more than one."""
    return tag("span", f"{tries} tries", class_="badge quiet") if tries > 1 else None


def memory_line(memory: Any) -> Html | None:
    """The notes that a player keeps for its next turn."""
    return None if memory in (None, "", [], {}) else quoted("keeps", plain_text(memory))


def look_ups(looked: Iterable[Looked]) -> Iterator[Html | None]:
    """What was looked up, and what was found."""
    for look in looked:
        given = ", ".join(f"{key} {plain_text(value)}" for key, value in look.given.items())
        yield quoted(f"looks up {look.tool}", f"{given}: {plain_text(look.found)}")


def asked_of(event: Reported | Told | Skipped) -> str:
    """A probe by name, and about whom it is."""
    return f"{event.probe} about {event.about}" if event.about else event.probe


def end_line(event: Ended | Censored) -> Html:
    """How the episode ended."""
    if isinstance(event, Censored):
        who = f" ({event.seat})" if event.seat else ""
        why = f"Stopped without a result, {event.cause}{who}: {event.detail}".rstrip(": ")
        return tag("p", tag("span", why, class_="badge bad"))
    paid = ", ".join(f"{seat} {number(pay)}" for seat, pay in event.payoffs.items())
    return tag("p", tag("b", "Over. "), paid)


def shared_beginning(one: str, other: str) -> int:
    """How many signs two texts begin with alike, in whole lines."""
    lines = zip(one.splitlines(keepends=True), other.splitlines(keepends=True), strict=False)
    return sum(len(mine) for mine, theirs in takewhile(lambda both: both[0] == both[1], lines))


def message_text(message: Message) -> str:
    """A message of a prompt, under the name of who speaks."""
    return f"[{type(message).__name__.lower()}]\n{message.text}"


def form_text(action: msgspec.Struct) -> str:
    """An action that is a form, field by field: `propose: to p2; offer iron 1`."""
    kind = str(action.__struct_config__.tag or type(action).__name__)
    fields = ((name, getattr(action, name)) for name in action.__struct_fields__)
    said = [
        f"{name} {amounts_text(value)}" for name, value in fields if value not in ("", (), None)
    ]
    return f"{kind}: {'; '.join(said)}" if said else kind


def amounts_text(value: Any) -> str:
    """A list of items with their amounts, or any other value, in words."""
    if isinstance(value, tuple | list):
        return ", ".join(" ".join(map(str, v)) if isinstance(v, tuple | list) else str(v)
                         for v in value)  # fmt: skip
    return plain_text(value)


def plain_text(value: Any) -> str:
    """A value in words where it is simple, as JSON where it is not."""
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, dict) and all(isinstance(v, int | float) for v in value.values()):
        return ", ".join(f"{key} {number(v)}" for key, v in value.items())
    return msgspec.json.encode(value).decode()
