"""Chain of thought with three worked examples between the rules and the history."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.strategy import PromptContext, Speaker, Strategy, StrategyResult
from sally.strategies import cot

TEXTS: Mapping[str, str] = {
    **cot.TEXTS,
    "cot_3shot.intro": "Three examples of how a good player thinks in this game:",
}


async def _answer_with_examples(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    worked = f"{prompt.say('cot_3shot.intro')}\n{prompt.examples}"
    return await cot.thought(prompt, speaker, opening=prompt.opening(after_rules=worked))


STRATEGY = Strategy(
    name="cot_3shot",
    about="shows three worked examples of thoughts, then asks for thoughts and the answer",
    source="Riemer et al. 2025",
    make=lambda: (_answer_with_examples, _answer_with_examples),
    calls="1",
    texts=TEXTS,
    schema=True,
)
