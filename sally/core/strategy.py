"""A way of prompting: it sees a turn in words and nothing else, so it fits every game."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from sally.core.chance import derived_seed
from sally.core.log import Told
from sally.core.menu import is_finite
from sally.core.model import Context, Grown, Message, Reply, Scores, User
from sally.core.player import Turn
from sally.core.probe import Foreseen, Question


class Sheet:
    """A turn in words. The opening only ever grows; the tail is said anew each time."""

    def __init__(self, turn: Turn[Any, Any], retry: str = "") -> None:
        self._turn, self._words, self._retry = turn, turn.desk.words, retry

    @property
    def asked(self) -> Question | None:
        """The probe, or None when a move is wanted."""
        return self._turn.question

    @property
    def seed(self) -> int:
        """Chance of this turn's own, for strategies that sample from scores."""
        return derived_seed(self._turn.desk.seed, *self._turn.id)

    @property
    def memory(self) -> Any:
        """The player's own notes from its last turn."""
        return self._turn.memory

    @property
    def told(self) -> tuple[Told, ...]:
        """What the player has been told of another's mind."""
        return self._turn.told

    @property
    def told_text(self) -> str:
        """The same, in words."""
        return "\n".join(self._words.told(told) for told in self._turn.told)

    @property
    def now(self) -> str:
        """Where we are."""
        return self._words.now(self._turn.view)

    @property
    def question(self) -> str:
        """What is wanted: the move, or the answer to the probe."""
        turn = self._turn
        if turn.question is None:
            return self._words.question(turn.view, turn.options)
        return self._words.aside(turn.question, turn.view, turn.pending)

    @property
    def format(self) -> str:
        """How to answer, and after a failed try what was wrong with the last one."""
        turn = self._turn
        if turn.question is None:
            wanted = self._words.format(turn.view, turn.options)
        else:
            wanted = self._words.aside_format(turn.question)
        return f"{self._retry}\n{wanted}" if self._retry else wanted

    @property
    def label(self) -> str:
        """What stands before a chosen name in the answer."""
        return self._words.label

    @property
    def names(self) -> tuple[str, ...]:
        """What may be answered, by name; empty when there is no finite menu."""
        turn = self._turn
        if turn.question is not None:
            return tuple(self._words.choice_name(turn.question, c) for c in turn.question.choices)
        return self._words.menu(turn.options) if is_finite(turn.options) else ()

    @property
    def stem(self) -> str:
        """The beginning of a sentence that a name completes."""
        turn = self._turn
        if turn.question is None:
            return self._words.stem(turn.view, turn.options)
        return self._words.aside_stem(turn.question, turn.view, turn.pending)

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways in which this game tells its past; the first is the usual one."""
        return self._words.forms

    @property
    def mine_is_stated(self) -> bool:
        """Whether the probe stands behind one's own move."""
        return self._turn.pending is not None

    def opening(self, form: str = "", after_rules: str = "") -> Grown:
        """Rules, worked examples if any, and the past."""
        turn = self._turn
        return turn.desk.opening(turn.view, form or self.forms[0], after_rules)

    def page(self, *notes: str, format: str | None = None, after_rules: str = "") -> Grown:
        """The whole page: opening, notes, what was told, where we are, question, format."""
        wanted = self.format if format is None else format
        tail = (*notes, self.told_text, self.now, self.question, wanted)
        return self.opening(after_rules=after_rules).plus("\n".join(part for part in tail if part))

    def user(self, *notes: str, format: str | None = None, after_rules: str = "") -> list[Message]:
        """The page as the one message of a conversation."""
        return [User(self.page(*notes, format=format, after_rules=after_rules))]


class Said(msgspec.Struct, frozen=True):
    """What a strategy came to."""

    text: str  # read by the game's words, unless a place was chosen
    place: int | None = None  # on the menu, when chosen by score
    odds: tuple[float, ...] | None = None  # over the menu, when scored
    memory: Any = None  # notes for the next turn
    foreseen: tuple[Foreseen, ...] = ()


class Speaker(Protocol):
    """A model with its calls counted and logged."""

    async def say(self, purpose: str, messages: Sequence[Message], **settings: Any) -> Reply: ...

    async def score(self, purpose: str, context: Context, candidates: Sequence[str]) -> Scores: ...


Run = Callable[[Sheet, Speaker], Awaitable[Said]]


@dataclass(frozen=True)
class Strategy:
    """One way of prompting on the shelf: how it acts, and how it answers a probe."""

    name: str
    about: str
    source: str
    make: Callable[..., tuple[Run, Run]]  # (**params) -> (act, answer a probe)
    calls: str  # calls per decision, in words, for the docs
    needs: frozenset[str] = frozenset()  # of: finite, scoring, told, probe
    params: Mapping[str, Any] = field(default_factory=dict)  # names and defaults
    version: int = 1
