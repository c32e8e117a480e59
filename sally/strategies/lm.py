"""Choice by scoring: the option whose name is the likeliest continuation of the prompt is chosen;
the model generates no text."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.errors import BadInput
from sally.core.match.strategy import PromptContext, Run, Speaker, Strategy, StrategyResult
from sally.core.rules.chance import Stream

CONTENT_FREE = ("N/A", "[MASK]", "")
"""Content-free texts that replace rules and history when the prior of the names is measured (Zhao
et al. 2021, Calibrate Before Use, section 5)."""


async def answer_by_scoring(
    prompt: PromptContext,
    speaker: Speaker,
    purpose: str,
    form: str,
    sample: bool = False,
    calibrated: int = 0,
) -> StrategyResult:
    """Return the likeliest name (or a name drawn by probability), with the odds of all names.

    With `calibrated`, each probability is divided by the mean probability of the same name after
    content-free prompts, which depends only on the name and its position.
    """
    injected_text = prompt.told_text()
    context = prompt.opening(form).plus(
        f"{injected_text}\n{prompt.stem}" if injected_text else prompt.stem
    )
    names = _make_prefix_free(prompt.names)
    scores = await speaker.score(purpose, context, names)
    odds = tuple(scores.normalise().values())  # in the order of the candidates
    if calibrated:
        odds = _without_prior(odds, await _prior(prompt, speaker, names))
    place = max(range(len(odds)), key=odds.__getitem__)
    if sample:
        place = Stream(prompt.seed, purpose).draw(dict(enumerate(odds)))
    return StrategyResult(prompt.names[place], place, odds)


async def _prior(
    prompt: PromptContext, speaker: Speaker, names: tuple[str, ...]
) -> tuple[float, ...]:
    """Return the mean probability that the model gives to the name of each option after prompts
    without content."""
    probabilities = []
    for text in CONTENT_FREE:
        page = f"{text}\n\n{prompt.stem}" if text else prompt.stem
        scores = await speaker.score("prior", page, names)
        probabilities.append(tuple(scores.normalise().values()))
    return tuple(
        sum(option_probabilities) / len(probabilities)
        for option_probabilities in zip(*probabilities, strict=True)
    )


def _without_prior(odds: Sequence[float], prior: Sequence[float]) -> tuple[float, ...]:
    """Return the odds divided by the prior and normalised; a prior of 0 is replaced by the smallest
    positive prior.

    >>> _without_prior((0.6, 0.4), (0.75, 0.25))
    (0.33333333333333337, 0.6666666666666667)
    """
    smallest_prior = min((p for p in prior if p > 0), default=1.0)
    ratios = [p / max(q, smallest_prior) for p, q in zip(odds, prior, strict=True)]
    return tuple(ratio / sum(ratios) for ratio in ratios)


def _make_prefix_free(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, each with a full stop if any name is a prefix of another, as 1 is of 10."""
    begins = any(a != b and b.startswith(a) for a in names for b in names)
    return tuple(f"{name}." for name in names) if begins else names


async def answer_probe_by_scoring(
    prompt: PromptContext, speaker: Speaker, purpose: str = "probe", calibrated: int = 0
) -> StrategyResult:
    """Answer a probe by scoring, given the player's own move if the prompt states it."""
    form = prompt.forms[0] if prompt.mine_is_stated else prompt.forms[-1]
    return await answer_by_scoring(prompt, speaker, purpose, form, calibrated=calibrated)


def _make(sample: bool = False, calibrated: int = 0) -> tuple[Run, Run]:
    if calibrated not in (0, 1):
        raise BadInput(f"calibrated must be 0 (off) or 1 (the first version), not {calibrated}.")

    async def act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        return await answer_by_scoring(prompt, speaker, "move", prompt.forms[0], sample, calibrated)

    async def answer(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        return await answer_probe_by_scoring(prompt, speaker, calibrated=calibrated)

    return act, answer


STRATEGY = Strategy(
    name="lm",
    about="plays the option that the model scores as the most likely continuation of the prompt",
    source="Riemer et al. 2025; calibrated = 1 after Zhao et al. 2021",
    make=_make,
    calls="1 scoring (4 if calibrated)",
    needs=frozenset({"finite", "scoring"}),
    params={"sample": False, "calibrated": 0},
    version=2,
)
