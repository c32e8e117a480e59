"""Think step by step, then answer."""

from __future__ import annotations

from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy

THINK = "First think it through step by step on lines that begin with `Thoughts:`. Then answer."


def _make() -> tuple[Run, Run]:
    async def act(sheet: Sheet, speaker: Speaker) -> Said:
        reply = await speaker.say("move", sheet.user(format=f"{THINK} {sheet.format}"))
        return Said(reply.text)

    async def answer(sheet: Sheet, speaker: Speaker) -> Said:
        reply = await speaker.say("probe", sheet.user(format=f"{THINK} {sheet.format}"))
        return Said(reply.text)

    return act, answer


STRATEGY = Strategy(
    name="cot",
    about="thoughts first, then the answer",
    source="Riemer et al. 2025; Kang et al. 2026",
    make=_make,
    calls="1",
)
