"""Think step by step, then answer."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.grown import Grown
from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy, spoken

TEXTS: Mapping[str, str] = {
    "cot.think": "Think step by step first, in a paragraph that begins with `Thoughts:`. "
    "Then answer. {format}",
}


async def thought(
    sheet: Sheet, speaker: Speaker, *notes: str, opening: Grown | None = None, past: bool = True
) -> Said:
    """Thoughts and an answer in one reply; `past` as for a tail."""
    wanted = sheet.say("cot.think", format=sheet.format)
    page = sheet.user(*notes, opening=opening, past=past, format=wanted)
    return spoken(await speaker.say("probe" if sheet.asked else "move", page))


def _make() -> tuple[Run, Run]:
    return thought, thought


STRATEGY = Strategy(
    name="cot",
    about="thoughts first, then the answer",
    source="Riemer et al. 2025; Kang et al. 2026",
    make=_make,
    calls="1",
    texts=TEXTS,
)
