"""Where the losses of a repeated game come from, round by round.

Against a partner that is an automaton, a move is worth what it pays in its round and what optimal
play gets from there on: so cooperating with tit for tat gives nothing up. Against anybody else the
round alone counts. The myopic figures of riemer2025 are metrics of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, Terms, shared, terms_of
from sally.games.repeated_games import myopic, rounds
from sally.games.repeated_games.optimum import Floats, pay_table

SAME = 1e-9


class Predicted:
    """A round with a prediction: what pairs of moves are worth, what was thought and done."""

    __slots__ = ("best", "hoped", "mine", "table", "truth", "turn")

    def __init__(
        self,
        turn: int,
        table: Floats,  # (mine, theirs) -> worth
        belief: int | Sequence[float],
        mine: int,
        truth: int,
    ) -> None:
        self.turn, self.table, self.mine, self.truth = turn, table, mine, truth
        # by own move, what it is worth if the other moves as believed
        self.hoped: list[float] = (
            self._beside(belief) if isinstance(belief, int) else (table @ list(belief)).tolist()
        )
        most = max(self.hoped) - SAME
        self.best = [m for m, worth in enumerate(self.hoped) if worth >= most]

    def _beside(self, theirs: int) -> list[float]:
        """By own move, what it is worth beside this one."""
        worth: list[float] = self.table[:, theirs].tolist()  # quicker for two or three moves
        return worth

    @property
    def split(self) -> tuple[float, float, float]:
        """Inference, translation, and all that was missed.

        Where several moves are best replies to the prediction, the one that was made counts if
        it is among them, else their mean.
        """
        hoped, best, worth = self.hoped, self.best, self._beside(self.truth)
        most = max(worth)
        made = [self.mine] if self.mine in best else best
        inferred = 0.0
        for move in made:
            inferred += most - worth[move]
        return inferred / len(made), max(hoped) - hoped[self.mine], most - worth[self.mine]


@shared
def beside_predictions(played: Played, seat: Seat) -> list[Predicted]:
    """The rounds in which a readable prediction stands beside a move."""
    made = rounds.predictions(played, seat)
    if not made:
        return []  # what moves are worth takes long to work out
    worth = rounds.worths_ahead(played, seat)
    alone = pay_table(rounds.rules(played), seat)
    found = []
    for answer in made:
        mine: Any = played.replay.move(answer.turn, seat)
        report, truth = answer.report, answer.truth
        belief: Any = report.odds if answer.question.kind == "odds" else report.value
        if isinstance(mine, int) and isinstance(truth, int):
            table = worth.get(answer.turn, alone)
            found.append(Predicted(answer.turn, table, belief, mine, truth))
    return found


def LOSSES(played: Played, seat: Seat) -> Terms:
    """The mean losses of the rounds that were predicted."""
    done = rounds.finished(played)
    split = [each.split for each in beside_predictions(played, seat)] if done else []
    return terms_of(split, myopic.format_loss(played, seat))
