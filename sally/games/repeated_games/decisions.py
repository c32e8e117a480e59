"""Single decisions of repeated games: losses, consistency, costs, scores that include forfeited
decisions, and rounds with the beliefs stated before them.

Against a partner that is an automaton, the value of a move is its payoff in the round plus the
payoff of optimal play afterwards, so cooperating with tit for tat costs nothing. Against any other
partner only the payoff in the round counts. The myopic figures of riemer2025 are separate metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import (
    Cost,
    JudgedReport,
    Played,
    Terms,
    cache_by_seat,
    terms_of,
)
from sally.games.repeated_games import regret, rounds
from sally.games.repeated_games.optimum import SAME, Floats, pay_table
from sally.games.repeated_games.rules import RepeatedGame, other_seat
from sally.games.repeated_games.spec import a_round
from sally.metrics.answers import reports_before_moves
from sally.metrics.consistency import DecisionFit
from sally.parts.beliefs import BeliefDecision, decision_of_round

# --- losses, and moves that fit the prediction ----------------------------------------------------


class PredictedRound:
    """A round with a prediction: the value of each pair of moves, the predicted probabilities
    and the seat's move."""

    __slots__ = ("best", "expected", "mine", "table", "truth", "turn")

    def __init__(
        self,
        turn: int,
        table: Floats,  # (mine, theirs) -> values
        belief: int | Sequence[float],
        own_move: int,
        truth: int,
    ) -> None:
        self.turn, self.table, self.mine, self.truth = turn, table, own_move, truth
        # by own move, its value if the other moves as believed
        self.expected: list[float] = (
            self._against(belief) if isinstance(belief, int) else (table @ list(belief)).tolist()
        )
        largest = max(self.expected) - SAME
        self.best = [m for m, value in enumerate(self.expected) if value >= largest]

    @property
    def decides(self) -> bool:
        """Whether the best reply depends on the other seat's move."""
        sets = {
            tuple(m for m, value in enumerate(column) if value >= max(column) - SAME)
            for column in self.table.T.tolist()
        }
        return len(sets) > 1

    def _against(self, other_move: int) -> list[float]:
        """Return the value of each own move against the other seat's move `other_move`."""
        # faster than numpy for 2 or 3 moves
        values: list[float] = self.table[:, other_move].tolist()
        return values

    @property
    def split(self) -> tuple[float, float, float]:
        """Return the inference, translation and total loss.

        If several moves are best replies to the prediction, the inference loss is the loss of the
        move made if that move is one of them, and otherwise the mean loss of the best replies.
        """
        expected, best, values = self.expected, self.best, self._against(self.truth)
        largest = max(values)
        counted = [self.mine] if self.mine in best else best
        inferred = 0.0
        for move in counted:
            inferred += largest - values[move]
        translated = max(expected) - expected[self.mine]
        return inferred / len(counted), translated, largest - values[self.mine]


@cache_by_seat
def predicted_rounds(played: Played, seat: Seat) -> list[PredictedRound]:
    """Return the rounds with both a readable prediction and a move."""
    predictions = regret.predictions(played, seat)
    if not predictions:
        return []  # computing what moves are worth takes long
    tables_ahead = rounds.worths_ahead(played, seat)
    alone = pay_table(rounds.rules(played), seat)
    rounds_found = []
    for answer in predictions:
        own_move: Any = played.replay.move(answer.turn, seat)
        report, truth = answer.report, answer.truth
        belief: Any = report.odds if answer.question.kind == "odds" else report.value
        if isinstance(own_move, int) and isinstance(truth, int):
            table = tables_ahead.get(answer.turn, alone)
            rounds_found.append(PredictedRound(answer.turn, table, belief, own_move, truth))
    return rounds_found


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses over the rounds with a prediction."""
    done = rounds.is_finished(played)
    split = [predicted.split for predicted in predicted_rounds(played, seat)] if done else []
    return terms_of(split, regret.format_loss(played, seat))


def ACTING(played: Played, seat: Seat) -> list[DecisionFit]:
    """Return, for each round with a prediction, whether the move is a best reply to the
    prediction."""
    return [
        DecisionFit(
            predicted.turn,
            predicted.mine in predicted.best,
            len(predicted.best) / len(predicted.table),
            tuple(predicted.best),
            predicted.decides,
        )
        for predicted in predicted_rounds(played, seat)
    ]


# --- costs ----------------------------------------------------------------------------------------

EXACT = "optimal play against this partner, exactly"
ROUND = "this round alone, by what the other did"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of each round in which the seat was to move and the other seat moved."""
    if rounds.automaton_of(played, seat) is not None:
        return [
            _cost(past_round, values, void, EXACT)
            for past_round, values, void in rounds.expected_ahead(played, seat)
            if past_round.own_move is None or past_round.other_move is not None
        ]
    pay = pay_table(rounds.rules(played), seat)
    return [
        _cost(past_round, pay[:, past_round.other_move], 0.0, ROUND)
        for past_round in rounds.rounds(played, seat)
        if past_round.other_move is not None
    ]


