"""Self-consistency: several answers to one question; the majority decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from sally.core.errors import BadInput, Unreadable
from sally.core.match.strategy import (
    PromptContext,
    Run,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
)
from sally.core.prompt.model import Reply
from sally.core.rules.probe import ProbeReport


def ballot(prompt: PromptContext, read: Any) -> str:
    """Return the vote of a sample: a report, a complete action, or the kind of a free-form
    action."""
    if isinstance(read, ProbeReport):
        return msgspec.json.encode(read.value).decode()
    if not prompt.names:  # no finite menu
        return type(read).__name__
    return msgspec.json.encode(read).decode()


def elect_reply(prompt: PromptContext, replies: Sequence[Reply]) -> Reply:
    """Return the first sample with the most frequent answer; of equally frequent answers, the one
    that occurred first."""
    votes: list[tuple[str, Reply]] = []
    problem = Unreadable("None of the answers could be read.")
    cast: dict[StrategyResult, str | Unreadable] = {}  # samples are often equal
    for reply in replies:
        result = spoken(reply)
        if result not in cast:
            cast[result] = _read(prompt, result)
        vote = cast[result]
        if isinstance(vote, Unreadable):
            problem = vote
        else:
            votes.append((vote, reply))
    if not votes:
        raise problem
    winner = Counter(choice for choice, _ in votes).most_common(1)[0][0]
    return next(reply for choice, reply in votes if choice == winner)


def _read(prompt: PromptContext, result: StrategyResult) -> str | Unreadable:
    try:
        return ballot(prompt, prompt.read(result))
    except Unreadable as error:
        return error


def _make(n: int = 10) -> tuple[Run, Run]:
    if n < 1:
        raise BadInput(f"n of self_consistency must be at least 1, not {n}.")

    async def run(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        page, schema = prompt.user(), prompt.schema()
        samples = [await speaker.say(prompt.purpose, page, schema=schema) for _ in range(n)]
        return spoken(elect_reply(prompt, samples))

    return run, run


STRATEGY = Strategy(
    name="self_consistency",
    about="asks the same question n times and takes the most frequent answer",
    source="Kang et al. 2026, after Wang et al. 2023",
    make=_make,
    calls="n (10 unless told)",
    params={"n": 10},
    schema=True,
)
