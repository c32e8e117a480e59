"""HTML elements that make up a transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from sally.core.display.scenes import ending, plain_text
from sally.core.log.events import Censored, Ended, ToolUse
from sally.core.prompt.model import Message
from sally.output.html import Html, tag


def fold(head: str, said: str) -> Html:
    """Return a long text as a closed <details> element."""
    return tag("details", tag("summary", head), tag("pre", said, dir="auto"), class_="rules")


def line(head: str, *inside: str | Html | None) -> Html:
    """Return one line of a seat in a transcript: a heading and its content."""
    lead = tag("span", head, class_="lead") if head else None
    return tag("div", lead, tag("div", inside), class_="line")


def quoted(head: str, said: str) -> Html | None:
    """Return a text under its heading, or None if the text is empty."""
    if not said.strip():
        return None
    return line(head, tag("pre", str(said), dir="auto"))


def reply_line(said: str) -> Html | None:
    """Return a reply, verbatim."""
    if not said.strip():
        return None
    return line("says", tag("pre", said, dir="auto", class_="reply"))


def tries_badge(tries: int) -> Html | None:
    """Return a badge with the number of tries, if more than one."""
    return tag("span", f"{tries} tries", class_="badge quiet") if tries > 1 else None


def memory_line(memory: Any) -> Html | None:
    """Return the memory that a player keeps for its next turn."""
    return None if memory in (None, "", [], {}) else quoted("keeps", plain_text(memory))


def look_ups(looked: Iterable[ToolUse]) -> Iterator[Html | None]:
    """Yield tool calls with their results."""
    for look in looked:
        given = ", ".join(f"{key} {plain_text(value)}" for key, value in look.given.items())
        yield quoted(f"looks up {look.tool}", f"{given}: {plain_text(look.found)}")


def end_line(event: Ended | Censored) -> Html:
    """Return a line on how the episode ended."""
    said = ending(event)
    said = said[0].upper() + said[1:]
    return tag(
        "p", tag("span", said, class_="badge bad" if isinstance(event, Censored) else "badge")
    )


def shared_beginning(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts, counting only whole lines."""
    lines = zip(one.splitlines(keepends=True), other.splitlines(keepends=True), strict=False)
    return sum(len(mine) for mine, theirs in takewhile(lambda both: both[0] == both[1], lines))


def message_text(message: Message) -> str:
    """Return the text of a prompt message under its role."""
    return f"[{type(message).__name__.lower()}]\n{message.text}"
