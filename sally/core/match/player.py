"""The player protocol: the asks that a player receives and the answers it may give."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

import msgspec

from sally.core.errors import unknown
from sally.core.log.events import Call, Told, ToolUse
from sally.core.match.seat_context import SeatContext
from sally.core.rules.chance import Stream
from sally.core.rules.game import A, Seat, V
from sally.core.rules.menu import Options, is_finite
from sally.core.rules.probe import ProbeReport, Question, StatedPrediction
from sally.core.rules.replay import AskId


class Turn(msgspec.Struct, Generic[A, V], gc=False):
    """An ask: everything a player receives when it must move or answer a probe.

    It holds nothing that the seat may not know.
    """

    id: AskId  # the answer must carry this id
    context: SeatContext
    view: V
    options: Options[A]
    memory: Any = None  # what the player kept from its last turn
    told: tuple[Told, ...] = ()
    question: Question | None = None  # None: the ask is for a move
    pending: A | None = None  # the player's own move, if asked between it and the reveal
    looked: tuple[ToolUse, ...] = ()  # what tools found for this ask

    @property
    def seat(self) -> Seat:
        return self.context.seat

    @property
    def number(self) -> int:
        """The turn of the match, from 0."""
        return self.id[0]

    @property
    def draws(self) -> Stream:
        """The random stream of this ask, fixed by seed, seat, turn and purpose."""
        number, seat, probe, about = self.id
        purpose = f"report {probe} {about}" if probe else "move"
        return Stream(self.context.seed, seat, number, purpose)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the options or, for a probe, of its possible answers; empty if a move is
        written freely."""
        words, question = self.context.words, self.question
        if question is not None:
            asker = words.of(question)
            return tuple(asker.choice_name(question, choice) for choice in question.choices)
        return words.menu(self.options) if is_finite(self.options) else ()

    def choose(self, name: str) -> Any:
        """Return the option or, for a probe, the answer with this name.

        Upper and lower case count as equal, and a name of one letter may be written out: if the
        options are R, P and S, "rock" chooses R.

        Raises:
            BadInput: If no option has this name.
        """
        names = [option_name.casefold() for option_name in self.names]
        folded_name = name.casefold()
        if folded_name not in names and names.count(folded_name[:1]) == 1:
            folded_name = folded_name[:1]
        if folded_name not in names:
            raise unknown(f"option of {self.seat}", name, self.names)
        place = names.index(folded_name)
        return (self.options if self.question is None else self.question.choices)[place]

    def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool of the game; the call and its result are logged with the decision."""
        tools = {t.name: t for t in self.context.spec.tools}
        if tool not in tools:
            raise unknown("tool", tool, tools)
        result = tools[tool].run(self.view, arguments)
        self.looked += (ToolUse(tool, dict(arguments), result),)
        return result


class Decision(
    msgspec.Struct,
    Generic[A],
    frozen=True,
    omit_defaults=True,
    tag_field="what",
    tag="move",
    gc=False,
):
    """A move with its background: memory, raw reply, model calls and predictions."""

    action: A
    memory: Any = None
    reply: str = ""  # the raw reply, if any
    tries: int = 1
    calls: tuple[Call, ...] = ()
    foreseen: tuple[StatedPrediction, ...] = ()  # predictions made inside the decision


class Forfeit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="forfeit"):
    """An answer without a legal action: a separate outcome, not a bad score."""

    reason: str
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    memory: Any = None  # notes for the next turn; None: the player keeps those it had


class Fault(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="fault"):
    """A failure of a player or its connection, which says nothing about the player's skill."""

    cause: str
    detail: str = ""
    calls: tuple[Call, ...] = ()


class NoAnswer(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="silence"):
    """The reason why this player cannot answer a probe."""

    reason: str


Move = Decision[A] | Forfeit | Fault
Answer = ProbeReport | Fault | NoAnswer
Given = Decision[Any] | Forfeit | ProbeReport | Fault | NoAnswer
"""Any answer; a server stores it unchanged, the log stores it as an event."""


def send_ask(turn: Turn, player: Player) -> Any:
    """Send an ask to a player and return its answer or an awaitable."""
    if turn.question is None:
        return player.decide(turn)
    report = getattr(player, "report", None)
    return CANNOT_ANSWER if report is None else report(turn)


CANNOT_ANSWER = NoAnswer("this player takes no questions")

Source = Callable[[Turn], Any]
"""Function that answers the asks of a seat: with an answer, a move, an awaitable, or `WAIT`."""
WAIT: Any = object()  # no answer yet: the ask stays open


def wait(turn: Turn) -> Any:
    """Leave an ask unanswered, so that an answer can be given later from outside the match."""
    return WAIT


class Player(Protocol[A, V]):
    """A player's settings, without state; one player may play many episodes at the same time."""

    def decide(self, turn: Turn[A, V]) -> Move[A] | Awaitable[Move[A]]: ...


@dataclass(frozen=True)
class PlayerKind:
    """A registered kind of player that fits more than one game."""

    name: str
    about: str
    make: Callable[..., Player]  # (spec, game, seat, **params) -> player
    params: Mapping[str, Any] = field(default_factory=dict)  # names and defaults
    version: int = 1
