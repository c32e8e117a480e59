"""The episodes of a store that are a paper's: found by the index, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from sally import store
from sally.analysis.laid_open import laid_open
from sally.analysis.published import Condition
from sally.analysis.rows import played
from sally.analysis.stored import Conditions
from sally.core.code import fingerprint
from sally.core.log import Episode
from sally.core.metric import Played
from sally.core.replay import Replay
from sally.store.index import Columns, Line

HELD = 20_000  # episodes that stay laid open in memory; those beyond are read again each time
Facts = Callable[[Played], Conditions | None]
_DECODER = msgspec.msgpack.Decoder(dict[str, dict[str, Condition]])


class FactsColumn:
    """By episode what it is for a paper, line by line; those that are not the paper's are left."""

    def __init__(self, name: str, facts: Facts) -> None:
        self._name, self._facts = name, facts
        self._found: dict[str, dict[str, Condition]] = {}

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Take an episode if it is the paper's."""
        if isinstance(found, Episode) and whole is not None:
            facts = self._facts(whole)
            if facts is not None:
                self._found[found.id] = dict(facts)

    def columns(self) -> Columns:
        """What was found, as the index keeps it."""
        return {self._name: msgspec.msgpack.encode(self._found)}


class Reread(Played):
    """An episode that is laid open anew whenever it is looked at."""

    _again: Callable[[], Played]

    def __init__(self, again: Callable[[], Played]) -> None:
        object.__setattr__(self, "spec", again().spec)
        object.__setattr__(self, "_again", again)

    @property
    def episode(self) -> Episode:
        return self._again().episode

    @property
    def replay(self) -> Replay[Any, Any, Any]:
        return self._again().replay

    @property
    def known(self) -> dict[Any, Any]:
        return self._again().known


class PaperStore:
    """A local store beside a paper: what its episodes are, and the episodes on demand."""

    def __init__(self, where: store.Where, paper: str, facts: Facts) -> None:
        self._there = store.Standing(where)
        self._laid = lru_cache(maxsize=256)(self._lay_open)
        name = f"facts {paper}"

        def work(lines: Sequence[Line], names: Sequence[str]) -> Columns:
            return laid_open(lines, [FactsColumn(name, facts)])

        self._facts: dict[str, dict[str, Condition]] = {}
        for _, found in store.columns(where, [name], fingerprint(), work):
            self._facts |= _DECODER.decode(found[name])

    def __len__(self) -> int:
        """How many episodes the store holds, the paper's or not."""
        return len(self._there)

    def known(self) -> Iterator[tuple[dict[str, Condition], Played]]:
        """The paper's episodes in the order of the store, with what they are."""
        held = 0
        for number, id in enumerate(self._there.ids):
            if (facts := self._facts.get(id)) is not None:
                held += 1
                yield facts, self._lay_open(number) if held <= HELD else self._reread(number)

    def _lay_open(self, number: int) -> Played:
        return played(self._there.episode(number))

    def _reread(self, number: int) -> Reread:
        return Reread(lambda: self._laid(number))
