"""Reflection before every move; the prompt repeats the last few plans."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sally.core.errors import BadInput, Unreadable
from sally.core.match.strategy import (
    PromptContext,
    Run,
    Speaker,
    Strategy,
    StrategyResult,
    answered,
)
from sally.core.prompt.model import User
from sally.core.reply.plain_text import sections
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


def _quote_plans(prompt: PromptContext, plans: tuple[str, ...]) -> list[str]:
    ages = range(len(plans), 0, -1)
    return [
        prompt.say("reflexion.last" if age == 1 else "reflexion.earlier", plan=plan, turns=age)
        for age, plan in zip(ages, plans, strict=True)
    ]


async def _ask_for_plan(prompt: PromptContext, speaker: Speaker) -> str:
    page = prompt.opening().plus(prompt.say("reflexion.reflect"))
    reply = await speaker.say("reflect", [User(page)])
    plan = sections(reply.text, ("Plan",)).get("Plan") or reply.text.strip()
    if not plan:
        raise Unreadable("Write a plan that begins with `Plan:`.")
    return plan


def _make(memory: int = 1) -> tuple[Run, Run]:
    if not 1 <= memory <= 3:
        raise BadInput(f"memory of reflexion must be from 1 to 3, not {memory}.")

    async def act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        notes = prompt.notes(Plans)
        plans: tuple[str, ...] = ()
        if notes is not None:  # before the first move there is nothing to reflect on
            plans = (*notes.plans, await _ask_for_plan(prompt, speaker))[-memory:]
        result = await cot.thought(prompt, speaker, *_quote_plans(prompt, plans))
        return msgspec.structs.replace(result, memory=Plans(plans))

    async def answer(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        notes = prompt.notes(Plans) or Plans()
        return await answered(prompt, speaker, *_quote_plans(prompt, notes.plans))

    return act, answer


STRATEGY = Strategy(
    name="reflexion",
    about="asks for reflection and a plan before each move but the first; shows recent plans",
    source="Riemer et al. 2025, after Shinn et al. 2023",
    make=_make,
    calls="2 (1 in the first turn)",
    params={"memory": 1},
    texts=TEXTS,
    schema=True,
)
