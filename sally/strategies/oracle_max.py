"""The strategy `oracle` with an explicit statement of the aim; history and payoffs can be left out
of the prompt."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.strategy import (
    PromptContext,
    Run,
    Speaker,
    Strategy,
    StrategyResult,
    answered,
)

TEXTS: Mapping[str, str] = {
    "oracle_max.aim": "Reply to this with the choice that earns you the most points.",
}


def _make(history: bool = True, payoffs: bool = True) -> tuple[Run, Run]:
    async def run(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        opening, format_text = prompt.opening(history=history, payoffs=payoffs), prompt.format
        if not prompt.asked:
            format_text = f"{prompt.say('oracle_max.aim')}\n{format_text}"
        return await answered(prompt, speaker, opening=opening, past=history, format=format_text)

    return run, run


STRATEGY = Strategy(
    name="oracle_max",
    version=2,  # asks to maximise points, as riemer2025 does; 1 asked for what brings the most
    about="states the others' moves and asks for the best choice; can omit history and payoffs",
    source="Riemer et al. 2025",
    make=_make,
    calls="1",
    needs=frozenset({"told"}),
    params={"history": True, "payoffs": True},
    texts=TEXTS,
    schema=True,
)
