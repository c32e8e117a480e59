"""Taboo in language: prompts, and the reading of replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sally.core.errors import join_names
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.words import read_texts
from sally.games.association.speech import WordGameWords, one_line, read_word
from sally.games.taboo.rules import GIVER, Hint, Tries, View

TEXTS: Mapping[str, str] = read_texts(__package__)


class TabooWords(WordGameWords["View"]):
    """Texts of Taboo; only the giver's prompt contains the secret word."""

    @property
    def phrases(self) -> Mapping[str, str]:
        return {"most": str(self.game.hints)}

    def rules(self, seat: Seat) -> str:
        game = self.game
        facts = {"role": self.say(f"role.{seat}"), "hints": game.hints, "rounds": game.rounds}
        rules_text = self.say("rules", most=game.hints, **facts)
        return (
            f"{rules_text}\n{self.say('rules.cues', cues=game.cues)}" if game.cues else rules_text
        )

    def history(self, view: View) -> Iterator[str]:
        for cue, answer in view.cues:
            key = "cue.none" if answer is None else "cue"
            yield self.say(key, cue=cue, answer=one_line(answer or ""))
        for number, past_round in enumerate(view.past):
            yield from self._tries(view, number, past_round.tries)
            key = "found" if past_round.found else "missed"
            yield self.say(key, target=past_round.target, points=past_round.points)
        if not view.over:
            yield from self._tries(view, len(view.past), view.tries)
            yield from self._refusals(view, len(view.past), len(view.tries))

    def _tries(self, view: View, number: int, tries: Tries) -> Iterator[str]:
        for n, (hint, guess) in enumerate(tries):
            yield from self._refusals(view, number, n)
            key = "try.no_hint" if hint is None else "try.no_guess" if guess is None else "try"
            try_texts = {"hint": one_line(hint or ""), "guess": one_line(guess or "")}
            yield self.say(key, round=number + 1, number=n + 1, **try_texts)

    def _refusals(self, view: View, number: int, n: int) -> Iterator[str]:
        for refusal in view.refused:
            if (refusal.round, refusal.number) == (number, n):
                word = one_line(refusal.word)
                yield self.say("refused", round=number + 1, word=word, why=refusal.why)

    def refusal(self, view: View, action: Any) -> str:
        if not isinstance(action, Hint):
            return ""
        hints = tuple(hint for hint, _ in view.tries if hint)
        return self.game.objection_to(action.word, view.target, view.banned, hints) or ""

    def now(self, view: View) -> str:
        if view.over:
            return ""
        if len(view.cues) < self.game.cues:
            return self.say("now.cue")
        facts: dict[str, Any] = {"round": len(view.past) + 1, "number": len(view.tries) + 1}
        facts |= {"hints": self.game.hints}
        if view.seat == GIVER:
            banned = join_names(self.listing(view.banned), "and")
            return self.say("now.giver", target=view.target, banned=banned, **facts)
        if view.hint is None:
            return self.say("now.waits", **facts)
        return self.say("now.guesser", hint=one_line(view.hint), **facts)

    def question(self, view: View, options: Options[Any]) -> str:
        if view.cue:
            return self.say("question.cue", cue=view.cue)
        return super().question(view, options)

    def format(self, view: View, options: Options[Any]) -> str:
        return self.say(f"format.{view.seat}")

    def read(self, reply: str, view: View, options: Options[Any]) -> Any:
        label = "Hint" if view.seat == GIVER else "Guess"
        return read_word(reply, options, label, self.say(f"format.{view.seat}"))

    def answer(self, probe: str, value: Any) -> Any:
        return self.say("other") if value == "" else value
