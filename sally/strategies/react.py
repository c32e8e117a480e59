"""Thought, act, observe, in turn: a thought before every look-up and every answer, all kept."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.prompt.strategy import PromptContext, Run, Speaker, Strategy, StrategyResult, spoken
from sally.strategies.chat import Exchange, Talk, conversation

TEXTS: Mapping[str, str] = {
    "react.think": "First write a short paragraph that begins with `Thought:`: what do you know, "
    "what do you still need, and what follows? Then take one step: look something up, if there is "
    "something to look up, or give your answer. What you find comes back to you, and you think "
    "again before the next step. {format}",
}


async def stepped(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    """Thoughts and look-ups until there is an answer; earlier ones stand in the conversation."""
    talk = prompt.notes(Talk) or Talk()
    asked = prompt.tail(format=prompt.say("react.think", format=prompt.format))
    purpose = "probe" if prompt.asked else "move"
    reply = await speaker.say(purpose, conversation(prompt, talk, asked))
    exchange = Exchange(len(prompt.past), asked, reply.text)
    return spoken(reply, Talk((*talk.exchanges, exchange)))


def _make() -> tuple[Run, Run]:
    return stepped, stepped


STRATEGY = Strategy(
    name="react",
    about="a thought before every look-up and every answer, kept in one conversation an episode",
    source="after Yao et al. 2023 (ReAct); look-ups are the game's own tools",
    make=_make,
    calls="1, and 1 more for each look-up",
    texts=TEXTS,
)
