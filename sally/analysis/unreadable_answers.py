"""Answers that could not be read: how many, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from sally.core.errors import join_names
from sally.core.log.events import Event, Forfeited, Reported

LEAST_SUGGESTED = 2000  # tokens of a reply in which a model that thinks usually ends


class UnreadableAnswers(msgspec.Struct, frozen=True):
    """The number of answers, and of those that could not be read, by reason."""

    answers: int = 0
    reasons: dict[str, int] = {}
    most_tokens: int = 0  # the largest `max_tokens` at which a reply was cut off; 0: none was

    @property
    def count(self) -> int:
        """How many answers could not be read."""
        return sum(self.reasons.values())

    def sentence(self, subject: str) -> str:
        """Return that no answer could be read and why, in one sentence; `subject` are the
        answers."""
        reasons = join_names([f"{count:,} {reason}" for reason, count in self.reasons.items()])
        suggested = max(4 * self.most_tokens, LEAST_SUGGESTED)
        advice = (
            f"; `--set max_tokens={suggested}` allows longer replies" if self.most_tokens else ""
        )
        return f"No result: {self.count:,} of {self.answers:,} {subject} ({reasons}){advice}."


def count_unreadable(events: Iterable[Event]) -> UnreadableAnswers:
    """Count the answers among the events of the evaluated player."""
    answers, most_tokens, reasons = 0, 0, Counter[str]()
    for event in events:
        answers += 1
        if (reason := unreadable_reason(event)) is not None:
            reasons[reason] += 1
            cut_off = [call for call in event.calls if call.finish == "length"]
            limits = [call.settings.get("max_tokens") or 0 for call in cut_off]
            most_tokens = max(most_tokens, *limits, 0)
    return UnreadableAnswers(answers, dict(reasons), most_tokens)


def unreadable_reason(event: Event) -> str | None:
    """Return why an answer could not be read; None if it could be."""
    is_unread = isinstance(event, Reported) and event.value is None
    if not is_unread and not isinstance(event, Forfeited):
        return None
    replies = [call for call in event.calls if not call.failure]
    if replies:
        call = replies[-1]
        if call.finish == "length":
            limit = call.settings.get("max_tokens")
            return f"cut off at max_tokens {limit}" if limit else "cut off"
        if call.finish == "refusal":
            return "refused"
        if call.tools:
            return "tool calls instead of an answer"
        if not call.reply.strip() and not call.scores:
            return "empty"
    if isinstance(event, Forfeited) and event.reason != "unreadable":
        return event.reason
    return "without one of the options"
