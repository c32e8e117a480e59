"""No question at all: the name that most likely completes the next line of the past."""

from __future__ import annotations

from sally.core.chance import Stream
from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy


def _make(sample: bool = False) -> tuple[Run, Run]:
    async def choose(sheet: Sheet, speaker: Speaker, purpose: str, form: str) -> Said:
        context = sheet.opening(form).plus(sheet.stem)
        scores = await speaker.score(purpose, context, sheet.names)
        odds = tuple(scores.normalised().values())  # in the order of the candidates
        place = max(range(len(odds)), key=odds.__getitem__)
        if sample:
            place = Stream(sheet.seed, purpose).draw(dict(enumerate(odds)))
        return Said(sheet.names[place], place, odds)

    async def act(sheet: Sheet, speaker: Speaker) -> Said:
        return await choose(sheet, speaker, "move", sheet.forms[0])

    async def answer(sheet: Sheet, speaker: Speaker) -> Said:
        form = sheet.forms[0] if sheet.mine_is_stated else sheet.forms[-1]
        return await choose(sheet, speaker, "probe", form)

    return act, answer


STRATEGY = Strategy(
    name="lm",
    about="the action name with the largest log-probability as the continuation",
    source="Riemer et al. 2025",
    make=_make,
    calls="1 scoring",
    needs=frozenset({"finite", "scoring"}),
    params={"sample": False},
)
