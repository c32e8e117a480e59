"""The rules of bargaining: in each round both seats send one message, then one sealed quote.

A unit is traded at the midpoint if the bid is at least the ask; if the midpoint ends in .5, a fair
coin decides how it is rounded. The buyer earns value minus price, the seller price minus cost; a
round without a trade pays nothing. Neither side learns the other's value or cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat, check_rounds
from sally.core.rules.history import History
from sally.core.rules.menu import Act, Form, Options, Text
from sally.games.bargaining.values import (
    FAMILIES,
    GAP,
    HIGHEST,
    Family,
    cost_odds,
    value_odds,
)

BUYER, SELLER = Seat("buyer"), Seat("seller")
SEATS = (BUYER, SELLER)
NATURE_MOVES = (NATURE,)
PRICES = tuple(range(HIGHEST + 1))
DOWN, UP = 0, 1  # nature's coin for a half
COIN: Mapping[int, float] = {DOWN: 0.5, UP: 0.5}
FIRST: Mapping[int, float] = {0: 0.5, 1: 0.5}  # by index in SEATS: who speaks first
MOST_WORDS = 100
MOST_CHARACTERS = 1500  # far above 100 English words; the limit of a form's text field
WORDS_PATTERN = rf"\s*(?:\S+\s+){{0,{MOST_WORDS - 1}}}\S*\s*"
TalkOrder = Literal["simultaneous", "sequential", "none"]


class Say(Act, frozen=True):
    """A message to the other side; empty for silence."""

    text: str


Action = int | Say
Said = tuple[tuple[Seat, str], ...]  # the messages of a round, in the order they were given

SAMPLES = (  # what a random player says: announcements, claims, small talk, silence
    "I will quote 50.",
    "I will bid 40 this round.",
    "I will ask 60 this round.",
    "My value is 70.",
    "My cost is 30.",
    "Let us meet in the middle.",
    "",
)


class Round(msgspec.Struct, frozen=True, gc=False):
    """A past round; bid and ask are None if a quote was forfeited, and price is None if nothing was
    traded."""

    bid: int | None
    ask: int | None
    price: int | None = None
    said: Said = ()

    @property
    def void(self) -> bool:
        return self.bid is None

    def quote(self, seat: Seat) -> int | None:
        """Return a seat's quote."""
        return self.bid if seat == BUYER else self.ask


class State(msgspec.Struct, frozen=True, gc=False):
    """The full state: both limits, the past rounds, and the progress of the current round."""

    value: int | None
    cost: int | None
    past: History[Round]
    totals: tuple[int, int] = (0, 0)
    said: Said = ()
    # index of the seat that speaks first in this round; only in sequential talk
    first: int | None = None
    quotes: tuple[int, int] | None = None  # bid and ask while the coin is in the air
    void_in_a_row: int = 0


class View(msgspec.Struct, frozen=True, gc=False):
    """The information of one seat: its own limit and payoff, and all messages, quotes and
    trades."""

    seat: Seat
    limit: int | None  # the buyer's value or the seller's cost; None before it is dealt
    past: History[Round]
    total: int
    talking: bool  # whether a message is due now, from either seat
    said: Said = ()
    first: int | None = None
    quotes: tuple[int, int] | None = None

    @property
    def round(self) -> int:
        """The number of the current round, from 1."""
        return len(self.past) + 1

    @property
    def is_buyer(self) -> bool:
        return self.seat == BUYER

    def last(self) -> Round | None:
        """Return the last round in which both seats quoted."""
        latest = self.past.last
        if latest is None or latest.bid is not None:
            return latest
        return next(
            (past_round for past_round in reversed(self.past) if past_round.bid is not None), None
        )

    def heard_message(self) -> str | None:
        """Return the other seat's message in this round; None if it has not sent one."""
        return next((text for seat, text in self.said if seat != self.seat), None)


