"""HTML elements that make up a transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from sally.core.display.scenes import ending, plain_text
from sally.core.log.events import Censored, Ended, ToolUse
from sally.core.prompt.model import Message
from sally.output.html import Html, tag


def fold(head: str, body: str) -> Html:
    """Return a long text as a closed <details> element."""
    return tag("details", tag("summary", head), tag("pre", body, dir="auto"), class_="rules")


def line(head: str, *inside: str | Html | None) -> Html:
    """Return one line of a seat in a transcript: a heading and its content."""
    lead = tag("span", head, class_="lead") if head else None
    return tag("div", lead, tag("div", inside), class_="line")


def quote_block(head: str, body: str) -> Html | None:
    """Return a text under its heading, or None if the text is empty."""
    if not body.strip():
        return None
    return line(head, tag("pre", str(body), dir="auto"))


def reply_line(reply: str) -> Html | None:
    """Return a reply, verbatim."""
    if not reply.strip():
        return None
    return line("says", tag("pre", reply, dir="auto", class_="reply"))


def tries_badge(tries: int) -> Html | None:
    """Return a badge with the number of tries, if more than one."""
    return tag("span", f"{tries} tries", class_="badge quiet") if tries > 1 else None


def memory_line(memory: Any) -> Html | None:
    """Return the memory that a player keeps for its next turn."""
    return None if memory in (None, "", [], {}) else quote_block("keeps", plain_text(memory))


def look_ups(looked: Iterable[ToolUse]) -> Iterator[Html | None]:
    """Yield tool calls with their results."""
    for look in looked:
        arguments = ", ".join(f"{key} {plain_text(value)}" for key, value in look.given.items())
        yield quote_block(f"looks up {look.tool}", f"{arguments}: {plain_text(look.found)}")


def end_line(event: Ended | Censored) -> Html:
    """Return a line on how the episode ended."""
    sentence = ending(event)
    sentence = sentence[0].upper() + sentence[1:]
    return tag(
        "p", tag("span", sentence, class_="badge bad" if isinstance(event, Censored) else "badge")
    )


def shared_beginning(first: str, second: str) -> int:
    """Return the length of the common beginning of two texts, counting only whole lines."""
    lines = zip(first.splitlines(keepends=True), second.splitlines(keepends=True), strict=False)
    return sum(
        len(first_line)
        for first_line, second_line in takewhile(lambda pair: pair[0] == pair[1], lines)
    )


def message_text(message: Message) -> str:
    """Return the text of a prompt message under its role."""
    return f"[{type(message).__name__.lower()}]\n{message.text}"
