"""The small pieces that transcripts are made of, and values in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from sally.core.log.events import Censored, Ended, Looked
from sally.core.log.scenes import ending, plain_text
from sally.core.prompt.model import Message
from sally.output.page.html import Html, tag


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


def end_line(event: Ended | Censored) -> Html:
    """How the episode ended."""
    said = ending(event)
    said = said[0].upper() + said[1:]
    return tag(
        "p", tag("span", said, class_="badge bad" if isinstance(event, Censored) else "badge")
    )


def shared_beginning(one: str, other: str) -> int:
    """How many signs two texts begin with alike, in whole lines."""
    lines = zip(one.splitlines(keepends=True), other.splitlines(keepends=True), strict=False)
    return sum(len(mine) for mine, theirs in takewhile(lambda both: both[0] == both[1], lines))


def message_text(message: Message) -> str:
    """A message of a prompt, under the name of who speaks."""
    return f"[{type(message).__name__.lower()}]\n{message.text}"
