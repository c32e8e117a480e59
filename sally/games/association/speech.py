"""One-word clues, guesses, questions and their texts, the same in every word game."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from sally.core.errors import IllegalMove, Unreadable, join_names
from sally.core.log.events import Told
from sally.core.reply.plain_text import after_label, plain
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, admit
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.core.rules.words import Words, read_form


def read_word(reply: str, options: Options[Any], label: str, teach: str) -> Any:
    """Return the action whose word a reply gives after `label` or as JSON.

    The first option must be the form for an action with a word.
    """
    if "{" in reply:
        return read_form(reply, options)
    stated = after_label(reply, label)
    if stated is None:
        raise Unreadable(teach)
    if _BLANK.fullmatch(stated) or plain(stated).endswith("?"):
        raise Unreadable(teach)
    form: Any = options[0]
    try:
        return admit(options, form.make(unquote(stated)))
    except (IllegalMove, ValueError):
        raise Unreadable(teach) from None


_BLANK = re.compile(r"(?i)\W*[<\[](?:your |one |the )?(?:word|clue|hint|guess)[>\]]\W*")  # as asked


def unquote(text: str) -> str:
    """Return a text without surrounding quotes, markup or final full stop."""
    return re.sub(r"^[\s\"'“‘*_`\[<]+|[\s\"'”’*_`\]>.]+$", "", text)


def one_line(text: str) -> str:
    """Return a text on one line, so that it cannot imitate another line of the prompt."""
    return " ".join(text.split()).replace('"', "'")


def number_question(probe: str, about: str = "") -> Question:
    """Return a question whose answer is a whole number from 0 to 100."""
    return Question(probe, "choice", tuple(range(101)), about=about, numeric=True)


# --- texts ----------------------------------------------------------------------------------------

V = TypeVar("V")


class WordGameWords(Words[Any, V], ABC):
    """Texts of a word game whose actions hold a word and whose views name their seat."""

    label: ClassVar[str] = "Answer"

    @abstractmethod
    def history(self, view: V) -> Iterator[str]:
        """Yield one line for each event that the seat has seen."""

    def lines(self, view: V, since: int, form: str) -> Iterator[str]:
        yield from list(self.history(view))[since:]

    def question(self, view: Any, options: Options[Any]) -> str:
        return self.say(f"question.{view.seat}")

    def name(self, action: Any) -> str:
        return str(getattr(action, "word", action))

    def answer(self, probe: str, value: Any) -> Any:
        """Return an answer to a probe in the words of the game."""
        return value

    def choice_name(self, question: Question, choice: int | str) -> str:
        return str(self.answer(question.probe, choice))

    def aside(self, question: Question, view: Any, pending: Any = None) -> str:
        key = f"aside.{question.probe}"
        if question.about:
            return self.say(f"{key}.{view.seat}", **_words_asked(question.about))
        if pending is None:
            return self.say(f"{key}.open" if f"{key}.open" in self.texts else key)
        clue_text = one_line(self.name(pending))
        return self.say(key, clue=clue_text, hint=clue_text)

    def told(self, injected: Told, question: Question | None = None) -> str:
        value = self.answer(injected.probe, injected.value)
        fact = self.say(f"fact.{injected.probe}", value=value, **_words_asked(injected.about))
        return self.say(f"told.{injected.source}", fact=fact)


def _words_asked(about: str) -> dict[str, str]:
    return {"word": about, "pair": join_names([f"'{word}'" for word in about.split()], "and")}


# --- questions -----------------------------------------------------------------------------------

Past = Trajectory
NO_SPLIT = (
    "the player was not asked what other words would lead to, so the best reply to its prediction "
    "is not known"
)


def own_answer(probe: str, of: Seat) -> Callable[[Past, At], int | None]:
    """Return a function that finds a probe's true value: the answer of the seat `of` to the same
    question."""

    def truth(replay: Past, place: At) -> int | None:
        if place.seat == of:
            return None
        report = replay.report(place.turn, of, probe, place.about)
        return report.value if report is not None and isinstance(report.value, int) else None

    return truth


def closeness_probe(
    giver: Seat, guesser: Seat, round_of: Callable[[Any, Any], int | None]
) -> Probe:
    """Return the probe that asks how close two words are for the guesser, from 0 to 100.

    `round_of` returns, for a game and a view, the number of the round that begins; None if the
    question is not due.
    """

    def ask(game: Any, view: Any, seat: Seat) -> tuple[Question, ...]:
        number = round_of(game, view)
        if number is None:
            return ()
        from sally.games.association.minds import (
            asked_pair,  # slow to import, and not needed to list or play the game
        )

        return (number_question("closeness", asked_pair(game.set, game.number, number)),)

    return Probe(
        "closeness",
        "how close two words are for the guesser; judged by its own answer",
        "start",
        "choice",
        (giver, guesser),
        ask,
        own_answer("closeness", guesser),
    )
