"""The rules of the step race, after the public step game benchmark (Mazur 2025).

A turn consists of talk and a move. All three seats speak, up to `talks` times each, in an order
that nature draws for the turn; then all choose 1, 3 or 5 steps at the same time. If several seats
choose the same number, none of them moves. The game ends after the first turn in which a seat has
`target` steps or more; the highest total wins, and equal totals share one point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TypeVar

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat
from sally.core.rules.history import History
from sally.core.rules.menu import Act, Form, Options, Text

SEATS = (Seat("player_1"), Seat("player_2"), Seat("player_3"))
MOVES = (1, 3, 5)
ORDERS = tuple(permutations(range(3)))  # who speaks first, second and third, by seat number
STAYS = 0  # the move of a seat that gave none
MOST_TALKS = 10
MOST_STEPS = 100  # the solver's table has the cube of this size
MOST_LETTERS = 200_000
SAMPLES = ("I will move 1.", "I will move 3.", "I will move 5.", "Let us not collide.")

T = TypeVar("T")
Triple = tuple[int, int, int]  # one number for each seat


class Say(Act, frozen=True):
    """A public message, after which the speaker may speak again."""

    text: str


class Done(Act, frozen=True):
    """A speaker's last public message in this turn, possibly empty."""

    text: str = ""


Action = int | Say | Done


class Spoken(msgspec.Struct, frozen=True):
    """One message of a turn."""

    number: int  # of the seat, from 0
    text: str  # empty: the speaker said nothing
    done: bool  # whether the speaker has nothing to add


class PastTurn(msgspec.Struct, frozen=True):
    """A finished turn."""

    talk: tuple[Spoken, ...]
    moves: Triple  # 0 for a seat that gave no move
    gains: Triple
    positions: Triple  # after the moves


class State(msgspec.Struct, frozen=True):
    """The full state: positions, past turns, and the messages of the current turn."""

    positions: Triple
    past: History[PastTurn]
    order: int | None = None  # of `ORDERS`, once nature has drawn it
    talk: tuple[Spoken, ...] = ()


class View(msgspec.Struct, frozen=True):
    """The information of a seat: everything except the others' moves in this turn."""

    seat: Seat
    number: int  # of the seat, from 0
    positions: Triple
    past: History[PastTurn]
    order: int | None
    talk: tuple[Spoken, ...]
    speaks: bool  # whether it is this seat's turn to speak
    moving: bool  # whether talk is over and all seats move
    over: bool

    @property
    def turn(self) -> int:
        """The number of the current turn, from 1."""
        return len(self.past) + 1

    def played(self) -> list[tuple[int, int]]:
        """Return (own move, larger of the others' moves) for each turn."""
        own_number = self.number
        return [
            (turn.moves[own_number], max(m for n, m in enumerate(turn.moves) if n != own_number))
            for turn in self.past
        ]


