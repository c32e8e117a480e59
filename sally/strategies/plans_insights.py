"""Plans and insights, written with every move and shown in the next turn."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sally.core.errors import Unreadable
from sally.core.prompt.strategy import (
    PromptContext,
    Run,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
    whole_lines,
)
from sally.core.reply.plain_text import sections

TEXTS: Mapping[str, str] = {
    "plans_insights.format": "Think step by step. Begin with a paragraph `Plans:` on how you mean "
    "to go on, then a paragraph `Insights:` with what you have found out. Then answer. {format}",
    "plans_insights.last": "Your plans from the last turn: {plans}\n"
    "Your insights from the last turn: {insights}",
    "plans_insights.now": "Your plans in this turn: {plans}\n"
    "Your insights in this turn: {insights}",
}


class Notes(msgspec.Struct, frozen=True):
    """Notes carried to the next turn."""

    plans: str
    insights: str


def _shown(prompt: PromptContext) -> str:
    notes = prompt.notes(Notes)
    if notes is None:
        return ""
    when = "now" if prompt.mine_is_stated else "last"
    return prompt.say(f"plans_insights.{when}", plans=notes.plans, insights=notes.insights)


def _written(reply: str, label: str) -> Notes:
    parts = sections(reply, ("Plans", "Insights", label))
    plans, insights = parts.get("Plans", ""), parts.get("Insights", "")
    insights = insights.partition("\n{")[0].partition("```")[0].strip()  # an action as JSON
    if not plans or not insights:
        raise Unreadable("Write a paragraph `Plans:` and a paragraph `Insights:` first.")
    return Notes(plans, insights)


def _make() -> tuple[Run, Run]:
    async def act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        wanted = prompt.say("plans_insights.format", format=prompt.format)
        reply = await speaker.say("move", prompt.user(_shown(prompt), format=wanted))
        return spoken(reply, memory=_written(whole_lines(reply), prompt.label))

    async def answer(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
        return spoken(await speaker.say("probe", prompt.user(_shown(prompt))))

    return act, answer


STRATEGY = Strategy(
    name="plans_insights",
    about="plans and insights with every move, carried to the next turn",
    source="Riemer et al. 2025, after Fish et al. 2024",
    make=_make,
    calls="1",
    texts=TEXTS,
)