@dataclass(frozen=True)
class Bargaining(Game[State, Action, View]):
    """The bargaining game; `value` and `cost` fix a problem, otherwise nature draws both from the
    prior `family`."""

    rounds: int = 20
    talk: TalkOrder = "simultaneous"
    family: Family = "uniform"
    prior_told: bool = True  # whether the rules state how value and cost are drawn
    value: int | None = None
    cost: int | None = None
    void_limit: int = 3  # consecutive rounds with a forfeited quote that end the episode

    seats = SEATS
    helpers = NATURE_MOVES
    pays_as_it_goes = True
    censors_forfeits = True

    def __post_init__(self) -> None:
        check_rounds(self.rounds, self.void_limit)
        if self.family not in FAMILIES:
            raise BadInput(f"family must be one of {', '.join(FAMILIES)}, not {self.family}")
        if (self.value is None) != (self.cost is None):
            raise BadInput("value and cost must be given together or not at all")
        if self.value is None or self.cost is None:
            return
        for name, number in (("value", self.value), ("cost", self.cost)):
            if not 0 <= number <= HIGHEST:
                raise BadInput(f"{name} must be from 0 to {HIGHEST}, not {number}")
        if self.value - self.cost < GAP:
            raise BadInput(
                f"value must exceed cost by at least {GAP}; "
                f"got value {self.value} and cost {self.cost}"
            )

    def widest_menu(self) -> int | None:
        return len(PRICES) if self.talk == "none" else None

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State(self.value, self.cost, History())

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.cost is None or state.quotes is not None:
            return NATURE_MOVES
        if len(state.past) >= self.rounds:
            return ()
        if self.talk == "sequential" and len(state.said) < 2:
            if state.first is None:
                return NATURE_MOVES
            return (SEATS[(state.first + len(state.said)) % 2],)
        return SEATS

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == NATURE:
            return tuple(self.odds(state))
        return MESSAGES if self._talking(state) else PRICES

    def odds(self, state: State) -> Mapping[Action, float]:
        if state.value is None:
            return value_odds(self.family)  # type: ignore[return-value]
        if state.cost is None:
            return cost_odds(self.family, state.value)  # type: ignore[return-value]
        return COIN if state.quotes is not None else FIRST  # type: ignore[return-value]

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if NATURE in moves:
            return self._deal(state, int(moves[NATURE]))  # type: ignore[arg-type]
        if self._talking(state):
            return self._add_messages(state, moves)
        bid, ask = moves[BUYER], moves[SELLER]
        assert isinstance(bid, int) and isinstance(ask, int)  # the menu consists of prices
        if bid < ask:
            past = state.past.append(Round(bid, ask, None, state.said))
            return State(state.value, state.cost, past, state.totals)
        if (bid + ask) % 2:
            return State(
                state.value,
                state.cost,
                state.past,
                state.totals,
                state.said,
                state.first,
                (bid, ask),
            )
        return self._settle_trade(state, bid, ask, (bid + ask) // 2)

    def _deal(self, state: State, number: int) -> State:
        if state.value is None:
            return State(number, None, state.past)
        if state.cost is None:
            return State(state.value, number, state.past)
        if state.quotes is not None:
            bid, ask = state.quotes
            return self._settle_trade(state, bid, ask, (bid + ask) // 2 + number)
        return msgspec.structs.replace(state, first=number)

    def _add_messages(self, state: State, moves: Mapping[Seat, Action]) -> State:
        messages = tuple(
            (seat, move.text if isinstance(move := moves.get(seat), Say) else "")
            for seat in self.to_move(state)
        )
        return msgspec.structs.replace(state, said=state.said + messages)

    def _settle_trade(self, state: State, bid: int, ask: int, price: int) -> State:
        assert state.value is not None and state.cost is not None
        had = state.totals
        totals = (had[0] + state.value - price, had[1] + price - state.cost)
        past = state.past.append(Round(bid, ask, price, state.said))
        return State(state.value, state.cost, past, totals)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Treat a missing message as silence, and make no trade if a quote is missing.

        If only one seat quoted, its quote stays hidden.
        """
        if self._talking(state):
            return self._add_messages(state, moves)
        past = state.past.append(Round(None, None, None, state.said))
        void = state.void_in_a_row + 1
        return State(state.value, state.cost, past, state.totals, void_in_a_row=void)

    def censored(self, state: State) -> str | None:
        if state.void_in_a_row < self.void_limit:
            return None
        return f"a quote was missing in {state.void_in_a_row} rounds in a row"

    def begins_turn(self, state: State) -> bool:
        """Return whether turn-start probes are asked: once per round, before any message."""
        return not state.said and state.quotes is None

    def observe(self, state: State, seat: Seat) -> View:
        place = 0 if seat == BUYER else 1
        limit = state.value if place == 0 else state.cost
        if self.talk == "none" and state.quotes is None:
            return View(seat, limit, state.past, state.totals[place], False)
        return View(
            seat,
            limit,
            state.past,
            state.totals[place],
            self._talking(state) and state.quotes is None and len(state.past) < self.rounds,
            state.said,
            state.first,
            state.quotes,
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        return {BUYER: float(state.totals[0]), SELLER: float(state.totals[1])}

    def _talking(self, state: State) -> bool:
        """Return whether a seat's next move is a message."""
        if self.talk == "none":
            return False
        return len(state.said) < 2


MESSAGES: Options[Action] = (
    Form(
        Say,
        (
            (
                "text",
                Text(
                    MOST_CHARACTERS,
                    WORDS_PATTERN,
                    samples=SAMPLES,
                    least=0,
                    form=f"a message of at most {MOST_WORDS} words",
                ),
            ),
        ),
    ),
)


def other_seat(seat: Seat) -> Seat:
    """Return the other seat."""
    return SELLER if seat == BUYER else BUYER


def gain(seat: Seat, limit: int, price: float) -> float:
    """Return a seat's gain from a trade at a price, given the seat's limit."""
    return limit - price if seat == BUYER else price - limit


def round_gain(seat: Seat, limit: int, own_quote: int, other_quote: int) -> float:
    """Return the expected payoff of a round, averaged over the coin toss that rounds a midpoint
    price ending in .5."""
    bid, ask = (own_quote, other_quote) if seat == BUYER else (other_quote, own_quote)
    return gain(seat, limit, (bid + ask) / 2) if bid >= ask else 0.0
