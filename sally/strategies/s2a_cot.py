"""System 2 attention with chain of thought: a summary replaces rules and history."""

from __future__ import annotations

from sally.core.match.strategy import PromptContext, Speaker, Strategy, StrategyResult
from sally.strategies import cot, s2a


async def _run(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    summary = await s2a.summed_up(prompt, speaker)
    return await cot.thought(prompt, speaker, opening=summary, past=False)


STRATEGY = Strategy(
    name="s2a_cot",
    about="replaces rules and history by a summary that the model writes, then asks as in cot",
    source="Riemer et al. 2025, after Weston and Sukhbaatar 2023",
    make=lambda: (_run, _run),
    calls="2",
    texts={**s2a.TEXTS, **cot.TEXTS},
    schema=True,
)
