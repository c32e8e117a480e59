"""The ambiguity game in language: sentences of our own, in the order and formats used in the
prompts of kang2026."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sally.core.errors import Unreadable
from sally.core.log.events import Told
from sally.core.reply.plain_text import after_label
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, admit
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, read_form, read_texts
from sally.games.toma.ag.game import Ambiguity, Clue, View
from sally.games.toma.ag.rules import objection

TEXTS: Mapping[str, str] = read_texts(__package__)


class AmbiguityWords(Words[Any, "View"]):
    """Texts of the ambiguity game; both listeners get the same prompt except for the hint."""

    label: ClassVar[str] = "Answer"

    def __init__(self, game: Ambiguity, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._hints = {"b": game.problem.b_hint, "c": game.problem.c_hint}  # probes: the speaker's

    def rules(self, seat: Seat) -> str:
        return self.say(f"rules.{_role(seat)}")

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        for clue, reason in view.refused[since:]:
            yield self.say("refused", clue=_one_line(clue), why=reason)

    def now(self, view: View) -> str:
        if _role(view.seat) == "speaker":
            hints = {"b_hint": view.b_hint, "c_hint": view.c_hint}
            return self.say("now.speaker", word=view.word, **hints)
        hint, clue = view.b_hint or view.c_hint, _one_line(view.clue or "")
        return self.say("now.listener", hint=hint, clue=clue)

    def question(self, view: View, options: Options[Any]) -> str:
        return self.say(f"question.{_role(view.seat)}")

    def format(self, view: View, options: Options[Any]) -> str:
        return self.say(f"format.{_role(view.seat)}")

    def name(self, action: Any) -> str:
        return str(getattr(action, "text", None) or getattr(action, "word", None) or action)

    def refusal(self, view: View, action: Any) -> str:
        return (objection(self.game.problem, action.text) or "") if isinstance(action, Clue) else ""

    def read(self, reply: str, view: View, options: Options[Any]) -> Any:
        if "{" in reply:
            return read_form(reply, options)
        label = "Action" if _role(view.seat) == "speaker" else "Guess"
        stated = after_label(reply, label)
        stated_word = (
            "" if stated is None else re.sub(r"^[\s\"'“‘*_`\[]+|[\s\"'”’*_`\]]+$", "", stated)
        )
        form: Any = options[0]
        try:
            return admit(options, form.make(stated_word))
        except ValueError:
            raise Unreadable(f"{self.format(view, options)} Nothing else is read.") from None

    def aside(self, question: Question, view: View, pending: Any = None) -> str:
        seat_name = self.say(f"who.{question.about}")
        if question.probe == "has_hint":
            return self.say("aside.has_hint", who=seat_name)
        if pending is None:
            return self.say("aside.none", who=seat_name)
        return self.say("aside.finds_it", who=seat_name, clue=_one_line(self.name(pending)))

    def choice_name(self, question: Question, choice: int | str) -> str:
        """Return the name of a choice in a probe; only the speaker, who sees both hints, is
        probed."""
        return self._hints.get(str(choice), str(choice))

    def told(self, injected: Told, question: Question | None = None) -> str:
        seat_name = self.say(f"who.{injected.about}")
        if injected.probe == "has_hint":
            hint = self._hints[str(injected.value)]
            return self.say(f"told.{injected.source}.hint", who=seat_name, value=hint)
        return self.say(f"told.{injected.source}", who=seat_name, value=injected.value)


def _role(seat: Seat) -> str:
    return "speaker" if seat == "speaker" else "listener"


def _one_line(text: str) -> str:
    """Return a clue on one line, so that it cannot imitate a line of the prompt."""
    return " ".join(text.split()).replace('"', "'")
