"""Chain of thought: think step by step, then answer."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.strategy import (
    PromptContext,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
)
from sally.core.prompt.hashed_text import HashedText

TEXTS: Mapping[str, str] = {
    "cot.think": "Think step by step first, in a paragraph that begins with `Thoughts:`. "
    "Then answer. {format}",
    "cot.schema": "Think step by step first, in the field `thoughts`. Then answer. {format}",
}


async def thought(
    prompt: PromptContext,
    speaker: Speaker,
    *notes: str,
    opening: HashedText | None = None,
    past: bool = True,
) -> StrategyResult:
    """Ask for thoughts and an answer in one reply; `past` says whether the prompt contains the
    history."""
    schema = prompt.schema("Thoughts")
    key = "cot.schema" if schema else "cot.think"
    format_text = prompt.say(key, format=prompt.form("Thoughts"))
    page = prompt.user(*notes, opening=opening, past=past, format=format_text)
    reply = await speaker.say(prompt.purpose, page, schema=schema)
    return spoken(reply, before=("Thoughts",))


STRATEGY = Strategy(
    name="cot",
    about="asks for thoughts before the answer",
    source="Riemer et al. 2025; Kang et al. 2026",
    make=lambda: (thought, thought),
    calls="1",
    texts=TEXTS,
    schema=True,
)
