"""Regret in repeated games: over the horizon, in single rounds, and of predictions.

Void rounds pay nothing and are left out: regret is per played round, against the optimum of that
many rounds. A censored episode has no result, so it has no regret.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played, cache_by_seat
from sally.games.repeated_games.optimum import Floats
from sally.games.repeated_games.rounds import (
    automaton_of,
    expected_ahead,
    is_finished,
    joints,
    long_run_rate,
    not_decided,
    optimum_by_round,
    partner_of,
    rewards,
    rounds,
    rules,
)
from sally.games.repeated_games.rules import RepeatedGame, other_seat
from sally.metrics.answers import list_counted_reports

# --- over the horizon -----------------------------------------------------------------------------


@cache_by_seat
def functional_regret(played: Played, seat: Seat) -> float | None:
    """Return the exact optimum of the played rounds minus the reward, per played round.

    The result is None if some moves were not the seat's own choice, because the optimum assumes
    that the seat chose every move.
    """
    is_complete = is_finished(played) and not not_decided(played, seat)
    best = optimum_by_round(played, seat) if is_complete else None
    earned = rewards(played, seat)
    return (best[-1] - sum(earned)) / len(earned) if best and earned else None


class DecisionRegret(msgspec.Struct, frozen=True):
    """The expected loss of an episode's moves, summed over its decisions."""

    decisions: int
    loss: float
    at_random: float  # what even odds would have lost at the same states


def decisions_lost(played: Played, seat: Seat) -> DecisionRegret | None:
    """Return the total loss of the decisions at the visited states; None if the other seat has no
    automaton.

    The value of a move is the expected payoff of this round plus that of optimal play afterwards.
    The other seat's move in the round is not needed, so rounds that the other seat forfeited count
    too.
    """
    if automaton_of(played, seat) is None:
        return None
    n, total_loss, even = 0, 0.0, 0.0
    for past_round, values, _ in expected_ahead(played, seat):
        if past_round.own_move is not None:
            top = float(values.max())
            n, total_loss, even = (
                n + 1,
                total_loss + top - float(values[past_round.own_move]),
                even + top - values.mean(),
            )
    return DecisionRegret(n, total_loss, float(even))


def decision_regret(played: Played, seat: Seat) -> float | None:
    """Return the expected loss of the moves made, per decision.

    Unlike `functional_regret`, it does not depend on the luck of the partner's draws or, if the
    game ends by chance, on its length.
    """
    regret = decisions_lost(played, seat)
    return regret.loss / regret.decisions if regret is not None and regret.decisions else None


def running_regret(played: Played, seat: Seat) -> list[float] | None:
    """Return the regret per round after each played round; None if the partner has no automaton."""
    best = optimum_by_round(played, seat)
    if best is None:
        return None
    earned = accumulate(rewards(played, seat))
    return [(b - e) / n for n, (b, e) in enumerate(zip(best, earned, strict=True), 1)]


def functional_regret_published(played: Played, seat: Seat) -> float | None:
    """Return the optimal long-run rate minus the mean reward per played round."""
    automaton, earned = automaton_of(played, seat), rewards(played, seat)
    if automaton is None or not earned or not is_finished(played):
        return None
    return long_run_rate(rules(played), seat, *automaton) - sum(earned) / len(earned)


def horizon_term(played: Played, seat: Seat) -> float | None:
    """Return functional regret minus myopic regret, the signed effect of future rounds."""
    functional, myopic = functional_regret(played, seat), myopic_regret(played, seat)
    return None if functional is None or myopic is None else functional - myopic


# --- of single rounds -----------------------------------------------------------------------------


def loss(game: RepeatedGame, seat: Seat, own_move: int, other_move: int) -> float:
    """Return the one-round loss of a move relative to the best reply to the other seat's move."""
    best = game.best_replies(seat, other_move)[0]
    return float(game.pay(seat, best, other_move) - game.pay(seat, own_move, other_move))


def mean_loss(game: RepeatedGame, seat: Seat, moves: Sequence[int], other_move: int) -> float:
    """Return the mean loss of these moves."""
    return sum(loss(game, seat, m, other_move) for m in moves) / len(moves)


@lru_cache(maxsize=256)
def loss_table(game: RepeatedGame, seat: Seat) -> list[list[float]]:
    """Return each move's loss, indexed by (other's move, own move); the list is shared and must not
    be changed."""
    own_moves, other_moves = game.moves_of(seat), game.moves_of(other_seat(seat))
    return [[loss(game, seat, m, t) for m in own_moves] for t in other_moves]


@cache_by_seat
def myopic_regret(played: Played, seat: Seat) -> float | None:
    """Return the loss per played round relative to the best reply to the other seat's actual
    move."""
    table = loss_table(rules(played), seat)
    losses = [table[other_move][own_move] for own_move, other_move in joints(played, seat)]
    return sum(losses) / len(losses) if losses and is_finished(played) else None


def format_loss(played: Played, seat: Seat) -> float | None:
    """Return the mean payoff per round missed by forfeits, relative to the best replies.

    Void rounds count as rounds. The other seat's move is used although it was never revealed; a
    round that both seats forfeited costs nothing, because there was no move to reply to.
    """
    game, everything = rules(played), rounds(played, seat)
    if not everything:
        return None
    missed = [r.other_move for r in everything if r.own_move is None and r.other_move is not None]
    best = [float(game.pay(seat, game.best_replies(seat, t)[0], t)) for t in missed]
    return sum(best) / len(everything)


