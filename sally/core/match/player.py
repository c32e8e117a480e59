"""Who sits in a seat: a function from what it is told to what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from sally.core.errors import unknown
from sally.core.log.events import Call, Looked, Told
from sally.core.match.seat_context import SeatContext
from sally.core.rules.chance import Stream
from sally.core.rules.game import A, Seat, V
from sally.core.rules.menu import Options
from sally.core.rules.probe import Foreseen, Question, Report

AskId = tuple[int, str, str, str]  # turn, seat, probe, about; a move has no probe
A_co = TypeVar("A_co", covariant=True)


class Turn(msgspec.Struct, Generic[A, V], gc=False):
    """All that a player is told when it must act or answer. Nothing here is another's secret."""

    id: AskId  # what the answer must name
    context: SeatContext
    view: V
    options: Options[A]
    memory: Any = None  # what the player itself chose to keep from its last turn
    told: tuple[Told, ...] = ()
    question: Question | None = None  # None: a move is wanted
    pending: A | None = None  # one's own move, when asked between it and the reveal
    looked: list[Looked] = []  # msgspec copies an empty default for each turn

    @property
    def seat(self) -> Seat:
        return self.context.seat

    @property
    def number(self) -> int:
        """The turn of the match, from 0."""
        return self.id[0]

    @property
    def draws(self) -> Stream:
        """Chance of one's own, fixed by seed, seat, turn and purpose."""
        number, seat, probe, about = self.id
        purpose = f"report {probe} {about}" if probe else "move"
        return Stream(self.context.seed, seat, number, purpose)

    def use(self, tool: str, given: Mapping[str, Any]) -> Any:
        """Look something up; what was asked and found is logged with the decision."""
        tools = {t.name: t for t in self.context.spec.tools}
        if tool not in tools:
            raise unknown("tool", tool, tools)
        found = tools[tool].run(self.view, given)
        self.looked.append(Looked(tool, dict(given), found))
        return found


class Decision(
    msgspec.Struct,
    Generic[A],
    frozen=True,
    omit_defaults=True,
    tag_field="what",
    tag="move",
    gc=False,
):
    """A move, and what led to it."""

    action: A
    memory: Any = None
    reply: str = ""  # the raw words, when there were any
    tries: int = 1
    calls: tuple[Call, ...] = ()
    foreseen: tuple[Foreseen, ...] = ()  # predictions made on the way


class Forfeit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="forfeit"):
    """No legal action could be read from the player: an outcome of its own, not a bad score."""

    reason: str
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    memory: Any = None  # notes for the next turn; None: the player keeps those it had


class Fault(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="fault"):
    """The player could not be reached or broke down; nothing is said about how it plays."""

    cause: str
    detail: str = ""
    calls: tuple[Call, ...] = ()


class Silence(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="silence"):
    """A probe that this player cannot be asked, and why."""

    reason: str


Move = Decision[A] | Forfeit | Fault
Answer = Report | Fault | Silence
Given = Decision[Any] | Forfeit | Report | Fault | Silence
"""Whatever can be answered; a server keeps it as it stands, the log as an event of its seat."""


def put(turn: Turn[Any, Any], player: Player[Any, Any]) -> Any:
    """Put an ask to a player: what it answers, now or awaited."""
    if turn.question is None:
        return player.decide(turn)
    report = getattr(player, "report", None)
    return CANNOT_ANSWER if report is None else report(turn)


CANNOT_ANSWER = Silence("this player takes no questions")

Source = Callable[[Turn[Any, Any]], Any]
"""Answers the asks of a seat: with an answer, a bare move, an awaitable, or `WAIT`."""
WAIT: Any = object()  # no answer yet: the ask stays open
Ask = tuple[Seat, Source, SeatContext, Options[Any], Turn[Any, Any] | None]
"""An ask about to be put; a plain move has no `Turn` until then, so that its ask can be reused."""


def wait(turn: Turn[Any, Any]) -> Any:
    """The source of answers for a seat that has none: its asks stay open."""
    return WAIT


class Player(Protocol[A, V]):
    """Holds settings, no state: one player may sit in a thousand episodes at once."""

    def decide(self, turn: Turn[A, V]) -> Move[A] | Awaitable[Move[A]]: ...


@dataclass(frozen=True)
class PlayerKind:
    """A kind of player on the shelf that fits more than one game."""

    name: str
    about: str
    make: Callable[..., Player[Any, Any]]  # (spec, game, seat, **params) -> player
    params: Mapping[str, Any] = field(default_factory=dict)  # names and defaults
    version: int = 1
