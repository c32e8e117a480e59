"""The context of one seat in one match: its seed, its words and its growing prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sally.core.log.events import Told
from sally.core.prompt.hashed_text import HashedText
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.words import Words

MOST_KEPT = 4096  # replies with the moves that they name
SHORT = 80  # characters; moves read from shorter replies are cached


class Past:
    """A cursor that returns each line of a seat's history once, in one of the game's history
    formats."""

    __slots__ = ("_context", "_form", "_lines", "_marks", "begun")

    def __init__(self, context: SeatContext, form: str = "") -> None:
        self._context, self._form = context, form or context.words.forms[0]
        self._lines, self._marks = 0, 0
        self.begun = False  # whether anything was read; the rules come first

    def news(self, view: Any) -> list[str]:
        """Return the history lines up to a view that this cursor has not returned yet, including
        information that was injected into the history."""
        context, self.begun = self._context, True
        injected_lines = self._injected_lines() if len(context._marks) > self._marks else None
        new = list(context.words.lines(view, self._lines, self._form))
        self._lines += len(new)
        return new if injected_lines is None else injected_lines + new

    def _injected_lines(self) -> list[str]:
        """Return the pieces of injected information that this cursor has not returned yet, each
        preceded by the history lines before it."""
        words, new = self._context.words, list[str]()
        for view, injected in self._context.injected_history[self._marks :]:
            lines = list(words.lines(view, self._lines, self._form))
            self._lines += len(lines)
            new += [*lines, words.state_in_history(injected, view)]
            self._marks += 1
        return new


class SeatContext:
    """Data shared by the players of one seat in a match; nothing in it is hidden from the seat."""

    def __init__(
        self,
        spec: GameSpec,
        game: Game,
        seat: Seat,
        seed: int,
        texts: Mapping[str, str] | None = None,
        retries: int = 0,
        like: SeatContext
        | None = None,  # of the same seat, instance and texts: its words are reused
    ) -> None:
        self.spec, self.game, self.seat, self.seed = spec, game, seat, seed
        first = None if like is None else (like._like or like)  # never a chain of contexts
        self._like: SeatContext | None = first
        self.retries = retries  # further tries after an unreadable answer
        self._texts = texts or {}
        self._openings: dict[tuple[str, str, bool], tuple[HashedText, Past]] = {}
        self._pasts: dict[str, tuple[Past, list[str]]] = {}
        self._marks: list[tuple[Any, Told]] = []
        self._reworded: dict[str, SeatContext] = {}
        self._rules: dict[tuple[str, bool], HashedText] = {} if like is None else like._rules
        self._read: dict[str, Any] = {} if like is None else like._read

    @cached_property
    def words(self) -> Words:
        if self._like is not None:
            return self._like.words
        words = self.spec.words(self.game, {**self.spec.texts, **self._texts})
        words.seat = self.seat
        return words

    @cached_property
    def _reads_alike(self) -> bool:
        """Whether a move is read from the reply alone, so that equal replies always mean the same
        move."""
        return self.game.same_menus and type(self.words).read is Words.read

    def read(self, reply: str, view: Any, options: Any) -> Any:
        """Return the move that a reply names; short replies are cached."""
        if (cached_move := self._read.get(reply)) is not None:
            return cached_move
        action = self.words.read(reply, view, options)
        if self._reads_alike and len(reply) <= SHORT and len(self._read) < MOST_KEPT:
            self._read[reply] = action
        return action

    @cached_property
    def reader(self) -> Past:
        """The position up to which the seat's history was read, for displays that show only new
        lines."""
        return Past(self)

    def with_seed(self, seed: int) -> SeatContext:
        """Return a fresh context of this seat for a match with another seed."""
        return SeatContext(self.spec, self.game, self.seat, seed, self._texts, self.retries, self)

    def beside(self, seat: Seat) -> SeatContext:
        """Return the context of a seat of the same match, in the texts of this one."""
        if seat == self.seat:
            return self
        return SeatContext(self.spec, self.game, seat, self.seed, self._texts, self.retries)

    def copy(self) -> SeatContext:
        """Return the context of this seat for a copy of the match; information that was injected
        into the seat's history is copied too."""
        twin = self.with_seed(self.seed)
        twin._marks = list(self._marks)
        return twin

    def in_words(self, pack: str, texts: Mapping[str, str]) -> SeatContext:
        """Return this context with texts that replace the game's own; `pack` is the key of the file
        (words pack) from which they come."""
        if not texts:
            return self
        if pack not in self._reworded:
            worded = {**self._texts, **texts}
            like = None if self._like is None else self._like.in_words(pack, texts)
            context = SeatContext(
                self.spec, self.game, self.seat, self.seed, worded, self.retries, like
            )
            context._marks = self._marks  # shared: what is kept in one is kept in both
            self._reworded[pack] = context
        return self._reworded[pack]

    def keep(self, view: Any, injected: Told) -> None:
        """Add injected information to this seat's history, after what `view` shows."""
        self._marks.append((view, injected))

    @property
    def injected_history(self) -> Sequence[tuple[Any, Told]]:
        """The injected information kept in the history, each item with the view it follows."""
        return self._marks

    def opening(
        self, view: Any, form: str, after_rules: str = "", payoffs: bool = True
    ) -> HashedText:
        """Return the rules, any worked examples, and the history in the format `form`."""
        key = (form, after_rules, payoffs)
        cached_opening = self._openings.get(key)
        page, past = cached_opening or (self.rules(after_rules, payoffs), Past(self, form))
        new = past.news(view)
        if new:
            page = page.plus("\n".join(new) + "\n")
        if new or cached_opening is None:
            self._openings[key] = page, past
        return page

    def past(self, view: Any, form: str = "") -> list[str]:
        """Return the history line by line, including information that was injected into it."""
        if form not in self._pasts:
            self._pasts[form] = Past(self, form), []
        past, lines = self._pasts[form]
        lines += past.news(view)
        return list(lines)

    def tell_injected(self, injections: Sequence[Told]) -> list[str]:
        """Return, in words, the newly injected information that is not kept in the history."""
        history_injections = (
            [injected for _, injected in self._marks[-len(injections) :]] if injections else []
        )
        return [
            self.words.state_injected(injected)
            for injected in injections
            if injected not in history_injections
        ]

    def rules(self, after_rules: str = "", payoffs: bool = True) -> HashedText:
        """Return the text before the history: rules, with or without payoffs, and examples."""
        if (cached_rules := self._rules.get((after_rules, payoffs))) is not None:
            return cached_rules
        words, seat = self.words, self.seat
        rules = words.rules(seat) if payoffs else words.rules_without_payoffs(seat)
        if rules is None:
            raise LookupError(f"{self.spec.name} has no version of the rules without payoffs")
        parts = (words.texts["frame"], rules, after_rules)
        rules_text = HashedText.start("\n\n".join(part for part in parts if part) + "\n\n")
        self._rules[after_rules, payoffs] = rules_text
        return rules_text
