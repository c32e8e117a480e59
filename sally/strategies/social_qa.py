"""Predict the others, then choose given the prediction; both by question and answer."""

from __future__ import annotations

from sally.core.match.strategy import (
    PromptContext,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
)
from sally.core.rules.probe import StatedPrediction
from sally.strategies import qa


async def ask_with_predictions(
    prompt: PromptContext, speaker: Speaker, foreseen: tuple[StatedPrediction, ...]
) -> StrategyResult:
    """Ask for the move in a prompt that states the player's own predictions."""
    by_key = {(q.probe, q.about): q for q in prompt.foresee}
    predicted_values = [(by_key[f.probe, f.about], f.value) for f in foreseen]
    expected = "\n".join(
        prompt.state_prediction(q, value) for q, value in predicted_values if value is not None
    )
    page = prompt.user(given=expected, question=prompt.best_question)
    return spoken(await speaker.say("move", page, schema=prompt.schema()), foreseen=foreseen)


async def _predict(prompt: PromptContext, speaker: Speaker) -> tuple[StatedPrediction, ...]:
    predictions = []
    for question in prompt.foresee:
        inner = prompt.asking(question)
        reply = await speaker.say("predict", inner.user(), schema=inner.schema())
        report = inner.read(spoken(reply))
        predictions.append(StatedPrediction(question.probe, report.value, question.about))
    return tuple(predictions)


async def _act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    return await ask_with_predictions(prompt, speaker, await _predict(prompt, speaker))


STRATEGY = Strategy(
    name="social_qa",
    about="asks for a prediction of what the others will do, then for a choice based on it",
    source="Riemer et al. 2025, after Akata et al. 2023",
    make=lambda: (_act, qa.answered),
    calls="1 + 1 per prediction",
    needs=frozenset({"probe"}),
    version=2,  # the question asks for what is best for oneself
    points=("start", "before"),  # it predicts before it acts, so no own move may be stated
    schema=True,
)
