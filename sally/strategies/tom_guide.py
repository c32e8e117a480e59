"""Predictions of the others in one call, then a choice given these predictions in the next."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.errors import Unreadable
from sally.core.match.strategy import (
    PromptContext,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
)
from sally.core.rules.probe import StatedPrediction
from sally.strategies import cot
from sally.strategies.tom_cot import TEXTS as TOM_COT
from sally.strategies.tom_cot import foreseen_in, wanted_lines

TEXTS: Mapping[str, str] = {
    **TOM_COT,
    "tom_guide.predict": "Before you choose, predict the others. For each prediction, think step "
    "by step about what the one in question sees, knows and wants, in a paragraph `Reasoning:`, "
    "and then give your prediction:\n{lines}\nYou will be asked for your own choice afterwards.",
    "tom_guide.decide": "Find out step by step what is best for you if this is so, in a paragraph "
    "`Reasoning:`. Then answer. {format}",
}


async def _predict(prompt: PromptContext, speaker: Speaker) -> tuple[StatedPrediction, ...]:
    format_text = prompt.say("tom_guide.predict", lines=wanted_lines(prompt))
    reply = await speaker.say("predict", prompt.user(question="", format=format_text))
    foreseen = foreseen_in(prompt, reply)
    if all(prediction.value is None for prediction in foreseen):
        raise Unreadable(f"Give each prediction with a line `{prompt.foreseen_label}: <name>`.")
    return foreseen


async def _act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    questions = prompt.foresee
    if not questions:
        return await cot.thought(prompt, speaker)
    foreseen = await _predict(prompt, speaker)
    expected = "\n".join(
        prompt.state_prediction(question, prediction.value)
        for question, prediction in zip(questions, foreseen, strict=True)
        if prediction.value is not None
    )
    format_text = prompt.say("tom_guide.decide", format=prompt.format)
    reply = await speaker.say("move", prompt.user(given=expected, format=format_text))
    return spoken(reply, foreseen=foreseen)


STRATEGY = Strategy(
    name="tom_guide",
    about="asks for predictions about the others first, then for a choice in a second call",
    source="Kang et al. 2026",
    make=lambda: (_act, cot.thought),
    calls="2",
    needs=frozenset({"probe"}),
    texts=TEXTS,
)