@dataclass(frozen=True)
class StepRace(Game[State, Action, View]):
    """The step race; with `talks` 0 there are no messages."""

    target: int = 20
    talks: int = 2  # how often each seat may speak in a turn
    positions: Triple = (0, 0, 0)  # at the start
    max_turns: int = 100  # without an arrival by then, no seat wins
    letters: int = 600  # of a message
    target_range: tuple[int, int] | None = None  # the targets consistent with a published record

    seats = SEATS
    helpers = (NATURE,)

    def __post_init__(self) -> None:
        for name, lowest, highest in (
            ("target", 1, MOST_STEPS),
            ("talks", 0, MOST_TALKS),
            ("max_turns", 1, 10_000),
            ("letters", 10, MOST_LETTERS),
        ):
            if not lowest <= (value := getattr(self, name)) <= highest:
                raise BadInput(f"{name} must be from {lowest} to {highest}, not {value}")
        if min(self.positions) < 0 or max(self.positions) >= self.target:
            raise BadInput(
                f"positions must be from 0 to {self.target - 1}, below the target, "
                f"not {list(self.positions)}"
            )
        if self.target_range is not None:
            low, high = self.target_range
            if not low <= self.target <= high:
                raise BadInput(
                    f"target {self.target} is not in target_range {list(self.target_range)}"
                )

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State(self.positions, History())

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if self.is_over(state):
            return ()
        if self.talks and state.order is None:
            return (NATURE,)
        speaker = self.speaker(state)
        return SEATS if speaker is None else (SEATS[speaker],)

    def is_over(self, state: State) -> bool:
        """Return whether a seat has reached the target or the turns are used up."""
        return max(state.positions) >= self.target or len(state.past) >= self.max_turns

    def speaker(self, state: State) -> int | None:
        """Return the number of the seat that speaks now; None once the talk is over."""
        messages = state.talk
        if state.order is None or len(messages) == 3 * self.talks:
            return None
        if messages and len(messages) % 3 == 0 and all(message.done for message in messages[-3:]):
            return None  # all three had nothing to add
        return ORDERS[state.order][len(messages) % 3]

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == NATURE:
            return tuple(range(len(ORDERS)))
        if self.speaker(state) is None:
            return MOVES
        return self._talk

    @property
    def _talk(self) -> Options[Action]:
        return (
            Form(Say, (("text", Text(self.letters, samples=SAMPLES)),)),
            Form(Done, (("text", Text(self.letters, samples=("", *SAMPLES), least=0)),)),
        )

    def odds(self, state: State) -> Mapping[Action, float]:
        return dict.fromkeys(range(len(ORDERS)), 1 / len(ORDERS))

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if NATURE in moves:
            order = moves[NATURE]
            assert isinstance(order, int)
            return msgspec.structs.replace(state, order=order)
        if (speaker := self.speaker(state)) is not None:
            (message,) = moves.values()
            assert isinstance(message, Say | Done)
            return _add_message(state, Spoken(speaker, message.text, isinstance(message, Done)))
        return self._apply_moves(state, moves)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Treat a missing message as silence and a missing move as staying in place."""
        if (speaker := self.speaker(state)) is not None:
            return _add_message(state, Spoken(speaker, "", True))
        return self._apply_moves(state, moves)

    def _apply_moves(self, state: State, moves: Mapping[Seat, Action]) -> State:
        joint_move = triple(_number(moves.get(seat, STAYS)) for seat in SEATS)
        gained = gains(joint_move)
        reached = triple(p + g for p, g in zip(state.positions, gained, strict=True))
        past = state.past.append(PastTurn(state.talk, joint_move, gained, reached))
        return State(reached, past)

    def begins_turn(self, state: State) -> bool:
        return not state.talk

    def observe(self, state: State, seat: Seat) -> View:
        is_over, mover = self.is_over(state), self.speaker(state)
        number = SEATS.index(seat) if seat in SEATS else -1  # nature has no place on the track
        has_order = not self.talks or state.order is not None
        return View(
            seat,
            number,
            state.positions,
            state.past,
            state.order,
            state.talk,
            not is_over and mover == number,
            not is_over and has_order and mover is None,
            is_over,
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        shares = prize(state.positions, self.target)
        return dict(zip(SEATS, shares or (0.0, 0.0, 0.0), strict=True))

    def widest_menu(self) -> int | None:
        return None if self.talks else len(MOVES)


def _add_message(state: State, message: Spoken) -> State:
    return msgspec.structs.replace(state, talk=(*state.talk, message))


def _number(move: Action) -> int:
    assert isinstance(move, int)
    return move


def triple(items: Iterable[T]) -> tuple[T, T, T]:
    """Return three items, one for each seat or move, as a tuple."""
    first, second, third = items
    return first, second, third


def gains(moves: Triple) -> Triple:
    """Return the steps that each seat gains: its number, unless another seat chose the same.

    >>> gains((5, 5, 1))
    (0, 0, 1)
    """
    return triple(move if moves.count(move) == 1 else 0 for move in moves)


def prize(positions: Triple, target: int) -> tuple[float, float, float] | None:
    """Return the points of each seat; seats with equal highest totals share one point. None until a
    seat reaches the target.

    >>> prize((21, 18, 21), 20)
    (0.5, 0.0, 0.5)
    """
    top = max(positions)
    if top < target:
        return None
    share = 1 / positions.count(top)
    return triple(share if p == top else 0.0 for p in positions)


def others_of(number: int) -> tuple[int, int]:
    """Return the numbers of the two other seats, in order."""
    first, second = (n for n in range(3) if n != number)
    return first, second
