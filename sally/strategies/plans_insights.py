"""Plans and insights, written with every move and shown in the next turn."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sally.core.errors import Unreadable
from sally.core.match.strategy import (
    PromptContext,
    Speaker,
    Strategy,
    StrategyResult,
    answered,
    spoken,
)

TEXTS: Mapping[str, str] = {
    "plans_insights.format": "Think step by step. Begin with a paragraph `Plans:` on how you mean "
    "to go on, then a paragraph `Insights:` with what you have found out. Then answer. {format}",
    "plans_insights.schema": "Think step by step. Say in the field `plans` how you mean to go on, "
    "and in the field `insights` what you have found out. Then answer. {format}",
    "plans_insights.last": "Your plans from the last turn: {plans}\n"
    "Your insights from the last turn: {insights}",
    "plans_insights.now": "Your plans in this turn: {plans}\n"
    "Your insights in this turn: {insights}",
}


class Notes(msgspec.Struct, frozen=True):
    """Notes carried to the next turn."""

    plans: str
    insights: str


def _quote_notes(prompt: PromptContext) -> str:
    notes = prompt.notes(Notes)
    if notes is None:
        return ""
    tense = "now" if prompt.mine_is_stated else "last"
    return prompt.say(f"plans_insights.{tense}", plans=notes.plans, insights=notes.insights)


def _read_notes(prompt: PromptContext, reply: str) -> Notes:
    parts = prompt.texts_before(reply, "Plans", "Insights")
    plans, insights = parts.get("Plans", ""), parts.get("Insights", "")
    insights = insights.partition("\n{")[0].partition("```")[0].strip()  # an action as JSON
    if not plans or not insights:
        raise Unreadable("Write a paragraph `Plans:` and a paragraph `Insights:` first.")
    return Notes(plans, insights)


async def _act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    schema = prompt.schema("Plans", "Insights")
    key = "plans_insights.schema" if schema else "plans_insights.format"
    format_text = prompt.say(key, format=prompt.form("Plans", "Insights"))
    page = prompt.user(_quote_notes(prompt), format=format_text)
    reply = await speaker.say("move", page, schema=schema)
    return spoken(reply, _read_notes(prompt, reply.text), before=("Plans", "Insights"))


async def _answer(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    return await answered(prompt, speaker, _quote_notes(prompt))


STRATEGY = Strategy(
    name="plans_insights",
    about="asks for plans and insights with every move and shows them in the next turn",
    source="Riemer et al. 2025, after Fish et al. 2024",
    make=lambda: (_act, _answer),
    calls="1",
    texts=TEXTS,
    schema=True,
)
