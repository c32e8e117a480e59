"""One seat's desk in one match: its seed, its words, and the page that grows on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sally.core.log.events import Told
from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.words import Words
from sally.core.reply.reading import SHORT
from sally.core.rules.game import Game, GameSpec, Seat

MOST_KEPT = 4096  # replies with the moves that they name


class Past:
    """How far somebody has read a seat's past in one form: every line is given out once."""

    __slots__ = ("_desk", "_form", "_lines", "_marks", "begun")

    def __init__(self, context: SeatContext, form: str = "") -> None:
        self._desk, self._form = context, form or context.words.forms[0]
        self._lines, self._marks = 0, 0
        self.begun = False  # whether anything was read at all; the rules come before

    def news(self, view: Any) -> list[str]:
        """The lines up to what a view shows that were not read yet, what was kept among them."""
        context, self.begun = self._desk, True
        kept = self._kept() if len(context._marks) > self._marks else None
        new = list(context.words.lines(view, self._lines, self._form))
        self._lines += len(new)
        return new if kept is None else kept + new

    def _kept(self) -> list[str]:
        """What was told since and kept, each behind the lines that it stands behind."""
        words, new = self._desk.words, list[str]()
        for seen, told in self._desk.kept[self._marks :]:
            lines = list(words.lines(seen, self._lines, self._form))
            self._lines += len(lines)
            new += [*lines, words.kept(told, seen)]
            self._marks += 1
        return new


class SeatContext:
    """Belongs to one seat and knows nothing that this seat does not know."""

    def __init__(
        self,
        spec: GameSpec[Any, Any, Any],
        game: Game[Any, Any, Any],
        seat: Seat,
        seed: int,
        texts: Mapping[str, str] | None = None,
        retries: int = 0,
        like: SeatContext
        | None = None,  # of the same seat, problem and texts: its words serve here, too
    ) -> None:
        self.spec, self.game, self.seat, self.seed = spec, game, seat, seed
        first = None if like is None else (like._like or like)  # never a chain of desks
        self._like: SeatContext | None = first
        self.retries = retries  # how often an unreadable answer may be given again
        self._texts = texts or {}
        self._openings: dict[tuple[str, str, bool], tuple[HashedText, Past]] = {}
        self._pasts: dict[str, tuple[Past, list[str]]] = {}
        self._marks: list[tuple[Any, Told]] = []
        self._reworded: dict[str, SeatContext] = {}
        self._rules: dict[tuple[str, bool], HashedText] = {} if like is None else like._rules
        self._read: dict[str, Any] = {} if like is None else like._read

    @cached_property
    def words(self) -> Words[Any, Any]:
        if self._like is not None:
            return self._like.words
        words = self.spec.words(self.game, {**self.spec.texts, **self._texts})
        words.seat = self.seat
        return words

    @cached_property
    def _reads_alike(self) -> bool:
        """Whether nothing but a reply decides which move it names."""
        return self.game.same_menus and type(self.words).read is Words.read

    def read(self, reply: str, view: Any, options: Any) -> Any:
        """The move that a reply names, as the words read it; a short one is read once."""
        if (known := self._read.get(reply)) is not None:
            return known
        action = self.words.read(reply, view, options)
        if self._reads_alike and len(reply) <= SHORT and len(self._read) < MOST_KEPT:
            self._read[reply] = action
        return action

    @cached_property
    def reader(self) -> Past:
        """How far whoever sits here has read, where lines are shown as they come."""
        return Past(self)

    def again(self, seed: int) -> SeatContext:
        """The same desk at a match with another seed, of which nothing was read or told."""
        new: SeatContext = SeatContext.__new__(SeatContext)
        kept = {**self.__dict__, "seed": seed, "_like": self._like or self}
        kept |= {"_openings": {}, "_pasts": {}, "_marks": [], "_reworded": {}}
        kept.pop("reader", None)
        new.__dict__ = kept
        return new

    def copied(self) -> SeatContext:
        """The same desk at a copy of the match, with all that was told and kept."""
        twin = self.again(self.seed)
        twin._marks = list(self._marks)
        return twin

    def in_words(self, pack: str, texts: Mapping[str, str]) -> SeatContext:
        """The same desk under a words pack's sentences; `pack` tells packs apart."""
        if not texts:
            return self
        if pack not in self._reworded:
            worded = {**self._texts, **texts}
            like = None if self._like is None else self._like.in_words(pack, texts)
            context = SeatContext(
                self.spec, self.game, self.seat, self.seed, worded, self.retries, like
            )
            context._marks = self._marks  # what is kept on one is kept on both
            self._reworded[pack] = context
        return self._reworded[pack]

    def keep(self, view: Any, told: Told) -> None:
        """Put what was told into this seat's past, behind what `view` shows."""
        self._marks.append((view, told))

    @property
    def kept(self) -> Sequence[tuple[Any, Told]]:
        """What was told and kept, each with the view behind which it stands."""
        return self._marks

    def opening(
        self, view: Any, form: str, after_rules: str = "", payoffs: bool = True
    ) -> HashedText:
        """Rules, worked examples if any, and the past as this form tells it."""
        key = (form, after_rules, payoffs)
        known = self._openings.get(key)
        page, past = known or (self.rules(after_rules, payoffs), Past(self, form))
        new = past.news(view)
        if new:
            page = page.plus("\n".join(new) + "\n")
        if new or known is None:
            self._openings[key] = page, past
        return page

    def past(self, view: Any, form: str = "") -> list[str]:
        """The past line by line, each thing that was told and kept in its place.

        As with `opening`, views only ever grow: each line is put into words once.
        """
        if form not in self._pasts:
            self._pasts[form] = Past(self, form), []
        past, lines = self._pasts[form]
        lines += past.news(view)
        return list(lines)

    def heard(self, told: Sequence[Told]) -> list[str]:
        """What a seat is told just now, in words; what is kept stands in its past instead."""
        kept = [each for _, each in self._marks[-len(told) :]] if told else []
        return [self.words.told(each) for each in told if each not in kept]

    def rules(self, after_rules: str = "", payoffs: bool = True) -> HashedText:
        """What stands above the past: the rules, with or without payoffs, and worked examples."""
        if (known := self._rules.get((after_rules, payoffs))) is not None:
            return known
        words, seat = self.words, self.seat
        rules = words.rules(seat) if payoffs else words.rules_without_payoffs(seat)
        if rules is None:
            raise LookupError(f"the words of {self.spec.name} cannot leave the payoffs out")
        parts = (words.texts["frame"], rules, after_rules)
        said = HashedText.start("\n\n".join(part for part in parts if part) + "\n\n")
        self._rules[after_rules, payoffs] = said
        return said
