"""One seat's desk in one match: its seed, its words, and the page that grows on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sally.core.game import Game, GameSpec, Seat
from sally.core.grown import Grown
from sally.core.log import Told
from sally.core.words import Words


class _Growth:
    """A page as far as it has been written: its text and how many lines of the past it has."""

    __slots__ = ("lines", "marks", "text")

    def __init__(self, text: Grown) -> None:
        self.text, self.lines, self.marks = text, 0, 0


class Desk:
    """Belongs to one seat and knows nothing that this seat does not know."""

    def __init__(
        self,
        spec: GameSpec[Any, Any, Any],
        game: Game[Any, Any, Any],
        seat: Seat,
        seed: int,
        texts: Mapping[str, str] | None = None,
        retries: int = 0,
    ) -> None:
        self.spec, self.game, self.seat, self.seed = spec, game, seat, seed
        self.retries = retries  # how often an unreadable answer may be given again
        self._texts = texts or {}
        self._growths: dict[tuple[str, str, bool], _Growth] = {}
        self._marks: list[tuple[Any, Told]] = []
        self._reworded: dict[str, Desk] = {}

    @cached_property
    def words(self) -> Words[Any, Any]:
        words = self.spec.words(self.game, {**self.spec.texts, **self._texts})
        words.seat = self.seat
        return words

    def in_words(self, pack: str, texts: Mapping[str, str]) -> Desk:
        """The same desk under a words pack's sentences; `pack` tells packs apart."""
        if not texts:
            return self
        if pack not in self._reworded:
            worded = {**self._texts, **texts}
            desk = Desk(self.spec, self.game, self.seat, self.seed, worded, self.retries)
            desk._marks = self._marks  # what is kept on one is kept on both
            self._reworded[pack] = desk
        return self._reworded[pack]

    def keep(self, view: Any, told: Told) -> None:
        """Put what was told into this seat's past, behind what `view` shows."""
        self._marks.append((view, told))

    @property
    def kept(self) -> Sequence[tuple[Any, Told]]:
        """What was told and kept, each with the view behind which it stands."""
        return self._marks

    def opening(self, view: Any, form: str, after_rules: str = "", payoffs: bool = True) -> Grown:
        """Rules, worked examples if any, and the past as this form tells it."""
        key = (form, after_rules, payoffs)
        growth = self._growths.get(key)
        if growth is None:
            growth = self._growths[key] = _Growth(self.rules(after_rules, payoffs))
        for seen, told in self._marks[growth.marks :]:
            self._grow(growth, seen, form)
            growth.text = growth.text.plus(f"{self.words.kept(told, seen)}\n")
            growth.marks += 1
        self._grow(growth, view, form)
        return growth.text

    def past(self, view: Any, form: str) -> list[str]:
        """The past line by line, each thing that was told and kept in its place."""
        lines: list[str] = []
        shown = 0
        for seen, told in self._marks:
            new = list(self.words.lines(seen, shown, form))
            shown += len(new)
            lines += [*new, self.words.kept(told, seen)]
        return [*lines, *self.words.lines(view, shown, form)]

    def rules(self, after_rules: str = "", payoffs: bool = True) -> Grown:
        """What stands above the past: the rules, with or without payoffs, and worked examples."""
        words, seat = self.words, self.seat
        rules = words.rules(seat) if payoffs else words.rules_without_payoffs(seat)
        if rules is None:
            raise LookupError(f"the words of {self.spec.name} cannot leave the payoffs out")
        return Grown.start("\n\n".join(part for part in (rules, after_rules) if part) + "\n\n")

    def _grow(self, growth: _Growth, view: Any, form: str) -> None:
        new = list(self.words.lines(view, growth.lines, form))
        if new:
            growth.text = growth.text.plus("\n".join(new) + "\n")
            growth.lines += len(new)
