"""What po and mg have in common: one seat, one choice, a frozen scenario unless one is given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, TypeVar

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.rules.game import Game, Seat, V

PLAYER = Seat("player")


class State(msgspec.Struct, frozen=True):
    """What the player did; `over` without a choice when it forfeited."""

    chosen: int | None = None
    over: bool = False


class Told(Protocol):
    """A scenario, as far as choosing one goes."""

    @property
    def id(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def story(self) -> str: ...


T = TypeVar("T", bound=Told)


class OneShot(Game[State, int, V]):
    """One choice, then it is over; a forfeit ends it without one."""

    seats = (PLAYER,)

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.over else self.seats

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        return State(moves[PLAYER], True)

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """The one choice was not made; the scenario is over."""
        return State(None, True)


def agree(problem: Told, level: int | None, story: str) -> None:
    """Refuse a level or a story that the scenario does not have."""
    for name, asked, given in (
        ("level", level, problem.level),
        ("story", story or None, problem.story),
    ):
        if asked is not None and asked != given:
            raise BadInput(f"{name} is {asked}, but scenario {problem.id} has {given}")


def named(game: str, id: str, known: Mapping[str, T]) -> T:
    """The frozen scenario of this id."""
    if id not in known:
        raise unknown(f"frozen scenario of {game}", id, known)
    return known[id]


def first(known: Mapping[str, T], level: int, story: str, levels: Collection[int]) -> T:
    """The first frozen scenario of a level, and of a story if one is named."""
    if level not in levels:
        raise BadInput(f"level must be one of {min(levels)} to {max(levels)}, not {level}")
    for scenario in known.values():
        if scenario.level == level and story in ("", scenario.story):
            return scenario
    raise BadInput(f"no frozen scenario of level {level} tells the story {story!r}")