def _cost(past_round: rounds.Round, values: Floats, void: float, criterion: str) -> Cost:
    """Return a round's cost, given the value of each move and of a void round."""
    value = void if past_round.own_move is None else float(values[past_round.own_move])
    loss = float(values.max()) - value
    slack = SAME * max(1.0, float(np.abs(values).max()))
    best = tuple(int(m) for m in np.flatnonzero(values >= values.max() - slack))
    return Cost(past_round.turn, 0.0 if abs(loss) <= slack else loss, best, criterion)


# --- intention to treat ---------------------------------------------------------------------------


def INTENDED(played: Played, seat: Seat) -> tuple[float, float, float | None]:
    """Return three payoffs per round: with void and unplayed rounds counted as 0, with these rounds
    counted at their best, and under optimal play.

    At its best, a round that the seat forfeited pays what the best reply to the other's move would
    have paid; an unplayed round, or one that both forfeited, pays the maximum of a round.
    """
    game, everything = rounds.rules(played), rounds.rounds(played, seat)
    highest_pay = a_round(game, seat)[1]
    earned = sum(rounds.rewards(played, seat))
    missed = sum(
        highest_pay
        if r.other_move is None
        else game.pay(seat, game.best_replies(seat, r.other_move)[0], r.other_move)
        for r in everything
        if r.own_move is None
    )
    due = len(everything) if rounds.is_finished(played) else game.rounds
    unplayed = highest_pay * (due - len(everything))
    best = rounds.optimum_of(played, seat, due)
    return earned / due, (earned + missed + unplayed) / due, best


# --- stated beliefs -------------------------------------------------------------------------------


def BELIEFS(played: Played) -> Iterator[BeliefDecision]:
    """Yield the rounds for which a belief was stated before the move; only the payoff of the round
    counts."""
    for seat, answer in reports_before_moves(played):
        decision = _decision(played, seat, answer)
        if decision is not None:
            yield decision


def _decision(played: Played, seat: Seat, answer: JudgedReport) -> BeliefDecision | None:
    game, turn = played.replay.rules(RepeatedGame), answer.turn
    move: Any = played.replay.move(turn, seat)
    if not isinstance(move, int):
        return None
    names, partner_names = game.names_of(seat), game.names_of(other_seat(seat))
    odds = answer.report.odds or tuple(
        float(choice == answer.report.value) for choice in answer.question.choices
    )
    pays = [[float(game.pay(seat, action, choice)) for choice in range(len(partner_names))]
            for action in range(len(names))]  # fmt: skip
    truth = answer.truth
    best = {_best(column) for column in zip(*pays, strict=True)}
    return decision_of_round(
        played,
        seat,
        turn,
        # Names may differ by instance.
        actions=tuple(f"move {number + 1}" for number in range(len(names))),
        move=move,
        game=repr(pays),
        stated_worth=tuple(sum(p * pay for p, pay in zip(odds, row, strict=True)) for row in pays),
        expected=odds if names == partner_names else None,
        true_worth=tuple(row[truth] for row in pays) if isinstance(truth, int) else None,
        decides=len(best) > 1,
    )


def _best(values: Sequence[float]) -> tuple[int, ...]:
    return tuple(n for n, value in enumerate(values) if value == max(values))
