"""ReAct: a thought before every tool call and every answer, all kept in the conversation."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.strategy import (
    PromptContext,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
)
from sally.strategies.chat import Exchange, Talk, conversation

TEXTS: Mapping[str, str] = {
    "react.think": "First write a short paragraph that begins with `Thought:`: what do you know, "
    "what do you still need, and what follows? Then take one step: look something up, if there is "
    "something to look up, or give your answer. What you find comes back to you, and you think "
    "again before the next step. {format}",
}


async def think_and_call_tools(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    """Alternate thoughts and tool calls until there is an answer; all stay in the conversation."""
    talk = prompt.notes(Talk) or Talk()
    question = prompt.tail(format=prompt.say("react.think", format=prompt.format))
    reply = await speaker.say(prompt.purpose, conversation(prompt, talk, question))
    exchange = Exchange(len(prompt.past), question, reply.text)
    return spoken(reply, Talk((*talk.exchanges, exchange)))


STRATEGY = Strategy(
    name="react",
    about="asks for a thought before every tool call and answer, in one conversation per episode",
    source="after Yao et al. 2023 (ReAct); the tools are the game's own",
    make=lambda: (think_and_call_tools, think_and_call_tools),
    calls="1, plus 1 for each tool call",
    texts=TEXTS,
)
