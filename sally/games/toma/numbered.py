"""Words for games whose options are numbered: `Answer: 2` and `Answer: River` mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from sally.core.errors import Unreadable
from sally.core.prompt.words import Words
from sally.core.reply import reading
from sally.core.rules.game import A, V
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question, Report


class NumberedWords(Words[A, V]):
    """One choice from a short list, answered by number or by name (kang2026, appendix F)."""

    label: ClassVar[str] = "Answer"

    def format(self, view: V, options: Options[A]) -> str:
        return self.say("format.number", options=numbered(self.listing(self.menu(options))))

    def read(self, reply: str, view: V, options: Options[A]) -> A:
        place = read_numbered(reply, self.listing(self.menu(options)), self.label)
        chosen: Any = self.listing(options)[place]
        return chosen  # type: ignore[no-any-return]

    def aside_format(self, question: Question) -> str:
        return self.say("format.number", options=numbered(self._choices(question)))

    def read_report(self, reply: str, question: Question) -> Report:
        place = read_numbered(reply, self._choices(question), self.label)
        return Report(self.listing(question.choices)[place], reply=reply)

    def _choices(self, question: Question) -> tuple[str, ...]:
        names = (self.choice_name(question, choice) for choice in question.choices)
        return tuple(self.listing(names))


def numbered(names: Sequence[str]) -> str:
    """The options, one a line, each behind its number."""
    return "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))


def read_numbered(reply: str, names: Sequence[str], label: str) -> int:
    """The place of the one option that a reply gives by number, by name, or by both alike."""
    try:
        return reading.read_numbered(reply, names, label)
    except Unreadable:
        raise Unreadable(
            f"Answer with one line `{label}:` and exactly one option number from 1 to {len(names)}."
        ) from None
