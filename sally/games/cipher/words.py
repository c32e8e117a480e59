"""Cipher in language: all seats read the same lines, with keywords and code only if they may see
them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sally.core.errors import IllegalMove, Unreadable
from sally.core.log.events import Told
from sally.core.reply.plain_text import after_label
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, admit
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, read_form, read_texts
from sally.games.association.lexicon import clue_problem
from sally.games.association.speech import one_line, unquote
from sally.games.cipher.listeners import digits
from sally.games.cipher.rules import (
    ENCODER,
    NONE,
    TEAM,
    Cipher,
    Event,
    Hinted,
    Hints,
    Over,
    Revealed,
    View,
    Void,
    record_of,
)

TEXTS: Mapping[str, str] = read_texts(__package__)
CODE = re.compile(r"(?<![\w-])([1-4])[ ,-]{0,2}([1-4])[ ,-]{0,2}([1-4])(?![\w%-])")
KEYWORD_PROBES = ("keyword", "keyword_before", "keyword_of_another")


def count_times(number: int) -> str:
    """Return how often, in words: once, twice, 3 times ..."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


class CipherWords(Words[Any, "View"]):
    """Texts of Cipher: all seats read the same lines; only the team sees the keywords, and only the
    encoder sees the code."""

    label: ClassVar[str] = "Answer"

    game: Cipher

    def rules(self, seat: Seat) -> str:
        game = self.game
        parts = [
            self.say(
                "rules",
                role=self.say(f"role.{seat}"),
                tokens=game.tokens,
                rounds=game.rounds,
                games=game.games,
            )
        ]
        if game.channel:
            parts.append(self.say("rules.channel", chances="; ".join(self._chances())))
        if game.told and seat == ENCODER:
            parts.append(self.say(f"listener.{game.told}"))
        return "\n".join(parts)

    @property
    def phrases(self) -> Mapping[str, str]:
        rounds = self.game.rounds
        return {
            "tokens": count_times(self.game.tokens),
            "rounds": f"{rounds} round" if rounds == 1 else f"{rounds} rounds",
        }

    def _chances(self) -> Iterator[str]:
        rows = self.game.channel
        for n, row in enumerate(rows, 1):
            percent = ", ".join(f"{100 * chance:g}%" for chance in row)
            yield self.say(
                "chances.last" if n == len(rows) else "chances", round=n, percent=percent
            )

    # --- the past ---------------------------------------------------------------------------

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        yield from list(self._told_so_far(view))[since:]

    def _told_so_far(self, view: View) -> Iterator[str]:
        game, began, rounds = 0, 0, 0
        yield from self._opening(view, game)
        for number, event in enumerate(view.log):
            yield from self._refusals(view, number)
            yield self._event(view, game, view.log[began:number], event)
            if isinstance(event, Revealed | Void):
                if view.readings:
                    reading = self.name(view.readings[rounds])
                    yield self.say("reading", reading=reading)
                rounds += 1
            if isinstance(event, Over) and (game := game + 1) < view.game:
                began = number + 1
                yield from self._opening(view, game)
        yield from self._refusals(view, len(view.log))

    def _opening(self, view: View, game: int) -> Iterator[str]:
        if view.seat in TEAM:
            keywords = self._keywords(view.keywords[game])
            yield self.say("game.keywords", game=game + 1, keywords=keywords)
        else:
            yield self.say("game", game=game + 1)
        for number, past_round in enumerate(view.pasts[game], 1):
            hints, code = self._hints(past_round.hints), self.name(past_round.code)
            yield self.say("past", round=number, hints=hints, code=code)

    def _keywords(self, words: tuple[str, ...]) -> str:
        return ", ".join(self.say("keyword", digit=n, word=w) for n, w in enumerate(words, 1))

    def _refusals(self, view: View, log_length: int) -> Iterator[str]:
        for refusal in view.refused:
            if refusal.after == log_length:
                yield self.say(
                    "refused", hints=self._hints(refusal.hints), why=one_line(refusal.why)
                )

    def _event(self, view: View, game: int, events_before: tuple[Event, ...], event: Event) -> str:
        record = record_of(view.pasts[game], (*events_before, event))
        number = len(view.pasts[game]) + record.played + 1
        if isinstance(event, Hinted):
            return self.say("hinted", round=number, hints=self._hints(event.hints))
        if isinstance(event, Void):
            return self.say("void", round=number, code=self.name(event.code))
        if isinstance(event, Over):
            return self.say(f"over.{event.how}")
        return self.say(
            "revealed",
            code=self.name(event.code),
            decoder=self.name(event.decoder),
            interceptor=self.name(event.interceptor),
            missed=record.miscommunications,
            caught=record.interceptions,
        )

    def _hints(self, hints: tuple[str, ...]) -> str:
        return ", ".join(f'"{one_line(hint)}"' for hint in hints)

    # --- the present ------------------------------------------------------------------------

    def now(self, view: View) -> str:
        if view.over:
            return ""
        record, rounds_before = view.record, len(view.pasts[-1])
        parts = [
            self.say(
                "now",
                game=view.game,
                round=rounds_before + record.played + 1,
                rounds=rounds_before + self.game.rounds,
                missed=record.miscommunications,
                caught=record.interceptions,
                used=", ".join(map(self.name, record.used)) or self.say("none"),
            )
        ]
        if any(record.filed):
            parts.append(self.say("now.filed", filed=self._filed_text(record.filed)))
        if view.code:
            parts.append(self.say("now.code", code=self.name(view.code)))
        if view.hints:
            parts.append(self.say("now.hints", hints=self._hints(view.hints)))
        if view.reading:
            parts.append(self.say("now.reading", reading=self.name(view.reading)))
        return " ".join(parts)

    def _filed_text(self, filed: tuple[tuple[str, ...], ...]) -> str:
        return "; ".join(
            self.say(
                "now.filed.digit",
                digit=digit,
                hints=", ".join(map(one_line, hints)) or self.say("none"),
            )
            for digit, hints in enumerate(filed, 1)
        )

    def question(self, view: View, options: Options[Any]) -> str:
        return self.say(f"question.{view.seat}")

    def format(self, view: View, options: Options[Any]) -> str:
        return self.say("format.encoder") if view.seat == ENCODER else super().format(view, options)

    def name(self, action: Any) -> str:
        if isinstance(action, Hints):
            return ", ".join(action.words)
        if action == NONE:
            return self.say("no_guess")
        return "-".join(map(str, digits(action))) if isinstance(action, int) else str(action)

    def read(self, reply: str, view: View, options: Options[Any]) -> Any:
        if view.seat != ENCODER:
            return super().read(hyphenate_codes(reply), view, options)
        if "{" in reply:
            return read_form(reply, options)
        teach = self.format(view, options)
        stated = after_label(reply, "Hints")
        words = [unquote(part) for part in re.split(r"[,;]", unquote(stated or ""))]
        if len(words) != 3 or any(not word or re.search(r"[\s?<>]", word) for word in words):
            raise Unreadable(teach)
        if re.search(r"<(?:\w+ )?(?:word|hint)>", stated or ""):
            raise Unreadable(teach)
        try:
            return admit(options, Hints(*words))
        except IllegalMove:
            raise Unreadable(teach) from None

    def refusal(self, view: View, action: Any) -> str:
        if not isinstance(action, Hints):
            return ""
        keywords, any_word = view.keywords[-1], self.game.any_word
        problems = (clue_problem(word, keywords, any_word) for word in action.words)
        return next((reason for reason in problems if reason is not None), "")

    # --- probes -----------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Any = None) -> str:
        if question.probe in KEYWORD_PROBES:
            return self.say(f"aside.{question.probe}", **self._subject(question.about))
        if isinstance(pending, Hints):
            hints = self._hints(pending.words)
            return self.say("aside.their_guess", hints=hints, about=question.about)
        key = "their_guess.open" if question.probe == "their_guess" else question.probe
        return self.say(f"aside.{key}", about=question.about)

    def _subject(self, about: str) -> dict[str, str]:
        """Return the digit that a question is about, and the keywords if the question shows
        them."""
        digit, *words = about.split()
        return {"digit": digit, "keywords": self._keywords(tuple(words))}

    def choice_name(self, question: Question, choice: int | str) -> str:
        if question.probe == "listener":
            return self.say(f"way.{choice}")
        if question.probe in KEYWORD_PROBES:
            return str(choice) or self.say("keyword.other")
        return self.name(choice)

    def told(self, injected: Told, question: Question | None = None) -> str:
        facts = {"about": injected.about}
        if injected.probe in KEYWORD_PROBES:
            facts = self._subject(injected.about)
        value: Any = injected.value
        if injected.probe == "listener":
            value = self.say(f"way.{value}")
        elif injected.probe in KEYWORD_PROBES:
            value = value or self.say("keyword.other")
        elif isinstance(value, int):
            value = self.name(value)
        fact = self.say(f"fact.{injected.probe}", value=value, **facts)
        return self.say(f"told.{injected.source}", fact=fact)


def hyphenate_codes(reply: str) -> str:
    """Return a reply with codes hyphenated as in the game's prompts.

    >>> hyphenated("Answer: 4 2, 1")
    'Answer: 4-2-1'
    """
    return CODE.sub(r"\1-\2-\3", reply)
