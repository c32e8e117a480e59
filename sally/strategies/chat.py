"""The whole episode as one conversation: one message per announcement, with the player's
answers."""

from __future__ import annotations

import msgspec

from sally.core.match.strategy import (
    PromptContext,
    Run,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
)
from sally.core.prompt.model import Assistant, Message, User


class Exchange(msgspec.Struct, frozen=True):
    """An earlier question and its answer, placed after a number of history lines."""

    lines: int
    asked: str
    answer: str


class Talk(msgspec.Struct, frozen=True):
    """The parts of a conversation that are kept besides the history lines."""

    exchanges: tuple[Exchange, ...] = ()


def conversation(prompt: PromptContext, talk: Talk, question: str) -> list[Message]:
    """Return rules, history lines, earlier questions with their answers, and the question."""
    past, lines_shown = prompt.past, 0
    messages: list[Message] = [User(str(prompt.opening(history=False)).strip())]
    for exchange in talk.exchanges:
        messages += [User(line) for line in past[lines_shown : exchange.lines]]
        messages += [User(exchange.asked), Assistant(exchange.answer)]
        lines_shown = exchange.lines
    return [*messages, *(User(line) for line in past[lines_shown:]), User(question)]


def _make(read_cut: bool = False) -> tuple[Run, Run]:
    async def ask(prompt: PromptContext, speaker: Speaker, purpose: str) -> StrategyResult:
        talk, question = prompt.notes(Talk) or Talk(), prompt.tail()
        reply = await speaker.say(
            purpose, conversation(prompt, talk, question), schema=prompt.schema()
        )
        exchange = Exchange(len(prompt.past), question, reply.text)
        result = spoken(reply, Talk((*talk.exchanges, exchange)))
        return msgspec.structs.replace(result, cut=result.cut and not read_cut)

    async def act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        return await ask(prompt, speaker, "move")

    async def answer(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        return await ask(prompt, speaker, "probe")  # a report keeps no notes, so play is unaffected

    return act, answer


STRATEGY = Strategy(
    name="chat",
    about="keeps one conversation per episode, with a message for each game event and each answer",
    source="the harness of Tang and Belle 2024",
    make=_make,
    calls="1",
    params={"read_cut": False},  # whether a reply cut by length is read
    version=2,
    schema=True,
)
