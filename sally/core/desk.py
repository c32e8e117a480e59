"""One seat's desk in one match: its seed, its words, and the page that grows on it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sally.core.game import Game, GameSpec, Seat
from sally.core.log import Told
from sally.core.model import Grown
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
        self.spec, self._game, self.seat, self.seed = spec, game, seat, seed
        self.retries = retries  # how often an unreadable answer may be given again
        self._texts = texts or {}
        self._growths: dict[tuple[str, str], _Growth] = {}
        self._marks: list[tuple[Any, Told]] = []

    @cached_property
    def words(self) -> Words[Any, Any]:
        words = self.spec.words(self._game, {**self.spec.texts, **self._texts})
        words.seat = self.seat
        return words

    def keep(self, view: Any, told: Told) -> None:
        """Put what was told into this seat's past, behind what `view` shows."""
        self._marks.append((view, told))

    def opening(self, view: Any, form: str, after_rules: str = "") -> Grown:
        """Rules, worked examples if any, and the past as this form tells it."""
        growth = self._growths.get((form, after_rules))
        if growth is None:
            rules = "\n\n".join(part for part in (self.words.rules(self.seat), after_rules) if part)
            growth = self._growths[form, after_rules] = _Growth(Grown.start(f"{rules}\n\n"))
        for seen, told in self._marks[growth.marks :]:
            self._grow(growth, seen, form)
            growth.text = growth.text.plus(f"{self.words.told(told)}\n")
            growth.marks += 1
        self._grow(growth, view, form)
        return growth.text

    def _grow(self, growth: _Growth, view: Any, form: str) -> None:
        new = list(self.words.lines(view, growth.lines, form))
        if new:
            growth.text = growth.text.plus("\n".join(new) + "\n")
            growth.lines += len(new)
