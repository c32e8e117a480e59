"""The spec of public goods: rules, words and probes about the others' contributions."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.rules.game import (
    Doing,
    GameSpec,
    LearnerSpec,
    MeasureSpec,
    PeopleSpec,
    Seat,
    over_all_rounds,
)
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.core.rules.simultaneous import Moves, State, View, mean_of
from sally.games.public_goods.rules import SEATS, PublicGoods
from sally.games.public_goods.words import TEXTS, PublicGoodsWords

Past = Trajectory[State, int, View]
OTHERS = "others"
SHOWN_ROLES = 4


def _asks(probe: str) -> Callable[[PublicGoods, View, Seat], tuple[Question, ...]]:
    def asks(game: PublicGoods, view: View, seat: Seat) -> tuple[Question, ...]:
        choices = tuple(range(game.tokens + 1))
        return (Question(probe, "choice", choices, OTHERS, numeric=True),)

    return asks


def _others(replay: Past, place: At) -> Moves | None:
    """Return the other players' contributions in a round; None if the round was void."""
    if replay.forfeited.get(place.turn):
        return None
    seats = [seat for seat in replay.game.seats if seat != place.seat]
    moves = [replay.move(place.turn, seat) for seat in seats]
    return tuple(move for move in moves if move is not None) if None not in moves else None


def their_mean(replay: Past, place: At) -> int | None:
    """Return the rounded mean contribution of the others in the same round; None if the round was
    void."""
    moves = _others(replay, place)
    return None if moves is None else mean_of(moves)


def their_least(replay: Past, place: At) -> int | None:
    """Return the smallest contribution of the others in the same round; None if the round was
    void."""
    moves = _others(replay, place)
    return None if moves is None else min(moves)


PROBES = (
    Probe(
        "their_mean",
        "what the others will give on average, rounded to a whole number",
        "before",
        "choice",
        SEATS,
        _asks("their_mean"),
        their_mean,
    ),
    Probe(
        "their_least",
        "the smallest contribution of any other player",
        "before",
        "choice",
        SEATS,
        _asks("their_least"),
        their_least,
    ),
)


def a_round(game: PublicGoods, seat: Seat) -> tuple[float, float]:
    """Return the minimum and maximum payoff of one round."""
    n, e = game.players, game.tokens
    paid = [
        game.round_payoffs((own_move, *(other_move,) * (n - 1)))[0]
        for own_move in (0, e)
        for other_move in (0, e)
    ]
    return min(paid), max(paid)


def numbers(game: PublicGoods, view: View) -> tuple[float, ...]:
    """Return whether a round has been played, the seat's own contribution and the others' mean
    contribution in the last round (as shares of the endowment), and the share of rounds left."""
    share_left = 1 - (view.round - 1) / game.rounds
    last = view.last
    if last is None:
        return (0.0, 0.0, 0.0, share_left)
    own_move = last[view.number]
    mean_move = (sum(last) - own_move) / (game.players - 1)
    return (1.0, own_move / game.tokens, mean_move / game.tokens, share_left)


GAME: GameSpec[State, int, View] = GameSpec(
    name="public_goods",
    about="give tokens to a pot that is multiplied and shared: what pays each least pays all most",
    game=PublicGoods,
    words=PublicGoodsWords,
    texts=TEXTS,
    probes=PROBES,
    usual="conditional_cooperator",
    people=PeopleSpec.read(
        __package__,
        roles={str(seat): f"Player {n}" for n, seat in enumerate(SEATS[:SHOWN_ROLES], 1)},
        settings={"rounds": (1, 100), "players": (2, 20)},
    ),
    measured=MeasureSpec(
        doing=Doing(
            "earned_per_round",
            range=a_round,
            no_split="the best contribution does not depend on what the others give",
        ),
        pays=over_all_rounds(a_round),
        reference="free_rider",
    ),
    learners=LearnerSpec(numbers=numbers),
)
