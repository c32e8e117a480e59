"""The game spec of bargaining: rules, words, probes, and the metric of doing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.rules.game import (
    Doing,
    GameSpec,
    LearnerSpec,
    MeasureSpec,
    PeopleSpec,
    Seat,
    over_all_rounds,
)
from sally.core.rules.probe import At, Point, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.bargaining.rules import (
    PRICES,
    SEATS,
    Action,
    Bargaining,
    State,
    View,
    gain,
    other_seat,
)
from sally.games.bargaining.talk import read_message
from sally.games.bargaining.values import HIGHEST, other_odds, quantile
from sally.games.bargaining.words import TEXTS, BargainingWords

Past = Trajectory[State, Action, View]
ASKED_ROUNDS: Mapping[int, float] = {1: 0.5, 2: 0.3, 5: 0.7, 10: 0.4, 20: 0.6}
"""The rounds in which values are asked for, before the messages, and the price of `would_trade_at`
as a quantile of the other's limit given the player's own: fixed beforehand, so that it reveals
nothing."""


def _number(probe: str, about: str) -> tuple[Question, ...]:
    return (Question(probe, "choice", PRICES, about=about, numeric=True),)


def _at_value_round(view: View) -> bool:
    return view.round in ASKED_ROUNDS and view.limit is not None


def _their_value(game: Bargaining, view: View, seat: Seat) -> tuple[Question, ...]:
    return _number("their_value", other_seat(seat)) if _at_value_round(view) else ()


def _their_guess(game: Bargaining, view: View, seat: Seat) -> tuple[Question, ...]:
    return _number("their_guess_of_my_value", other_seat(seat)) if _at_value_round(view) else ()


def asked_price(game: Bargaining, view: View) -> int:
    """Return the price that `would_trade_at` asks about: a different quantile of the prior each
    time."""
    assert view.limit is not None
    share = ASKED_ROUNDS[view.round]
    return quantile(other_odds(game.family, view.is_buyer, view.limit), share)


def _would_trade(game: Bargaining, view: View, seat: Seat) -> tuple[Question, ...]:
    if not _at_value_round(view):
        return ()
    return (Question("would_trade_at", "choice", ("yes", "no"), str(asked_price(game, view))),)


def _their_quote(game: Bargaining, view: View, seat: Seat) -> tuple[Question, ...]:
    return () if view.talking else _number("their_quote", other_seat(seat))


def announced_by_other(view: View) -> int | None:
    """Return the quote that the other seat announced in this round, as read from its message."""
    heard = view.heard_message()
    return read_message(heard, other_seat(view.seat)).announced if heard else None


def _will_keep(game: Bargaining, view: View, seat: Seat) -> tuple[Question, ...]:
    announced = None if view.talking else announced_by_other(view)
    return (
        ()
        if announced is None
        else (Question("will_keep", "choice", ("yes", "no"), str(announced)),)
    )


# --- what was true --------------------------------------------------------------------------------


def limit_of(state: State, seat: Seat) -> int | None:
    """Return a seat's limit: the buyer's value or the seller's cost."""
    return state.value if seat == SEATS[0] else state.cost


def true_value(replay: Past, place: At) -> int | None:
    """Return the other seat's limit (value or cost)."""
    return limit_of(replay.state(place.turn), other_seat(place.seat))


def true_quote(replay: Past, place: At) -> int | None:
    """Return the other seat's quote in the same round; None if it gave none."""
    quote = replay.move(place.turn, other_seat(place.seat))
    return quote if isinstance(quote, int) else None


def true_trade(replay: Past, place: At) -> str | None:
    """Return whether a trade at the given price would be profitable for the other seat."""
    limit = true_value(replay, place)
    if limit is None:
        return None
    return "yes" if gain(other_seat(place.seat), limit, int(place.about)) > 0 else "no"


def true_keep(replay: Past, place: At) -> str | None:
    """Return whether the other seat keeps its announcement."""
    quoted = true_quote(replay, place)
    return None if quoted is None else "yes" if quoted == int(place.about) else "no"


