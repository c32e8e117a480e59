"""Single decisions of repeated games: losses, consistency, costs, and scores that include forfeited
decisions.

Against a partner that is an automaton, the value of a move is its payoff in the round plus the
payoff of optimal play afterwards, so cooperating with tit for tat costs nothing. Against any other
partner only the payoff in the round counts. The myopic figures of riemer2025 are separate metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, shared, terms_of
from sally.games.repeated_games import regret, rounds
from sally.games.repeated_games.optimum import SAME, Floats, pay_table
from sally.games.repeated_games.spec import a_round
from sally.metrics.consistency import DecisionFit

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
        mine: int,
        truth: int,
    ) -> None:
        self.turn, self.table, self.mine, self.truth = turn, table, mine, truth
        # by own move, its value if the other moves as believed
        self.expected: list[float] = (
            self._against(belief) if isinstance(belief, int) else (table @ list(belief)).tolist()
        )
        most = max(self.expected) - SAME
        self.best = [m for m, worth in enumerate(self.expected) if worth >= most]

    @property
    def decides(self) -> bool:
        """Whether the best reply depends on the other seat's move."""
        sets = {
            tuple(m for m, worth in enumerate(column) if worth >= max(column) - SAME)
            for column in self.table.T.tolist()
        }
        return len(sets) > 1

    def _against(self, theirs: int) -> list[float]:
        """Return the value of each own move against the other seat's move `theirs`."""
        worth: list[float] = self.table[:, theirs].tolist()  # faster than numpy for 2 or 3 moves
        return worth

    @property
    def split(self) -> tuple[float, float, float]:
        """Return the inference, translation and total loss.

        If several moves are best replies to the prediction, the inference loss is the loss of the
        move made if that move is one of them, and otherwise the mean loss of the best replies.
        """
        expected, best, worth = self.expected, self.best, self._against(self.truth)
        most = max(worth)
        counted = [self.mine] if self.mine in best else best
        inferred = 0.0
        for move in counted:
            inferred += most - worth[move]
        translated = max(expected) - expected[self.mine]
        return inferred / len(counted), translated, most - worth[self.mine]


@shared
def predicted_rounds(played: Played, seat: Seat) -> list[PredictedRound]:
    """Return the rounds with both a readable prediction and a move."""
    made = regret.predictions(played, seat)
    if not made:
        return []  # computing what moves are worth takes long
    worth = rounds.worths_ahead(played, seat)
    alone = pay_table(rounds.rules(played), seat)
    found = []
    for answer in made:
        mine: Any = played.replay.move(answer.turn, seat)
        report, truth = answer.report, answer.truth
        belief: Any = report.odds if answer.question.kind == "odds" else report.value
        if isinstance(mine, int) and isinstance(truth, int):
            table = worth.get(answer.turn, alone)
            found.append(PredictedRound(answer.turn, table, belief, mine, truth))
    return found


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses over the rounds with a prediction."""
    done = rounds.finished(played)
    split = [each.split for each in predicted_rounds(played, seat)] if done else []
    return terms_of(split, regret.format_loss(played, seat))


def ACTING(played: Played, seat: Seat) -> list[DecisionFit]:
    """Return, for each round with a prediction, whether the move is a best reply to the
    prediction."""
    return [
        DecisionFit(
            each.turn,
            each.mine in each.best,
            len(each.best) / len(each.table),
            tuple(each.best),
            each.decides,
        )
        for each in predicted_rounds(played, seat)
    ]


# --- costs ----------------------------------------------------------------------------------------

EXACT = "optimal play against this partner, exactly"
ROUND = "this round alone, by what the other did"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of each round in which the seat was to move and the other seat moved."""
    if rounds.automaton_of(played, seat) is not None:
        return [
            _cost(each, worth, void, EXACT)
            for each, worth, void in rounds.expected_ahead(played, seat)
            if each.mine is None or each.theirs is not None
        ]
    pay = pay_table(rounds.rules(played), seat)
    return [
        _cost(each, pay[:, each.theirs], 0.0, ROUND)
        for each in rounds.rounds(played, seat)
        if each.theirs is not None
    ]


def _cost(each: rounds.Round, worth: Floats, void: float, how: str) -> Cost:
    """Return a round's cost, given the value of each move and of a void round."""
    got = void if each.mine is None else float(worth[each.mine])
    lost = float(worth.max()) - got
    slack = SAME * max(1.0, float(np.abs(worth).max()))
    best = tuple(int(m) for m in np.flatnonzero(worth >= worth.max() - slack))
    return Cost(each.turn, 0.0 if abs(lost) <= slack else lost, best, how)


# --- intention to treat ---------------------------------------------------------------------------


def INTENDED(played: Played, seat: Seat) -> tuple[float, float, float | None]:
    """Return three payoffs per round: with void and unplayed rounds counted as 0, with these rounds
    counted at their best, and under optimal play.

    At its best, a round that the seat forfeited pays what the best reply to the other's move would
    have paid; an unplayed round, or one that both forfeited, pays the maximum of a round.
    """
    game, everything = rounds.rules(played), rounds.rounds(played, seat)
    most = a_round(game, seat)[1]
    earned = sum(rounds.rewards(played, seat))
    missed = sum(
        most if r.theirs is None else game.pay(seat, game.best_replies(seat, r.theirs)[0], r.theirs)
        for r in everything
        if r.mine is None
    )
    due = len(everything) if rounds.finished(played) else game.rounds
    unplayed = most * (due - len(everything))
    best = rounds.optimum_of(played, seat, due)
    return earned / due, (earned + missed + unplayed) / due, best
