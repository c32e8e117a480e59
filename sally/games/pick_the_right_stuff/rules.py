"""Pick the Right Stuff as a game: nature follows a script, and the manager answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.chance import derived_seed
from sally.core.rules.game import NATURE, Game, Seat
from sally.games.pick_the_right_stuff.frozen import COLLECTIONS, SIZES, frozen_games, generate_games
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Instance,
    Locker,
    Mode,
    Rehearsal,
    Reset,
    Snapshot,
    View,
    Visit,
    apply_answer,
    apply_move,
    check,
    open_locker,
    view_of,
)

MANAGER = Seat("manager")
Action = int | Reset | Visit | Snapshot | Rehearsal | Collection
Generator = Literal["balanced", "balanced_2", "published", "even"]


class State(msgspec.Struct, frozen=True):
    """The locker, and how many events of the fixed script (resets, looks, collections) have
    happened."""

    locker: Locker
    read: int = 0


@dataclass(frozen=True)
class LockerGame(Game[State, Action, View]):
    """The locker game, played from a stored set, from a generator with a seed, or on a custom
    problem.

    All of nature's moves are fixed beforehand, so each has probability 1.
    """

    mode: Mode = "zero"
    # Zero and finite: published, balanced_2, or balanced, in which the number of the asker's looks
    # tells a part of the answer and which the suite Sally-1 uses. The infinite mode has one
    # generator, even.
    generator: Generator = "balanced"
    users: int = 5
    number: int = 0  # index in the frozen set, or among the games of the seed
    generator_seed: int | None = None  # None: the frozen set
    problem: Instance | None = None  # a custom game, instead of all of the above
    # published: in the format of the authors' chat harness
    wording: Literal["page", "published"] = "page"

    seats = (MANAGER,)
    helpers = (NATURE,)
    pays_as_it_goes = True

    def __post_init__(self) -> None:
        if self.problem is None:
            _find_game(self.mode, self.generator, self.users, self.number, self.generator_seed)
        else:
            check(self.problem)

    @cached_property
    def instance(self) -> Instance:
        """The problem as data."""
        if self.problem is not None:
            return self.problem
        return _find_game(self.mode, self.generator, self.users, self.number, self.generator_seed)

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State(open_locker(self.instance))

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.locker.asked is not None:
            return self.seats
        return self.helpers if state.read < len(self.instance.script) else ()

    def options(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """Return the legal actions: for nature, the next line of the script; for the manager, every
        box."""
        if seat == NATURE:
            return self.instance.script[state.read : state.read + 1]
        return tuple(range(self.instance.users))

    def odds(self, state: State) -> Mapping[Action, float]:
        return {self.instance.script[state.read]: 1.0}

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        ((_, move),) = moves.items()
        if isinstance(move, int):
            return State(apply_answer(state.locker, move), state.read)
        return State(apply_move(state.locker, move), state.read + 1)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Give no point for a forfeited answer; the retrieval takes place and the game
        continues."""
        return State(apply_answer(state.locker, None), state.read)

    def observe(self, state: State, seat: Seat) -> View:
        return view_of(state.locker)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Pay one point for every user for whom the manager named the box in which the user
        believed its item to be."""
        return {MANAGER: float(state.locker.correct)}

    def widest_menu(self) -> int:
        return self.instance.users


@lru_cache(maxsize=512)
def _find_game(
    mode: Mode, generator: Generator, users: int, number: int, seed: int | None
) -> Instance:
    """Return game `number`, from a stored set or generated from a seed."""
    if number < 0:
        raise BadInput(f"number must be at least 0, not {number}")
    if users < 2:
        raise BadInput(f"users must be at least 2, not {users}")
    if generator == "even" and mode != "infinite":
        raise BadInput(f"generator {generator!r} needs the infinite mode, not {mode}")
    collection_name = "infinite_2" if mode == "infinite" else f"{generator}_{mode}"
    collection = next(name for name in COLLECTIONS if name == collection_name)
    if seed is not None:
        return generate_games(collection, users, 1, derived_seed(seed, number))[0]
    if users not in SIZES:
        raise BadInput(
            f"there are no stored games with {users} users, only with "
            f"{', '.join(map(str, SIZES))}; set generator_seed to generate a game"
        )
    games = frozen_games(collection, users)
    if number >= len(games):
        raise BadInput(f"number must be from 0 to {len(games) - 1} in a stored set, not {number}")
    return games[number]
