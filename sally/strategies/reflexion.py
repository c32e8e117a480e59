"""A look back before every move; the last few plans that came of it stand on the page."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sally.core.errors import BadInput, Unreadable
from sally.core.model import User
from sally.core.reading import sections
from sally.core.strategy import Run, Said, Sheet, Speaker, Strategy, once, spoken
from sally.strategies import cot

TEXTS: Mapping[str, str] = {
    **cot.TEXTS,
    "reflexion.reflect": "Look back at how you have played so far and at what came of it. Name "
    "the choices that were mistakes and what you should have chosen instead, and make a short "
    "new plan for the turns to come; you will be shown it when you choose next. Answer with one "
    "paragraph that begins with `Plan:`.",
    "reflexion.last": "Your plan from the last turn: {plan}",
    "reflexion.earlier": "Your plan from {turns} turns ago: {plan}",
}


class Plans(msgspec.Struct, frozen=True):
    """The last plans, oldest first."""

    plans: tuple[str, ...] = ()


def _shown(sheet: Sheet, plans: tuple[str, ...]) -> list[str]:
    ages = range(len(plans), 0, -1)
    return [
        sheet.say("reflexion.last" if age == 1 else "reflexion.earlier", plan=plan, turns=age)
        for age, plan in zip(ages, plans, strict=True)
    ]


async def _reflected(sheet: Sheet, speaker: Speaker) -> str:
    request = "\n".join(part for part in (sheet.retry(), sheet.say("reflexion.reflect")) if part)
    reply = await speaker.say("reflect", [User(sheet.opening().plus(request))])
    plan = sections(reply.text, ("Plan",)).get("Plan") or reply.text.strip()
    if not plan:
        raise Unreadable("Write a plan that begins with `Plan:`.")
    return plan


def _make(memory: int = 1) -> tuple[Run, Run]:
    if not 1 <= memory <= 3:
        raise BadInput(f"memory of reflexion must be from 1 to 3, not {memory}.")

    async def act(sheet: Sheet, speaker: Speaker) -> Said:
        notes = sheet.notes(Plans)
        plans: tuple[str, ...] = ()
        if notes is not None:  # before the first move there is nothing to look back at
            plan = await once(sheet, "plan", lambda: _reflected(sheet, speaker))
            plans = (*notes.plans, plan)[-memory:]
        said = await cot.thought(sheet, speaker, *_shown(sheet, plans))
        return msgspec.structs.replace(said, memory=Plans(plans))

    async def answer(sheet: Sheet, speaker: Speaker) -> Said:
        notes = sheet.notes(Plans) or Plans()
        return spoken(await speaker.say("probe", sheet.user(*_shown(sheet, notes.plans))))

    return act, answer


STRATEGY = Strategy(
    name="reflexion",
    about="a plan from looking back before every move; the last `memory` plans are shown",
    source="Riemer et al. 2025, after Shinn et al. 2023",
    make=_make,
    calls="2 (1 in the first turn)",
    params={"memory": 1},
    texts=TEXTS,
)
