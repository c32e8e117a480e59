"""The rules of the battery: a reader answers one question after another, with seeded option
orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import Game, Seat
from sally.games.battery import applied, belief_action, nested, watched
from sally.games.battery.casts import Cast
from sally.games.battery.items import Item, shown_orders, story_of

READER = Seat("reader")
SEED = 2026
PRACTICE = 1_000_003  # seed of practice items, which no study uses
MOST_ITEMS, MOST_ORDERS = 1_000, 24
Generator = Literal["nested", "belief_action", "applied", "watched", "file"]
PER_STORY = {
    "nested": 1,
    "watched": watched.PER_STORY,
    "belief_action": belief_action.PER_STORY,
    "applied": applied.PER_STORY,
}
NESTED_ORDERS = {"nested": nested.ORDERS, "watched": watched.ORDERS}


class State(msgspec.Struct, frozen=True):
    """The answers so far, as option indices; None if an answer could not be read."""

    answers: tuple[int | None, ...] = ()


class PosedItem(msgspec.Struct, frozen=True):
    """The question of one turn: an item without its key, and the order of its options."""

    id: str
    story: str
    question: str
    options: tuple[str, ...]
    shown: tuple[int, ...]
    base: int = 0  # of the numbers of its moves
    belief: str = ""  # the question about a mind, where the item has one
    beliefs: tuple[str, ...] = ()  # its options
    options_key: str = ""  # what the order of the options is drawn from; "": the id


class View(msgspec.Struct, frozen=True):
    """The information of the reader: the current question and its own answers so far."""

    asked: PosedItem | None  # None: all questions are answered
    turn: int
    turns: int
    answers: tuple[int | None, ...]
    practised: int | None = None  # the key of the practice item, once answered


class Turn(msgspec.Struct, frozen=True):
    """One turn: an item with its options in a given order; practice items are not scored.

    Moves are numbered across the options of all items, starting at `base` for this item, so that
    each move has a unique number.
    """

    item: Item
    shown: tuple[int, ...]
    base: int = 0
    practice: bool = False


@dataclass(frozen=True)
class Battery(Game[State, int, View]):
    """The battery game: one or more items, from a generator by number or from a file by id or
    story."""

    generator: Generator = "belief_action"
    number: int = 0  # the first item of a generator
    length: int = 1  # how many items, one after another
    order: int | None = None  # of belief (nested, watched); None: all orders in turn
    generator_seed: int = SEED
    file: str = ""  # with generator "file": a file of items
    hash: str = ""  # of its content; empty: any
    item: str = ""  # the id of an item, or of a story for all of its items
    orders: int = 1  # how often each item is asked, with its options in other orders
    options_seed: int = 0
    practice: bool = False  # whether a practice item with feedback comes first

    seats = (READER,)
    pays_as_it_goes = True

    def __post_init__(self) -> None:
        if self.number < 0:
            raise BadInput(f"number must be at least 0, not {self.number}")
        if not 1 <= self.length <= MOST_ITEMS:
            raise BadInput(f"length must be from 1 to {MOST_ITEMS}, not {self.length}")
        if not 1 <= self.orders <= MOST_ORDERS:
            raise BadInput(f"orders must be from 1 to {MOST_ORDERS}, not {self.orders}")
        if self.order is not None:
            if self.generator not in NESTED_ORDERS:
                raise BadInput(
                    f"`order` can be set only if `generator` is 'nested' or 'watched', not "
                    f"{self.generator!r}"
                )
            orders = NESTED_ORDERS[self.generator]
            if self.order not in orders:
                raise BadInput(
                    f"order must be from {min(orders)} to {max(orders)}, not {self.order}"
                )
        if (self.generator == "file") != bool(self.item):
            raise BadInput("`item` must be set if `generator` is 'file', and only then")
        if (self.file or self.hash) and self.generator != "file":
            raise BadInput("`file` and `hash` can be set only if `generator` is 'file'")

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The scored items."""
        return self.told_of("people")

    def told_of(self, cast: Cast) -> tuple[Item, ...]:
        """Return the scored items, told with the given cast of characters; events, options and keys
        do not depend on the cast."""
        if self.generator == "file":
            if cast != "people":
                raise BadInput(
                    f"`cast` must be `people`, because the items of {self.file or self.hash} are "
                    "not written for another cast of characters"
                )
            return story_of(self.file, self.hash, self.item)
        return tuple(
            generate_item(self.generator, self.generator_seed, self.number + n, self.order, cast)
            for n in range(self.length)
        )

    def practice_item(self, cast: Cast) -> Item:
        """Return the practice item, which is not scored."""
        kind: Generator = "applied" if self.generator == "file" else self.generator
        return generate_item(kind, PRACTICE, 0, 1 if kind == "nested" else None, cast)

    @cached_property
    def schedule(self) -> tuple[Turn, ...]:
        """The turns: every item with its options in the first order, then every item in the second,
        etc."""
        turns = []
        orders_by_item = [shown_orders(item, self.orders, self.options_seed) for item in self.items]
        *bases, end = accumulate((len(item.options) for item in self.items), initial=0)
        if self.practice:
            first = self.practice_item("people")
            order = shown_orders(first, 1, self.options_seed)[0]
            turns.append(Turn(first, order, end, True))
        for n in range(self.orders):
            turns += [
                Turn(item, orders[n], base)
                for item, orders, base in zip(self.items, orders_by_item, bases, strict=True)
            ]
        return tuple(turns)

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return self.seats if len(state.answers) < len(self.schedule) else ()

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        now = self.schedule[len(state.answers)]
        return tuple(now.base + option for option in now.shown)

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        turn_index = len(state.answers)
        return State((*state.answers, moves[READER] - self.schedule[turn_index].base))

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """Record a missing answer; an unreadable reply is never taken as an option."""
        return State((*state.answers, None))

    def observe(self, state: State, seat: Seat) -> View:
        turn_index = len(state.answers)
        now = self.schedule[turn_index] if turn_index < len(self.schedule) else None
        practised = self.schedule[0].item.answer if self.practice and turn_index else None
        return View(
            None if now is None else _pose_item(now),
            turn_index,
            len(self.schedule),
            state.answers,
            practised,
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Pay 1 for each scored item answered correctly, averaged over the orders of its
        options."""
        right = sum(
            answer == turn.item.answer
            for turn, answer in zip(self.schedule, state.answers, strict=False)
            if not turn.practice
        )
        return {READER: right / self.orders}

    def widest_menu(self) -> int:
        return max(len(turn.shown) for turn in self.schedule)


def _pose_item(turn: Turn) -> PosedItem:
    item = turn.item
    belief = item.belief
    return PosedItem(
        item.id,
        item.story,
        item.question,
        item.options,
        turn.shown,
        turn.base,
        belief.question if belief else "",
        belief.options if belief else (),
        item.options_key,
    )


@lru_cache(maxsize=8192)
def generate_item(
    generator: Generator,
    seed: int,
    number: int,
    order: int | None = None,
    cast: Cast = "people",
) -> Item:
    """Return an item of one of the generators, cached per process."""
    if generator == "nested":
        return nested.nested_item(seed, number, order, cast)
    if generator == "watched":
        return watched.watched_item(seed, number, order, cast)
    make = belief_action.belief_action if generator == "belief_action" else applied.applied_item
    return make(seed, number, cast)
