"""Predict the others by log-probability, then choose given the prediction."""

from __future__ import annotations

from sally.core.match.strategy import PromptContext, Speaker, Strategy, StrategyResult
from sally.core.rules.probe import StatedPrediction
from sally.strategies import lm, social_qa


async def _predict(prompt: PromptContext, speaker: Speaker) -> tuple[StatedPrediction, ...]:
    predictions = []
    for question in prompt.foresee:
        result = await lm.answer_probe_by_scoring(prompt.asking(question), speaker, "predict")
        assert result.place is not None
        value = question.choices[result.place]
        predictions.append(StatedPrediction(question.probe, value, question.about, result.odds))
    return tuple(predictions)


async def _act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    return await social_qa.ask_with_predictions(prompt, speaker, await _predict(prompt, speaker))


STRATEGY = Strategy(
    name="social_lm",
    about="predicts the others' moves by scoring, then asks for the choice given the prediction",
    source="Riemer et al. 2025, after Akata et al. 2023",
    make=lambda: (_act, lm.answer_probe_by_scoring),
    calls="1 + 1 scoring per prediction",
    needs=frozenset({"probe", "scoring"}),
    version=2,  # the question asks for the player's own best option
    points=("start", "before"),  # it predicts before it acts, so its own move must not be stated
)
