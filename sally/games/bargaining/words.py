"""Bargaining in language: roles, messages and quotes so far, and the current question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sally.core.errors import Unreadable
from sally.core.log.events import Told
from sally.core.reply.plain_text import without_thoughts
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, Whole, span
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, objects_in, read_form, read_texts
from sally.games.bargaining.rules import (
    MOST_CHARACTERS,
    MOST_WORDS,
    PRICES,
    Action,
    Bargaining,
    Round,
    Say,
    View,
    gain,
    other_seat,
)
from sally.games.bargaining.values import GAP, HIGHEST

TEXTS: Mapping[str, str] = read_texts(__package__)

LABELLED = re.compile(r"(?im)^[ \t>#*_`-]*message[*_`]*[ \t]*[:：][*_`]*[ \t]*")


class BargainingWords(Words[Any, "View"]):
    """Texts of bargaining: both seats read the same lines; each limit is shown only to the seat
    that has it."""

    label: ClassVar[str] = "Answer"

    def __init__(self, game: Bargaining, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._game = game
        self._per_round = 1 if game.talk == "none" else 3  # lines of a finished round

    # --- the page -------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        return self._rules(seat, self.say("pays"))

    def rules_without_payoffs(self, seat: Seat) -> str | None:
        return self._rules(seat, self.say("pays.none"))

    def _rules(self, seat: Seat, pays: str) -> str:
        game = self._game
        rules_text = self.say(
            "rules",
            role=self.say(f"role.{seat}"),
            rounds=game.rounds,
            talk=self.say(f"talk.{game.talk}", words=MOST_WORDS),
            highest=HIGHEST,
            pays=pays,
        )
        if not game.prior_told:
            return rules_text
        return f"{rules_text}\n{self.say(f'prior.{game.family}', gap=GAP, highest=HIGHEST)}"

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        first, skip = divmod(since, self._per_round)
        for number, past_round in enumerate(view.past.since(first), first + 1):
            round_lines = [
                *self._message_lines(view, number, past_round.said),
                self._result(view, number, past_round),
            ]
            yield from round_lines[skip:] if number == first + 1 else round_lines
        if len(view.past) < self._game.rounds:
            round_lines = list(self._message_lines(view, view.round, view.said))
            yield from round_lines[skip:] if len(view.past) == first else round_lines

    def _message_lines(
        self, view: View, number: int, messages: tuple[tuple[Seat, str], ...]
    ) -> Iterator[str]:
        for seat, text in messages:
            key = f"said.{'you' if seat == view.seat else 'other'}"
            key = key if text.strip() else f"{key}.nothing"
            yield self.say(
                key,
                round=number,
                text=one_line(text),
                other=self.say(f"role.{other_seat(view.seat)}"),
            )

    def _result(self, view: View, number: int, past_round: Round) -> str:
        if past_round.void:
            return self.say("past.void", round=number)
        facts: dict[str, Any] = {"round": number, "bid": past_round.bid, "ask": past_round.ask}
        if past_round.price is None:
            return self.say("past.none", **facts)
        earned = int(gain(view.seat, view.limit or 0, past_round.price))
        return self.say("past.traded", price=past_round.price, earned=earned, **facts)

    def now(self, view: View) -> str:
        if view.limit is None or len(view.past) >= self._game.rounds:
            return ""
        return self.say(
            "now",
            round=view.round,
            rounds=self._game.rounds,
            own=self.say(f"own.{view.seat}"),
            limit=view.limit,
            total=view.total,
        )

    def question(self, view: View, options: Options[Any]) -> str:
        if view.talking:
            return self.say("question.message", other=self.say(f"role.{other_seat(view.seat)}"))
        return self.say(f"question.{view.seat}")

    def format(self, view: View, options: Options[Any]) -> str:
        if view.talking:
            return self.say("format.message", words=MOST_WORDS)
        return super().format(view, options)

    # --- actions --------------------------------------------------------------------------------

    def name(self, action: Any) -> str:
        return one_line(action.text) if isinstance(action, Say) else str(action)

    def scale(self, options: Options[Any]) -> Whole | None:
        return Whole(0, HIGHEST) if options is PRICES else span(options)

    def read(self, reply: str, view: View, options: Options[Any]) -> Action:
        """Read a reply: a price as in every other game, or a message after its label or in a JSON
        form."""
        if not view.talking:
            price: int = super().read(reply, view, options)
            return price
        text = without_thoughts(reply)
        if any("kind" in json_object for json_object in objects_in(text)):
            form: Say = read_form(text, options)
            return form
        labels = list(LABELLED.finditer(text))
        if not labels:
            raise Unreadable(self.say("format.message", words=MOST_WORDS))
        message = _unquote(text[labels[-1].end() :])
        if len(words := message.split()) > MOST_WORDS or len(message) > MOST_CHARACTERS:
            raise Unreadable(
                f"Your message has {len(words)} words and {len(message)} characters; at most "
                f"{MOST_WORDS} words and {MOST_CHARACTERS} characters are allowed."
            )
        return Say(message)

    # --- probes ---------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Any = None) -> str:
        return self.say(f"aside.{question.probe}", **self._facts(question.about, view.seat))

    def choice_name(self, question: Question, choice: int | str) -> str:
        return self.say(choice) if choice in ("yes", "no") else str(choice)

    def told(self, injected: Told, question: Question | None = None) -> str:
        seat = Seat(injected.seat)
        value = self.say(injected.value) if injected.value in ("yes", "no") else injected.value
        fact = self.say(f"fact.{injected.probe}", value=value, **self._facts(injected.about, seat))
        return self.say(f"told.{injected.source}", fact=fact)

    def _facts(self, about: str, seat: Seat) -> dict[str, Any]:
        return {
            "other": self.say(f"role.{other_seat(seat)}"),
            "theirs": self.say(f"own.{other_seat(seat)}"),
            "own": self.say(f"own.{seat}"),
            "price": about,
            "highest": HIGHEST,
        }


def one_line(text: str) -> str:
    """Return a text on one line without double quotes, so that it cannot imitate a line of the
    prompt."""
    return " ".join(text.split()).replace('"', "'")


def _unquote(text: str) -> str:
    """Return a message without surrounding whitespace, and without one surrounding pair of quotes
    or angle brackets."""
    text = text.strip()
    for opening, closing in ('""', "“”", "<>", "``"):
        if len(text) > 1 and text[0] == opening and text[-1] == closing:
            inner = text[1:-1].strip()
            return "" if opening == "<" and inner == "text" else inner
    return text
