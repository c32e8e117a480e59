"""Scripted partners: their behaviour, source and declared properties."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.match.player import Decision, NoAnswer, Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport

Q = TypeVar("Q", bound=Hashable)
Script = Callable[[Turn], Any]
Answerer = Callable[[Turn], ProbeReport | NoAnswer]


class Automaton(msgspec.Struct, Generic[Q], frozen=True):
    """A finite automaton that plays like the partner; optimal play against it can be computed."""

    start: Q
    odds: Callable[[Q], Mapping[int, float]]  # the move probabilities in a state
    after: Callable[[Q, int, int], Q]  # (state, its own move, the other's move) -> next state


@dataclass(frozen=True)
class Line:
    """A line of play: the partner's moves against a fixed sequence of moves."""

    against: str
    plays: str  # a question mark where the move is drawn
    game: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Partner:
    """A registered scripted partner."""

    name: str
    about: str
    source: str  # who described it first
    make: Callable[..., Script]  # (game, seat, **params) -> script
    automaton: Callable[..., Automaton[Any]] | None = None  # (game, seat, **params)
    memory: int | None = None  # number of past rounds it uses; None: all
    lines: tuple[Line, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)  # names and defaults
    answers: Callable[..., Answerer] | None = None  # (game, seat, **params) -> its reports
    helps: bool = False  # whether it fills a helper seat (a reader) and is not a player
    version: int = 1


class Scripted(msgspec.Struct, frozen=True):
    """A player made from a plain function."""

    script: Script
    report: Answerer | None = None  # None: it answers no probes

    def decide(self, turn: Turn) -> Decision[Any]:
        return Decision(self.script(turn))


def must_sit(seat: Seat, name: str, *fits: Seat) -> None:
    """Raise BadInput if the player of this name cannot play in the seat."""
    if seat not in fits:
        raise BadInput(f"{name} can play as {join_names(fits, 'or')}, not as {seat}")


class Named(Protocol):
    """An entry of the registry."""

    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)


def describe_rule(rule: Callable[..., Any]) -> str:
    """Return the first paragraph of a function's docstring on one line, in lower case at the start
    and without the final full stop, as the description of a partner that follows the function."""
    text = " ".join((rule.__doc__ or "").partition("\n\n")[0].split()).rstrip(".")
    return text[:1].lower() + text[1:]


def by_name(*entries: N) -> dict[str, N]:
    """Return entries of the registry by name."""
    return {entry.name: entry for entry in entries}
