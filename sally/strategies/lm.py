"""No reply at all: the name that most likely completes the page is the choice."""

from __future__ import annotations

from sally.core.chance import Stream
from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy


async def scored(
    sheet: Sheet, speaker: Speaker, purpose: str, form: str, sample: bool = False
) -> Said:
    """The likeliest name (or one drawn by its probability), with the odds of all."""
    told = sheet.told_text()
    context = sheet.opening(form).plus(f"{told}\n{sheet.stem}" if told else sheet.stem)
    scores = await speaker.score(purpose, context, _apart(sheet.names))
    odds = tuple(scores.normalised().values())  # in the order of the candidates
    place = max(range(len(odds)), key=odds.__getitem__)
    if sample:
        place = Stream(sheet.seed, purpose).draw(dict(enumerate(odds)))
    return Said(sheet.names[place], place, odds)


def _apart(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, with a full stop where one begins another, as 1 begins 10."""
    begins = any(a != b and b.startswith(a) for a in names for b in names)
    return tuple(f"{name}." for name in names) if begins else names


async def guessed(sheet: Sheet, speaker: Speaker, purpose: str = "probe") -> Said:
    """A probe by score: behind one's own move in the usual order, before it in the other."""
    form = sheet.forms[0] if sheet.mine_is_stated else sheet.forms[-1]
    return await scored(sheet, speaker, purpose, form)


def _make(sample: bool = False) -> tuple[Run, Run]:
    async def act(sheet: Sheet, speaker: Speaker) -> Said:
        return await scored(sheet, speaker, "move", sheet.forms[0], sample)

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
