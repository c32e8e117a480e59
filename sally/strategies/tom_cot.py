"""Predictions of the others and then the choice, in one reply; the predictions are logged as
answers to probes."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.strategy import (
    PromptContext,
    Speaker,
    Strategy,
    StrategyResult,
    spoken,
)
from sally.core.prompt.model import Reply
from sally.core.reply.reader import read_each
from sally.core.rules.probe import StatedPrediction
from sally.strategies import cot

TEXTS: Mapping[str, str] = {
    **cot.TEXTS,
    "tom_cot.line": "{question}\n"
    "Answer this with a line `{label}: <name>`, where <name> is one of: {names}.",
    "tom_cot.format": "First take the others' side, one after the other: what does each of them "
    "know and want, and what will it do for that reason? Begin with a paragraph `Reasoning:`. "
    "Then say what you predict:\n{lines}\nThen choose what is best for you if your predictions "
    "are right. {format}",
}


def wanted_lines(prompt: PromptContext) -> str:
    """Return the requested predictions, each with the line that answers it."""
    questions, label = prompt.foresee, prompt.foreseen_label
    has_several = len(questions) > 1
    labels = [f"{label} {n}" if has_several else label for n in range(1, len(questions) + 1)]
    return "\n".join(
        prompt.say(
            "tom_cot.line",
            question=prompt.aside(question),
            label=label,
            names=prompt.choices_said(question),
        )
        for label, question in zip(labels, questions, strict=True)
    )


def foreseen_in(prompt: PromptContext, reply: Reply) -> tuple[StatedPrediction, ...]:
    """Return the predictions in the complete lines of a reply; an unreadable prediction has no
    value."""
    questions = prompt.foresee
    choice_names = [prompt.choice_names(question) for question in questions]
    lines = reply.text.rpartition("\n")[0] if reply.finish == "length" else reply.text
    places = read_each(lines, choice_names, prompt.foreseen_label)
    return tuple(
        StatedPrediction(q.probe, None if place is None else q.choices[place], q.about)
        for q, place in zip(questions, places, strict=True)
    )


async def _act(prompt: PromptContext, speaker: Speaker) -> StrategyResult:
    if not prompt.foresee:
        return await cot.thought(prompt, speaker)
    format_text = prompt.say("tom_cot.format", lines=wanted_lines(prompt), format=prompt.format)
    reply = await speaker.say("move", prompt.user(format=format_text))
    return spoken(reply, foreseen=foreseen_in(prompt, reply))


STRATEGY = Strategy(
    name="tom_cot",
    about="asks for predictions about the others and for the choice in one reply",
    source="Kang et al. 2026",
    make=lambda: (_act, cot.thought),
    calls="1",
    needs=frozenset({"probe"}),
    texts=TEXTS,
)