def true_guess(replay: Past, place: At) -> int | None:
    """Return the other seat's current answer to the probe `their_value`; None if it was not
    asked."""
    report = replay.report(place.turn, other_seat(place.seat), "their_value", place.seat)
    return report.value if report is not None and isinstance(report.value, int) else None


def _probe(name: str, about: str, point: Point, asks: Any, truth: Any) -> Probe:
    return Probe(name, about, point, "choice", SEATS, asks, truth)


PROBES = (
    _probe(
        "their_value",
        "the other's value or cost, asked before the talk of rounds 1, 2, 5, 10 and 20",
        "start",
        _their_value,
        true_value,
    ),
    _probe(
        "would_trade_at",
        "whether a price would earn the other something; the price is a quantile of the prior",
        "start",
        _would_trade,
        true_trade,
    ),
    _probe(
        "their_guess_of_my_value",
        "the other's guess of the player's value or cost; judged by the other's own report",
        "start",
        _their_guess,
        true_guess,
    ),
    _probe(
        "their_quote",
        "which price the other will quote in this round, asked after the talk",
        "before",
        _their_quote,
        true_quote,
    ),
    _probe(
        "will_keep",
        "whether the other will quote what it has just announced, if it has",
        "before",
        _will_keep,
        true_keep,
    ),
)


def best_replies(game: Bargaining, view: View, belief: Any) -> tuple[int, ...] | None:
    """Return the quotes that earn most in this round if the other seat quotes as believed.

    If a trade is profitable, matching the quote exactly is best; otherwise every quote that leads
    to no trade is.
    """
    if view.talking or view.limit is None:
        return None
    other_limit = belief.get(other_seat(view.seat)) if isinstance(belief, Mapping) else belief
    if not isinstance(other_limit, int):
        return None
    surplus = gain(view.seat, view.limit, other_limit)
    if surplus > 0:
        return (other_limit,)
    unmet_quotes = range(other_limit) if view.is_buyer else range(other_limit + 1, HIGHEST + 1)
    return (*unmet_quotes, other_limit) if surplus == 0 else tuple(unmet_quotes)


def a_round(game: Bargaining, seat: Seat) -> tuple[float, float]:
    """Return the minimum and maximum payoff of a round."""
    limit = game.value if seat == SEATS[0] else game.cost
    if limit is None:
        return -float(HIGHEST), float(HIGHEST)
    ends = (gain(seat, limit, 0), gain(seat, limit, HIGHEST))
    return min(*ends, 0.0), max(*ends, 0.0)


def numbers(game: Bargaining, view: View) -> tuple[float, ...]:
    """Return five numbers that describe a view: the seat's own limit, whether there was a last bid
    and ask, that bid and that ask (0 if there were none), and the share of rounds left."""
    share_left = 1 - (view.round - 1) / game.rounds
    limit = 0.0 if view.limit is None else view.limit / HIGHEST
    last = view.last()
    if last is None or last.bid is None or last.ask is None:
        return (limit, 0.0, 0.0, 0.0, share_left)
    return (limit, 1.0, last.bid / HIGHEST, last.ask / HIGHEST, share_left)


GAME: GameSpec[State, Action, View] = GameSpec(
    name="bargaining",
    about="buyer and seller with hidden value and cost: messages, sealed quotes, midpoint price "
    "(rules of the PACT games)",
    game=Bargaining,
    words=BargainingWords,
    texts=TEXTS,
    action=Action,
    probes=PROBES,
    usual="responsive",
    people=PeopleSpec.read(
        __package__, texts={"field.text": "your message"}, settings={"rounds": (1, 20)}
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        acts_on=("their_quote",),
        doing=Doing("payoff_per_round", regret="optimum_regret", range=a_round),
        pays=over_all_rounds(a_round),
    ),
    learners=LearnerSpec(numbers=numbers),
)
