"""What the models that run in this process share: refusals, open turns, tokens and scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sally.core.prompt.model import Assistant, Message, ModelFailure, Scores, Settings, Usage
from sally.models import wire

Tokens: TypeAlias = NDArray[np.int64]


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


def shared_length(one: Tokens, other: Tokens) -> int:
    """Return how many tokens two prompts share at their beginning."""
    shorter = min(len(one), len(other))
    differing = np.flatnonzero(one[:shorter] != other[:shorter])
    return int(differing[0]) if len(differing) else shorter


def stem_of(alone: Tokens, joint: Sequence[Tokens]) -> tuple[Tokens, list[tuple[int, ...]]]:
    """Return the tokens that a context and every joint text share, and what follows in each text.

    A candidate may merge with the end of the context, so all are scored from the last point at
    which context and every joint text have the same tokens.
    """
    stem = alone[: min(shared_length(alone, tokens) for tokens in joint)]
    if not len(stem):
        raise ModelFailure(
            "bad_request", "There is no context before the candidates; give some text."
        )
    return stem, [tuple(tokens[len(stem) :].tolist()) for tokens in joint]
