"""System 2 attention: a summary replaces rules and history when the model chooses."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.strategy import (
    PromptContext,
    Speaker,
    Strategy,
    StrategyResult,
    answered,
)
from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.model import User

TEXTS: Mapping[str, str] = {
    "s2a.move": "From the rules and the past above, write a short summary for somebody who has to "
    "decide what to do next and will see nothing but your summary. Keep every fact that matters "
    "for the decision, leave out what does not, and take no side.",
    "s2a.probe": "From the rules and the past above, write a short summary for somebody who has "
    "to guess what the others will do next and will see nothing but your summary. Keep every "
    "fact that matters for the guess, leave out what does not, and take no side.",
}


async def summed_up(prompt: PromptContext, speaker: Speaker) -> HashedText:
    """Return the beginning of the next prompt: the model's own summary, unedited, in place of rules
    and history."""
    request = prompt.say("s2a.probe" if prompt.asked else "s2a.move")
    reply = await speaker.say("summary", [User(prompt.opening().plus(request))])
    return HashedText.start(f"{reply.text.strip()}\n\n")


async def _run(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    summary = await summed_up(prompt, speaker)
    return await answered(prompt, speaker, opening=summary, past=False)


STRATEGY = Strategy(
    name="s2a",
    about="replaces rules and history by a summary that the model writes, then asks as in qa",
    source="Riemer et al. 2025, after Weston and Sukhbaatar 2023",
    make=lambda: (_run, _run),
    calls="2",
    texts=TEXTS,
    schema=True,
)
