"""Codenames in language: one line for each board, clue and card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sally.core.errors import IllegalMove, Unreadable
from sally.core.reply.plain_text import after_label
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, admit
from sally.core.rules.words import read_form, read_texts
from sally.games.association.lexicon import clue_problem
from sally.games.association.speech import WordGameWords, one_line, unquote
from sally.games.codenames.rules import (
    GIVER,
    Clue,
    Codenames,
    Event,
    GivenClue,
    Over,
    Passed,
    Stop,
    Turned,
    View,
)

TEXTS: Mapping[str, str] = read_texts(__package__)
COLOURS = ("own", "other", "neutral", "assassin")


class CodenamesWords(WordGameWords["View"]):
    """Texts of Codenames: both seats read the same lines; only the giver sees the key."""

    def __init__(self, game: Codenames, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._boards, self._bonus = game.boards, f"{game.bonus:g}"

    def rules(self, seat: Seat) -> str:
        role = self.say(f"role.{seat}")
        return self.say("rules", role=role, boards=self._boards, bonus=self._bonus)

    @property
    def phrases(self) -> Mapping[str, str]:
        return {"bonus": self._bonus}

    def history(self, view: View) -> Iterator[str]:
        board = 0
        yield from self._laid_out(view, board)
        for number, event in enumerate(view.log):
            yield from self._refusals(view, number)
            yield self._event(event)
            if isinstance(event, Over) and (board := board + 1) < len(view.boards):
                yield from self._laid_out(view, board)
        yield from self._refusals(view, len(view.log))

    def _laid_out(self, view: View, board: int) -> Iterator[str]:
        yield self.say("board", board=board + 1, words=", ".join(self.listing(view.boards[board])))
        if view.seat == GIVER:
            yield self.say("key", **self._by_colour(view.boards[board], view.keys[board]))

    def _by_colour(self, words: tuple[str, ...], key: tuple[str, ...]) -> dict[str, str]:
        pairs = self.listing(zip(words, key, strict=True))
        return {
            colour: ", ".join(w for w, c in pairs if c == colour) or self.say("nothing")
            for colour in COLOURS
        }

    def _refusals(self, view: View, log_length: int) -> Iterator[str]:
        for refusal in view.refused:
            if refusal.after == log_length:
                yield self.say("refused", word=one_line(refusal.word), why=refusal.why)

    def _event(self, event: Event) -> str:
        if isinstance(event, GivenClue):
            return self.say("said", word=one_line(event.word), number=event.number)
        if isinstance(event, Turned):
            if event.rival:
                return self.say("turned.rival", word=event.word)
            return self.say("turned", word=event.word, colour=self.say(f"colour.{event.colour}"))
        if isinstance(event, Passed):
            return self.say(f"passed.{event.forfeited}" if event.forfeited else "passed")
        return self.say(f"over.{event.how}", paid=f"{event.paid:g}")

    def now(self, view: View) -> str:
        if view.over:
            return ""
        covered = view.covered_words
        if view.seat != GIVER:
            return self.say("now", board=len(view.boards), covered=", ".join(self.listing(covered)))
        key = tuple(view.colours[word] for word in covered)
        return self.say("now.giver", board=len(view.boards), **self._by_colour(covered, key))

    def format(self, view: View, options: Options[Any]) -> str:
        if view.seat == GIVER:
            return self.say("format.giver", most=view.keys[-1].count("own"))
        return super().format(view, options)

    def refusal(self, view: View, action: Any) -> str:
        if not isinstance(action, Clue):
            return ""
        return clue_problem(action.word, view.covered_words, self.game.any_word) or ""

    def name(self, action: Any) -> str:
        if isinstance(action, Stop):
            return self.say("stop")
        if isinstance(action, Clue):
            return f"{action.word}, {action.number}"
        return super().name(action)

    def read(self, reply: str, view: View, options: Options[Any]) -> Any:
        if view.seat != GIVER:
            return super().read(reply, view, options)
        if "{" in reply:
            return read_form(reply, options)
        stated = after_label(reply, "Clue")
        parts = re.fullmatch(r"(.*?)[\s,;:(\-]+(\d+)\)?", unquote(stated or ""))
        teach = self.format(view, options)
        if parts is None or " " in parts[1].strip():
            raise Unreadable(teach)
        try:
            return admit(options, Clue(unquote(parts[1]), int(parts[2])))
        except IllegalMove:
            raise Unreadable(teach) from None
