"""The oracle with the aim spelled out; past and payoffs may be taken off the page."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy, spoken

TEXTS: Mapping[str, str] = {
    "oracle_max.aim": "Choose what brings you the most in response to this.",
}


def _make(history: bool = True, payoffs: bool = True) -> tuple[Run, Run]:
    async def act(sheet: Sheet, speaker: Speaker) -> Said:
        opening = sheet.opening(history=history, payoffs=payoffs)
        wanted = f"{sheet.say('oracle_max.aim')}\n{sheet.format}"
        page = sheet.user(opening=opening, past=history, format=wanted)
        return spoken(await speaker.say("move", page))

    async def answer(sheet: Sheet, speaker: Speaker) -> Said:
        opening = sheet.opening(history=history, payoffs=payoffs)
        return spoken(await speaker.say("probe", sheet.user(opening=opening, past=history)))

    return act, answer


STRATEGY = Strategy(
    name="oracle_max",
    about="the oracle, asked for what brings the most; history and payoffs can be switched off",
    source="Riemer et al. 2025",
    make=_make,
    calls="1",
    needs=frozenset({"told"}),
    params={"history": True, "payoffs": True},
    texts=TEXTS,
)
