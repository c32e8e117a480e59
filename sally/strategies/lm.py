"""No reply at all: the name that most likely completes the page is the choice."""

from __future__ import annotations

from sally.core.prompt.strategy import PromptContext, Run, Speaker, Strategy, StrategyResult
from sally.core.rules.chance import Stream


async def scored(
    prompt: PromptContext, speaker: Speaker, purpose: str, form: str, sample: bool = False
) -> StrategyResult:
    """The likeliest name (or one drawn by its probability), with the odds of all."""
    told = prompt.told_text()
    context = prompt.opening(form).plus(f"{told}\n{prompt.stem}" if told else prompt.stem)
    scores = await speaker.score(purpose, context, _apart(prompt.names))
    odds = tuple(scores.normalised().values())  # in the order of the candidates
    place = max(range(len(odds)), key=odds.__getitem__)
    if sample:
        place = Stream(prompt.seed, purpose).draw(dict(enumerate(odds)))
    return StrategyResult(prompt.names[place], place, odds)


def _apart(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, with a full stop where one begins another, as 1 begins 10."""
    begins = any(a != b and b.startswith(a) for a in names for b in names)
    return tuple(f"{name}." for name in names) if begins else names


async def guessed(
    prompt: PromptContext, speaker: Speaker, purpose: str = "probe"
) -> StrategyResult:
    """A probe by score: behind one's own move in the usual order, before it in the other."""
    form = prompt.forms[0] if prompt.mine_is_stated else prompt.forms[-1]
    return await scored(prompt, speaker, purpose, form)


def _make(sample: bool = False) -> tuple[Run, Run]:
    async def act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        return await scored(prompt, speaker, "move", prompt.forms[0], sample)

    return act, guessed


STRATEGY = Strategy(
    name="lm",
    about="the action name with the largest log-probability as the continuation",
    source="Riemer et al. 2025",
    make=_make,
    calls="1 scoring",
    needs=frozenset({"finite", "scoring"}),
    params={"sample": False},
    version=2,
)
