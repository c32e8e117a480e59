"""What every model in this process does alike: what it refuses, and how it reads an open turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sally.core.prompt.model import Assistant, Message, ModelFailure, Scores, Settings, Usage
from sally.models import wire


def check_answerable(name: str, messages: Sequence[Message], settings: Settings) -> None:
    """Refuse settings for reasoning, and a conversation in which nobody waits for an answer."""
    if settings.reasoning_effort is not None or settings.reasoning_tokens is not None:
        raise ModelFailure("unsupported", f"{name} takes no reasoning effort; leave it unset.")
    if not messages or isinstance(messages[-1], Assistant):
        raise ModelFailure(
            "bad_request", "The last message must be the user's or a tool's, to be answered."
        )


def check_encodable(texts: Iterable[str]) -> None:
    """Refuse texts that hold half a character."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ModelFailure(
                "bad_request",
                f"A text holds half a character at position {error.start}; remove it.",
            ) from error


def controls(piece: str) -> ModelFailure:
    """The failure that names a piece of text which would end a turn or open another one."""
    return ModelFailure(
        "bad_request", f"A message holds {piece!r}, which controls the chat; write it otherwise."
    )


def open_turn(context: Sequence[Message]) -> tuple[list[dict[str, Any]], str]:
    """The turns of a chat, and the beginning of the answer that candidates continue."""
    messages, begun = list(context), ""
    if messages and isinstance(messages[-1], Assistant):
        begun = str(messages.pop().text)
    turns = [wire.turn(m) for m in messages]
    if not turns:
        raise ModelFailure("bad_request", "The chat has no message before the open turn.")
    return turns, begun


def scores(candidates: Sequence[str], sums: Iterable[float], usage: Usage) -> Scores:
    """The scores of candidates; sums that cannot be log-probabilities are a bad reply."""
    try:
        return Scores(tuple(candidates), tuple(sums), usage)
    except ValueError as error:
        raise ModelFailure("bad_reply", str(error)) from error
