"""Stub models for tests and benchmarks, which reply by a script, from a list, or at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Assistant,
    CannotScore,
    Context,
    Fault,
    Message,
    ModelFailure,
    Reply,
    Scores,
    Settings,
    ToolSpec,
    Usage,
    check_candidates,
)
from sally.core.prompt.prompt_hash import prompt_hash

Answer: TypeAlias = str | Reply | Fault
Script: TypeAlias = Callable[[Sequence[Message], Settings], Answer]
Scorer: TypeAlias = Callable[[Context, str], float]
"""Function that returns the log-probability of a candidate after a context."""


def words(text: str) -> int:
    """Return the number of words in a text, used as its number of tokens."""
    return len(text.split())


class Scripted:
    """A model whose replies are a function of messages and settings, without delay."""

    can_constrain = True  # the script is shown the schema in its settings

    def __init__(
        self,
        script: Script,
        scorer: Scorer | None = None,
        *,
        name: str = "stub/scripted",
        count: Callable[[str], int] = words,
    ) -> None:
        self.name = name
        self._script, self._scorer, self._count = script, scorer, count

    @property
    def can_score(self) -> bool:
        """Whether a scorer was given."""
        return self._scorer is not None

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Return the script's reply with its usage, or raise its failure."""
        match self._script(messages, settings):
            case Fault(kind, detail, retry_after):
                raise ModelFailure(kind, detail, retry_after)
            case Reply() as reply:
                return reply
            case text:
                input_tokens = sum(self._count(message.text) for message in messages)
                return Reply(text, usage=self._usage(input_tokens, self._count(text)))

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        """Return the scorer's log-probability of each candidate."""
        if self._scorer is None:
            raise CannotScore(self.name)
        check_candidates(candidates)
        texts = [context] if isinstance(context, str) else [m.text for m in context]
        logprobs = tuple(self._scorer(context, candidate) for candidate in candidates)
        input_tokens = sum(self._count(text) for text in [*texts, *candidates])
        return Scores(tuple(candidates), logprobs, self._usage(input_tokens, 0))

    @staticmethod
    def _usage(input_tokens: int, output_tokens: int) -> Usage:
        return Usage(
            input=input_tokens,
            output=output_tokens,
            cached=0,
            evaluated=input_tokens,
            reasoning=0,
            cost=0.0,
        )


def reply_in_order(replies: Sequence[Answer], scorer: Scorer | None = None) -> Scripted:
    """Return a model that gives these replies in order, and fails when they are used up."""
    replies_left = iter(replies)

    def script(messages: Sequence[Message], settings: Settings) -> Answer:
        for reply in replies_left:
            return reply
        return Fault("bad_request", f"The list of {len(replies)} replies is used up.")

    return Scripted(script, scorer, name="stub/listed")


def always(reply: Answer, scorer: Scorer | None = None) -> Scripted:
    """Return a model that always gives one reply."""
    return Scripted(lambda messages, settings: reply, scorer, name="stub/always")


def echo(options: Sequence[str], *, count: Callable[[str], int] = words) -> Scripted:
    """Return a model that gives one of the options, drawn from the hash of its prompt and the
    seed."""
    if not options:
        raise ValueError("An echo model needs at least one option.")

    def script(messages: Sequence[Message], settings: Settings) -> Answer:
        hash_text = prompt_hash([*messages, Assistant(str(settings.seed))])
        return options[int(hash_text, 16) % len(options)]

    return Scripted(script, even, name="stub/echo", count=count)


def even(context: Context, candidate: str) -> float:
    """Return the same log-probability for every candidate."""
    return math.log(0.01)
