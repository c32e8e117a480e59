"""The board of bargaining: a price axis with limit and quotes, the latest rounds, and the
messages."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Cell,
    Limit,
    Note,
    Notes,
    Part,
    Progress,
    Reveal,
    Row,
    Saying,
    Scale,
    Spot,
    Table,
    Talk,
)
from sally.core.rules.replay import Trajectory
from sally.games.bargaining.rules import (
    BUYER,
    MOST_CHARACTERS,
    Action,
    Bargaining,
    Round,
    State,
    View,
    gain,
)
from sally.games.bargaining.values import HIGHEST

SHOWN = 8  # rounds in the table; the history beside the board has them all
SPOKEN = 12  # messages beside the table


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the price axis, the payoff of a trade, the latest rounds, and the messages."""
    game = context.game
    assert isinstance(game, Bargaining)
    parts: list[Part] = [_axis(view)] if view.limit is None else [_notes(view), _axis(view)]
    if len(view.past):
        parts.append(_rounds(view))
    if view.said or any(past_round.said for past_round in view.past):
        parts.append(_talk(view))
    progress = Progress(min(view.round, game.rounds), game.rounds, score=str(view.total))
    return Board(tuple(parts), {"text": Limit(MOST_CHARACTERS)}, progress)


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return both limits, which are hidden during the game, and what trades were worth."""
    game, state = replay.rules(Bargaining), replay.present
    view = game.observe(state, context.seat)
    assert state.value is not None and state.cost is not None  # drawn before the first round
    prices = [past_round.price for past_round in state.past if past_round.price is not None]
    surplus = max(state.value - state.cost, 0) * game.rounds
    limits = (
        f"At a value of {state.value} and a cost of {state.cost}, both together could earn "
        f"{surplus}; {HIGHEST * game.rounds} is the most at any value and cost."
    )
    hidden = (
        Note("The seller's cost", str(state.cost))
        if view.is_buyer
        else Note("The buyer's value", str(state.value)),
    )
    spots = (
        Spot(state.value, "the buyer's value", "yours" if view.is_buyer else "goal"),
        Spot(state.cost, "the seller's cost", "goal" if view.is_buyer else "yours"),
    )
    axis = Scale("Prices", 0.0, float(HIGHEST), ("0", str(HIGHEST)), spots)
    rounds = (_rounds(view),) if len(view.past) else ()
    explanation = f"{_trades(view, state.value, state.cost, prices)} {limits}"
    return Reveal(explanation, hidden, (axis, *rounds))


def _trades(view: View, value: int, cost: int, prices: Sequence[int]) -> str:
    """Return how the seat's points came about: how much it traded, and what a unit paid it."""
    if not prices:
        no_price = ", and no price could pay both of you" if value <= cost else ""
        return f"In no round was the bid as high as the ask: nothing was traded{no_price}."
    mean = sum(prices) / len(prices)
    units = "1 unit" if len(prices) == 1 else f"{len(prices)} units"
    buyer_gain, seller_gain = f"{value - mean:.3g}", f"{mean - cost:.3g}"
    if view.is_buyer:
        return (
            f"You bought {units}, worth {value} each to you, at {mean:.3g} on average: "
            f"{buyer_gain} points a unit for you, {seller_gain} for the seller."
        )
    return (
        f"You sold {units}, at a cost of {cost} each, at {mean:.3g} on average: {seller_gain} "
        f"points a unit for you, {buyer_gain} for the buyer."
    )


def _axis(view: View) -> Scale:
    spots: list[Spot] = []
    if view.limit is not None:
        spots.append(Spot(view.limit, f"your {_limit_name(view)}", "yours"))
    last = view.last()
    if last is not None and last.bid is not None and last.ask is not None:
        own_quote, other_quote = (last.bid, last.ask) if view.is_buyer else (last.ask, last.bid)
        own_kind, other_kind = ("bid", "ask") if view.is_buyer else ("ask", "bid")
        spots.append(Spot(own_quote, f"your last {own_kind}", "ready"))
        spots.append(Spot(other_quote, f"their last {other_kind}", "last"))
        if last.price is not None:
            spots.append(Spot(last.price, "last price", "goal"))
    ends = ("0", str(HIGHEST))
    return Scale("Prices", 0.0, float(HIGHEST), ends, tuple(spots))


def _notes(view: View) -> Notes:
    text = "" if view.limit is None else f"{view.limit}, in every round"
    return Notes(f"You are the {view.seat}", (Note(f"Your {_limit_name(view)}", text, "yours"),))


def _rounds(view: View) -> Table:
    first = max(0, len(view.past) - SHOWN)
    latest = list(view.past.since(first))
    void = Cell("–", "hidden", "a quote was missing")
    bids = tuple(
        void if past_round.bid is None else Cell(str(past_round.bid)) for past_round in latest
    )
    asks = tuple(
        void if past_round.ask is None else Cell(str(past_round.ask)) for past_round in latest
    )
    prices = tuple(_price(past_round) for past_round in latest)
    paid = tuple(Cell(_payoff_text(view, past_round)) for past_round in latest)
    own_marks = ("yours", "") if view.seat == BUYER else ("", "yours")
    rows = (
        Row("Bid", bids, own_marks[0]),  # type: ignore[arg-type]
        Row("Ask", asks, own_marks[1]),  # type: ignore[arg-type]
        Row("Price", prices),
        Row("You earned", paid, "goal"),
    )
    numbers = tuple(str(first + n + 1) for n in range(len(latest)))
    return Table("The latest rounds", numbers, rows, "Round")


def _price(past_round: Round) -> Cell:
    return (
        Cell("–", "", "no trade")
        if past_round.price is None
        else Cell(str(past_round.price), "good")
    )


def _payoff_text(view: View, past_round: Round) -> str:
    if past_round.price is None or view.limit is None:
        return "0"
    return f"{int(gain(view.seat, view.limit, past_round.price))}"


def _talk(view: View) -> Talk:
    sayings = [
        Saying(
            "You" if seat == view.seat else f"The {seat}",
            text if text.strip() else "(nothing)",
            f"round {number}",
            "yours" if seat == view.seat else "",
        )
        for number, texts in _messages(view)
        for seat, text in texts
    ]
    return Talk("What was said", tuple(sayings[-SPOKEN:]))


def _messages(view: View) -> list[tuple[int, tuple[tuple[str, str], ...]]]:
    past_messages = [(number, past_round.said) for number, past_round in enumerate(view.past, 1)]
    return [*past_messages, (view.round, view.said)]


def _limit_name(view: View) -> str:
    return "value" if view.is_buyer else "cost"


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a trade on the price axis."""
    is_buyer = context.seat == BUYER
    limit, name = (60, "value") if is_buyer else (20, "cost")
    gained = limit - 40 if is_buyer else 40 - limit
    spots = (
        Spot(30, "the ask", "" if is_buyer else "yours"),
        Spot(40, "the price", "goal"),
        Spot(50, "the bid", "yours" if is_buyer else ""),
    )
    caption = f"Example: with a {name} of {limit} you earn {gained}"
    return (Scale(caption, 0.0, float(HIGHEST), ("0", str(HIGHEST)), spots),)