# --- of predictions -------------------------------------------------------------------------------


@cache_by_seat
def predictions(played: Played, seat: Seat) -> list[JudgedReport]:
    """Return the scored, readable predictions of the other seat's move in played rounds."""
    return [
        a
        for a in list_counted_reports(played, seat)
        if a.truth is not None and a.report.value is not None
    ]


def running_tom_percent(played: Played, seat: Seat) -> list[float]:
    """Return the running percentage of right predictions, one value for each scored prediction."""
    right = np.cumsum([a.report.value == a.truth for a in predictions(played, seat)])
    return [float(100 * r / n) for n, r in enumerate(right, 1)]


def tom_regret(played: Played, seat: Seat) -> float | None:
    """Return the mean loss per prediction if the seat had played the best reply to each
    prediction."""
    if not (answers := predictions(played, seat)):
        return None
    game = rules(played)
    table = loss_table(game, seat)
    losses = [
        _mean_over(table[_move(a.truth)], game.best_replies(seat, _move(a.report.value)))
        for a in answers
    ]
    return sum(losses) / len(losses)


def tom_regret_published(played: Played, seat: Seat) -> float | None:
    """Return the mean cost per prediction as published: each wrong prediction has a fixed price,
    a right one costs nothing."""
    partner, answers = partner_of(played, seat), predictions(played, seat)
    if not answers or partner is None:
        return None
    prices = cost_of_being_wrong(rules(played), seat, partner[0].name)
    if prices is None:
        return None
    wrong = [float(prices[_move(a.truth)]) for a in answers if a.report.value != a.truth]
    return sum(wrong) / len(answers)


def cost_of_being_wrong(game: RepeatedGame, seat: Seat, partner: str) -> Floats | None:
    """Return the fixed price of a wrong prediction in riemer2025, by the other seat's actual move.

    The price is the mean loss of the moves that are not best replies. Against a single-action
    partner it depends on that partner's move; against tit for tat it is averaged over the moves.
    The paper has no other partners, so the result for them is None.
    """
    if partner not in ("single_action", "tit_for_tat"):
        return None
    prices = []
    for other_move in game.moves_of(other_seat(seat)):
        best = game.best_replies(seat, other_move)
        worse = [m for m in game.moves_of(seat) if m not in best]
        prices.append(mean_loss(game, seat, worse, other_move) if worse else 0.0)
    by_move = np.array(prices)
    return by_move if partner == "single_action" else np.full_like(by_move, by_move.mean())


class MyopicLosses(msgspec.Struct, frozen=True):
    """The myopic loss of one decision, in two parts.

    The parts sum to the difference between the payoff of the best reply to the other player's
    actual move and the payoff of the move made.
    """

    inference: float  # best reply to the truth, less best reply to the prediction
    translation: float  # best reply to the prediction, less the move; below 0 if that was luck


@cache_by_seat
def myopic_losses(played: Played, seat: Seat) -> list[MyopicLosses]:
    """Return the losses of each played round with a prediction.

    If several moves are best replies to the prediction, the inference loss is the loss of the move
    made if that move is one of them, and otherwise the mean loss of the best replies.
    """
    if not (answers := predictions(played, seat)):
        return []
    table = loss_table(rules(played), seat)
    replies: dict[Any, tuple[int, ...]] = {}  # in these games they depend on the belief alone
    losses = []
    for answer in answers:
        own_move = played.replay.move(answer.turn, seat)
        if not isinstance(own_move, int):
            continue
        report, move_losses = answer.report, table[_move(answer.truth)]
        belief = report.odds if answer.question.kind == "odds" else report.value
        if belief not in replies:
            replies[belief] = _best_replies(played, seat, answer.turn, belief)
        inferred = (
            move_losses[own_move]
            if own_move in replies[belief]
            else _mean_over(move_losses, replies[belief])
        )
        losses.append(MyopicLosses(inferred, move_losses[own_move] - inferred))
    return losses


def _best_replies(played: Played, seat: Seat, turn: int, belief: Any) -> tuple[int, ...]:
    rational, replay = played.spec.measured.best_replies, played.replay
    about = {str(other_seat(seat)): belief}
    replies = rational and rational(replay.game, replay.view(turn, seat), about)
    if not isinstance(replies, tuple) or not replies:
        raise BadInput(f"{played.spec.name} does not define best replies to a prediction.")
    return replies


def mean_inference_loss(played: Played, seat: Seat) -> float | None:
    """Return the mean loss, over the rounds with a prediction, if the seat had always played a best
    reply to its prediction."""
    losses = myopic_losses(played, seat) if is_finished(played) else []
    return sum(round_losses.inference for round_losses in losses) / len(losses) if losses else None


def mean_translation_loss(played: Played, seat: Seat) -> float | None:
    """Return the mean loss, per round with a prediction, from not playing a best reply to that
    prediction."""
    losses = myopic_losses(played, seat) if is_finished(played) else []
    return (
        sum(round_losses.translation for round_losses in losses) / len(losses) if losses else None
    )


def _mean_over(move_losses: Sequence[float], moves: Sequence[int]) -> float:
    """Return the mean loss of these moves, given the loss of every move."""
    return (
        move_losses[moves[0]]
        if len(moves) == 1
        else sum(move_losses[m] for m in moves) / len(moves)
    )


def _move(value: Any) -> int:
    """Return a predicted or actual move as an int."""
    assert isinstance(value, int)  # every probe of this family asks for a move
    return value
