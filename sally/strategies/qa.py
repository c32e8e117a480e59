"""Ask once, answer at once."""

from __future__ import annotations

from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy, spoken


async def answered(sheet: Sheet, speaker: Speaker) -> Said:
    """One question, one answer: a move, or what a probe asks."""
    return spoken(await speaker.say("probe" if sheet.asked else "move", sheet.user()))


def _make() -> tuple[Run, Run]:
    return answered, answered


STRATEGY = Strategy(
    name="qa",
    about="one question, one answer",
    source="Riemer et al. 2025; zero-shot in Kang et al. 2026",
    make=_make,
    calls="1",
)
