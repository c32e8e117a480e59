"""Metrics of level-k games: depth, and the losses from too little or too much depth.

The losses are exact if the other seats declare their minds, and undefined otherwise.
"""

from __future__ import annotations

from math import inf

import msgspec

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat, mean
from sally.games.level_k.depths import Depth, depth_of, estimate_depth
from sally.games.level_k.minds import mind_of
from sally.games.level_k.rules import LevelGame, View
from sally.games.level_k.solvers import SAME, Odds, pay_table, worths
from sally.games.level_k.spec import minds_of_others


class Round(msgspec.Struct, frozen=True):
    """A played round from one seat's perspective."""

    turn: int
    view: View
    own_move: int


def game_of(played: Played) -> LevelGame:
    return played.replay.rules(LevelGame)


@cache_by_seat
def rounds(played: Played, seat: Seat) -> list[Round]:
    """Return the rounds that were not void."""
    return [
        Round(step.turn, played.replay.view(step.turn, seat), step.moves[seat])
        for step in played.replay.steps()
        if not step.forfeited
    ]


@cache_by_seat
def payoffs_lost(played: Played, seat: Seat) -> list[float] | None:
    """Return, for each played round, the expected payoff lost relative to the best reply to the
    declared minds.

    None if a seat declares no mind, or if the combinations of moves are too many to enumerate.
    """
    game, losses = game_of(played), []
    others, minds = game.others(seat), minds_of_others(played.replay, seat)
    for past_round in rounds(played, seat):
        odds: list[Odds] = []
        for other_seat, mind in zip(others, minds, strict=True):
            if mind is None:
                return None
            odds.append(mind.does(played.replay.view(past_round.turn, other_seat)))
        values = worths(game, seat, odds)
        if values is None:
            return None
        losses.append(max(values) - values[game.menu(seat).index(past_round.own_move)])
    return losses


def _won_per_round(played: Played, seat: Seat) -> float | None:
    payoffs, n = played.episode.payoffs, len(rounds(played, seat))
    return None if payoffs is None or not n else payoffs[seat] / n


def random_won_per_round(setup: Setup, seat: Seat) -> float | None:
    """Return the expected payoff per round of a uniformly random player.

    The value is exact if it does not depend on the others' moves (matching pennies), if their move
    probabilities are the same in every round, or if there is only one round; otherwise it is None.
    """
    game = registry.game(setup.instance.game).build(setup.instance.params)
    assert isinstance(game, LevelGame)
    if len(game.seats) == 2:
        by_reply = pay_table(game, seat).mean(axis=0)
        if float(by_reply.max() - by_reply.min()) <= SAME:
            return float(by_reply.mean())
    odds = []
    for other_seat in game.others(seat):
        mind = mind_of(game, other_seat, setup.lineup.get(str(other_seat)))
        if mind is None or (mind.always is None and game.rounds > 1):
            return None
        odds.append(mind.always or mind.does(game.observe(game.start(), other_seat)))
    values = worths(game, seat, odds)
    return None if values is None else sum(values) / len(values)


def _regret(played: Played, seat: Seat) -> float | None:
    losses = payoffs_lost(played, seat)
    return None if losses is None or played.episode.payoffs is None else mean(losses)


def _best_replies(played: Played, seat: Seat) -> float | None:
    losses = payoffs_lost(played, seat)
    return None if losses is None else mean([100.0 * (loss <= SAME) for loss in losses])


def _depths(played: Played, seat: Seat) -> list[float]:
    depths = [depth_of(game_of(played), past_round.own_move) for past_round in rounds(played, seat)]
    return [float(depth) for depth in depths if depth is not None]


def _depth_played(played: Played, seat: Seat) -> float | None:
    return mean(_depths(played, seat))


def _over_thinking(played: Played, seat: Seat) -> float | None:
    depths = {None if mind is None else mind.depth for mind in minds_of_others(played.replay, seat)}
    other_depth = depths.pop() if len(depths) == 1 else None
    return (
        None if other_depth is None else mean([d - other_depth - 1 for d in _depths(played, seat)])
    )


@cache_by_seat
def estimate(played: Played, seat: Seat) -> Depth | None:
    """Return the estimated depth of a seat's moves in an episode."""
    moves = [(past_round.view, past_round.own_move) for past_round in rounds(played, seat)]
    return estimate_depth(game_of(played), seat, moves)


def _estimated_depth(played: Played, seat: Seat) -> float | None:
    depth = estimate(played, seat)
    return None if depth is None else depth.mean


def _estimated_depth_sd(played: Played, seat: Seat) -> float | None:
    depth = estimate(played, seat)
    return None if depth is None else depth.sd


METRICS = (
    Metric(
        name="won_per_round",
        about="payoff per round that was played",
        measure=_won_per_round,
        at_random=random_won_per_round,
        better="higher",
        unit="payoff",
        headline=True,
    ),
    Metric(
        name="depth_regret",
        about="payoff per round that the best reply to the others' declared odds would add",
        measure=_regret,
        better="lower",
        unit="payoff",
        bounds=(0, inf),
        headline=True,
    ),
    Metric(
        name="best_reply_percent",
        about="share of rounds in which the move was a best reply to the others' declared odds",
        measure=_best_replies,
        better="higher",
        unit="%",
        bounds=(0, 100),
    ),
    Metric(
        name="depth_played",
        about="mean level of the moves, where a number belongs to one (requests and contests)",
        measure=_depth_played,
        unit="steps",
        bounds=(0, inf),
        headline=True,
    ),
    Metric(
        name="over_thinking",
        about="level played less the right one, which is one above the others' declared level",
        measure=_over_thinking,
        unit="steps",
    ),
    Metric(
        name="estimated_depth",
        about="mean of levels 0 to 3 given the moves, each as likely at first, errors of 10 %",
        measure=_estimated_depth,
        unit="steps",
        bounds=(0, 3),
    ),
    Metric(
        name="estimated_depth_sd",
        about="how uncertain estimated_depth is: 1.12 if nothing is known, 0 if the level is",
        measure=_estimated_depth_sd,
        unit="steps",
        bounds=(0, 1.5),  # half of 0 to 3
    ),
)
