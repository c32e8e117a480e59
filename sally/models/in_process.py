"""Code shared by the models that run in this process: checks, open turns, tokens and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sally.core.prompt.model import Assistant, Message, ModelFailure, Scores, Settings, Usage
from sally.models import wire

T = TypeVar("T")
Tokens: TypeAlias = NDArray[np.int64]


def check_answerable(name: str, messages: Sequence[Message], settings: Settings) -> None:
    """Raise ModelFailure for reasoning settings, or if the last message is the model's own."""
    if settings.reasoning_effort is not None or settings.reasoning_tokens is not None:
        raise ModelFailure(
            "unsupported", f"{name} does not support a reasoning effort; leave it unset."
        )
    if not messages or isinstance(messages[-1], Assistant):
        raise ModelFailure("bad_request", "The last message must be from the user or a tool.")


def check_encodable(texts: Iterable[str]) -> None:
    """Raise ModelFailure for texts with a lone surrogate."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ModelFailure(
                "bad_request",
                f"A text contains a lone surrogate at position {error.start}; remove it.",
            ) from error


def controls(piece: str) -> ModelFailure:
    """Return the failure for text that would end a turn or open another."""
    return ModelFailure(
        "bad_request", f"A message contains {piece!r}, a control sequence of the chat; rephrase it."
    )


def open_turn(context: Sequence[Message]) -> tuple[list[dict[str, Any]], str]:
    """Return the turns of a chat, and the beginning of the answer that candidates continue."""
    messages, begun = list(context), ""
    if messages and isinstance(messages[-1], Assistant):
        begun = str(messages.pop().text)
    turns = [wire.turn(m) for m in messages]
    if not turns:
        raise ModelFailure(
            "bad_request", "The chat has no message before the assistant's unfinished answer."
        )
    return turns, begun


def scores(candidates: Sequence[str], sums: Iterable[float], usage: Usage) -> Scores:
    """Return the scores of candidates; raises ModelFailure if a sum is not a log-probability."""
    try:
        return Scores(tuple(candidates), tuple(map(float, sums)), usage)
    except (TypeError, ValueError) as error:
        raise ModelFailure("bad_reply", f"The scores cannot be read: {error}") from error


def shared_length(first: Tokens, second: Tokens) -> int:
    """Return how many tokens two prompts share at their beginning."""
    shorter = min(len(first), len(second))
    differing = np.flatnonzero(first[:shorter] != second[:shorter])
    return int(differing[0]) if len(differing) else shorter


def batches(items: Sequence[T], length: Callable[[T], int], budget: int) -> Iterator[list[T]]:
    """Yield batches of items, in order, that fit into a number of tokens if all are padded to the
    longest."""
    batch: list[T] = []
    for item in items:
        if batch and (len(batch) + 1) * max(map(length, (item, *batch))) > budget:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def stem_of(alone: Tokens, joint: Sequence[Tokens]) -> tuple[Tokens, list[tuple[int, ...]]]:
    """Split tokenised texts into the beginning that all share and the remaining tokens of each.

    `alone` is a context, and each of `joint` is the context followed by one candidate. The end of
    the context may be tokenised together with a candidate, so all candidates are scored from the
    last point up to which the context and all these texts have the same tokens.
    """
    stem = alone[: min(shared_length(alone, tokens) for tokens in joint)]
    if not len(stem):
        raise ModelFailure(
            "bad_request", "There is no context before the candidates; give some text."
        )
    return stem, [tuple(tokens[len(stem) :].tolist()) for tokens in joint]
