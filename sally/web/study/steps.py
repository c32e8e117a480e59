"""The sequence of steps in a study, as pure functions of the answers so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.web.study.definition import Check, Condition, HumanStudy

END, FAILED = "end", "failed"
# Keys of notes beside the answers; they are not steps.
FALLBACK = "fallback"  # the person waited in vain and plays with bots
ADVANCED = "advanced-"  # prefix of steps that the experimenter skipped
PLATFORM = "platform"  # further parameters of the platform's link
MODEL = "model"  # a model takes the other seats of the person's group
READY = "ready-"  # prefix of chats that the person is done with
CHATTING = "chatting-"  # prefix of chats that the person has come to
REMOVED = "removed"  # the experimenter ended the participation at this step


class CheckAttempt(msgspec.Struct, frozen=True):
    """An attempt at the comprehension check."""

    answers: tuple[str, ...]
    right: bool


class RoundOutcome(msgspec.Struct, frozen=True):
    """The outcome of a round for one person."""

    how: str  # ended, or why it was interrupted: left, partner left, no partner, ...
    payoff: float | None = None


Given = Mapping[str, Any]  # a person's answers by step


def current(study: HumanStudy, condition: Condition, answers: Given) -> str:
    """Return the current step: the first one without an answer."""
    for i, _ in enumerate(study.pages(condition)):
        if f"instructions-{i}" not in answers:
            return f"instructions-{i}"
    if study.check is not None:
        tries = [answers[key] for t in range(study.check.tries) if (key := f"check-{t}") in answers]
        if not any(tried["right"] for tried in tries):
            return f"check-{len(tries)}" if len(tries) < study.check.tries else FAILED
    for i, _ in enumerate(study.practised(condition)):
        if f"practice-{i}" not in answers:
            return f"practice-{i}"
    for step in game_steps(study, condition):
        if step not in answers and not _no_chat(step, answers):
            return step
    if study.survey and "survey" not in answers:
        return "survey"
    return END


def _no_chat(step: str, answers: Given) -> bool:
    """Return whether a step is a chat without a partner, or a chat before a game that was
    skipped."""
    if not step.startswith("chat-"):
        return False
    return FALLBACK in answers or f"round-{step.removeprefix('chat-')}" in answers


def game_steps(study: HumanStudy, condition: Condition) -> list[str]:
    """Return the steps of all rounds in order: pages of a block, chats and games."""
    steps, k = list[str](), 0
    for b, (_, rounds, _) in enumerate(study.blocks(condition)):
        pages = condition.blocks[b].instructions if condition.blocks else ()
        steps += [f"block-{b}-{i}" for i, _ in enumerate(pages)]
        for number in range(k, k + rounds):
            chat = [f"chat-{number}"] if number and condition.chat_seconds else []
            steps += [*chat, f"round-{number}"]
        k += rounds
    return steps


def rounds_in(study: HumanStudy, condition: Condition, answers: Given) -> list[RoundOutcome]:
    """Return the outcome of each round that is over."""
    keys = (f"round-{k}" for k in range(study.rounds_of(condition)))
    return [msgspec.convert(answers[key], RoundOutcome) for key in keys if key in answers]


def judge_check(check: Check, answers: Sequence[str]) -> CheckAttempt:
    """Return an attempt at the comprehension check with its score."""
    pairs = zip(check.questions, answers, strict=True)
    return CheckAttempt(tuple(answers), all(q.right == answer for q, answer in pairs))
