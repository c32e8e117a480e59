"""A user's own game in one file: one order to fill in, with every kind of field and no board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import Act, Amounts, Choice, Form, Many, Options, Text, Whole
from sally.core.rules.words import Words
from sally.web.play import lobby

lobby.FRESH_TRIES = 0  # browser tests are written for the default problem of each game

CLERK = Seat("clerk")
ITEMS = tuple(f"item {n}" for n in range(1, 11))


class Line(Act, frozen=True):
    """Some of one item."""

    item: str
    count: int


class Address(Act, frozen=True):
    """Where it goes."""

    street: str
    floor: int


class Order(Act, frozen=True):
    """Everything that can be asked in a form."""

    lines: tuple[Line, ...]
    tags: tuple[str, ...]
    paid: tuple[tuple[str, str], ...]
    to: Address


class State(msgspec.Struct, frozen=True):
    """The order, once it is made."""

    order: Order | None = None
    over: bool = False


@dataclass(frozen=True)
class OrderForm(Game[State, Order, State]):
    """One form; it pays how many pieces were ordered, if all else is right."""

    seats = (CLERK,)

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.over else self.seats

    def options(self, state: State, seat: Seat) -> Options[Order]:
        line: Form[Line] = Form(Line, (("item", Choice(ITEMS)), ("count", Whole(0, 99))))
        to: Form[Address] = Form(Address, (("street", Text(30)), ("floor", Whole(-1, 3))))
        fields = (
            ("lines", Many(line, 2)),
            ("tags", Many(Choice(("gift", "rush")), 2)),
            ("paid", Amounts((("gold", "2/3"), ("silver", "5")))),
            ("to", to),
        )
        return (Form(Order, fields),)

    def step(self, state: State, moves: Mapping[Seat, Order]) -> State:
        return State(moves[CLERK], True)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Order], forfeited: tuple[Seat, ...]
    ) -> State:
        return State(None, True)

    def observe(self, state: State, seat: Seat) -> State:
        return state

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        order = state.order
        if order is None or order.to != Address("Mill Lane", -1):
            return {CLERK: -1.0}
        if order.tags != ("rush",) or order.paid != (("gold", "1/3"), ("silver", "2")):
            return {CLERK: -2.0}
        return {CLERK: float(sum(line.count for line in order.lines))}


class OrderWords(Words[Order, State]):
    """One sentence each."""

    def __init__(self, game: OrderForm, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)

    def rules(self, seat: Seat) -> str:
        return self.say("rules")

    def question(self, view: State, options: Options[Order]) -> str:
        return self.say("question")


GAME: GameSpec[State, Order, State] = GameSpec(
    name="order_form",
    about="one order to fill in",
    game=OrderForm,
    words=OrderWords,
    texts={"rules": "Fill in the order.", "question": "What is ordered?"},
    action=Order,
)
