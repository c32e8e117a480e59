"""The spec of repeated games: rules, words, probes, and the three games of riemer2025."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
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
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame, State, View, other_seat
from sally.games.repeated_games.words import TEXTS, RepeatedWords

_BEATEN_BY = ((0, -1, 1), (1, 0, -1), (-1, 1, 0))  # move 0 loses to 1, 1 to 2, 2 to 0

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "rps": {
        "matrix": [[[p, -p] for p in row] for row in _BEATEN_BY],
        "names": ["R", "P", "S"],
        "signed": True,
    },
    "ibs": {"matrix": [[[10, 7], [0, 0]], [[0, 0], [7, 10]]], "names": ["J", "F"]},
    "ipd": {"matrix": [[[8, 8], [0, 10]], [[10, 0], [5, 5]]], "names": ["J", "F"]},
}


def _about_the_other(name: str, kind: Any) -> Any:
    @cache  # the same in every round
    def about(them: Seat, choices: int) -> tuple[Question, ...]:
        return (Question(name, kind, tuple(range(choices)), about=them),)

    def asks(game: RepeatedGame, view: View, seat: Seat) -> tuple[Question, ...]:
        them = other_seat(seat)
        return about(them, len(game.names_of(them)))

    return asks


def their_move(replay: Trajectory[State, int, View], place: At) -> int | None:
    """Return the other seat's move in the same round; None if the round was void."""
    forfeits = replay.forfeited.get(place.turn, ())
    return None if forfeits else replay.move(place.turn, other_seat(place.seat))


def _probe(name: str, about: str, point: Point, kind: Any = "choice") -> Probe:
    asks = _about_the_other(name, kind)
    return Probe(name, about, point, kind, (AGENT, PARTNER), asks, their_move)


PROBES = (
    _probe("their_move", "what the other will pick, asked before one's own move", "before"),
    _probe(
        "their_move_given_mine",
        "what the other picks in this round, asked with one's own move stated",
        "after",
    ),
    _probe("their_odds", "how likely the other is to pick each option", "before", "odds"),
)


@lru_cache(maxsize=256)
def a_round(game: RepeatedGame, seat: Seat) -> tuple[float, float]:
    """Return the minimum and maximum payoff of one round."""
    own_moves, other_moves = game.moves_of(seat), game.moves_of(other_seat(seat))
    pays = [float(game.pay(seat, m, t)) for m in own_moves for t in other_moves]
    return min(pays), max(pays)


def best_replies(
    game: RepeatedGame, view: View, belief: Mapping[str, int | Sequence[float]]
) -> tuple[int, ...] | None:
    """Return the moves that pay most in this round, given a predicted move or its probabilities."""
    if not belief:
        return None
    (prediction,) = belief.values()
    if isinstance(prediction, int):
        return game.best_replies(view.seat, prediction)
    own_moves = range(len(game.names_of(view.seat)))
    payoffs = [
        sum(p * game.pay(view.seat, m, t) for t, p in enumerate(prediction)) for m in own_moves
    ]
    return tuple(m for m in own_moves if payoffs[m] >= max(payoffs) - 1e-12)


def numbers(game: RepeatedGame, view: View) -> tuple[float, ...]:
    """Return the last played round as one-hot own and other's move (zeros in the first round),
    and the share of rounds left."""
    n = len(game.moves_of(view.seat))
    features = [0.0] * (n + len(game.moves_of(other_seat(view.seat))) + 1)
    if view.last is not None:
        features[view.last[0]] = features[n + view.last[1]] = 1.0
    features[-1] = 1 - (view.round - 1) / game.rounds
    return tuple(features)


GAME: GameSpec[State, int, View] = GameSpec(
    name="repeated_games",
    about="any two-player matrix game, repeated; rps, ibs and ipd by name (riemer2025)",
    game=RepeatedGame,
    words=RepeatedWords,
    texts=TEXTS,
    probes=PROBES,
    presets=PRESETS,
    abouts={
        "rps": "rock paper scissors, repeated (riemer2025)",
        "ibs": "battle of the sexes, repeated: meet, but where? (riemer2025)",
        "ipd": "prisoner's dilemma, repeated (riemer2025)",
    },
    usual="tit_for_tat",
    words_version=4,
    people=PeopleSpec.read(
        __package__,
        visitors={"rps": {"names": ["Rock", "Paper", "Scissors"]}},
        settings={"rounds": (1, 100)},
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        doing=Doing(
            "reward_per_round",
            regret="functional_regret",
            # where chance ends the game, short games are mostly luck
            regret_in=lambda game: "decision_regret" if game.stop_chance else "",
            range=a_round,
        ),
        pays=over_all_rounds(a_round),
        same_question=("their_move_given_mine", "their_move", "their_odds"),
    ),
    learners=LearnerSpec(numbers=numbers),
)
