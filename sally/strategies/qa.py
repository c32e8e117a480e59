"""Ask once, answer at once."""

from __future__ import annotations

from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy


def _make() -> tuple[Run, Run]:
    async def act(sheet: Sheet, speaker: Speaker) -> Said:
        reply = await speaker.say("move", sheet.user())
        return Said(reply.text)

    async def answer(sheet: Sheet, speaker: Speaker) -> Said:
        reply = await speaker.say("probe", sheet.user())
        return Said(reply.text)

    return act, answer


STRATEGY = Strategy(
    name="qa",
    about="one question, one answer",
    source="Riemer et al. 2025; zero-shot in Kang et al. 2026",
    make=_make,
    calls="1",
)
