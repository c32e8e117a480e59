"""Single decisions of Codenames: losses, costs, and training tasks."""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms
from sally.core.rules.training import Split, Training, by_problem
from sally.games.association.measures import mean
from sally.games.codenames.instances import frozen
from sally.games.codenames.metrics import scored_at, split
from sally.games.codenames.rules import GIVER, Codenames

CLUES = "own cards in this turn, by the guesser's declared mind and every word of the list"
CARDS = "worth of a card in this turn, by the exact posterior over the giver's cards"


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses, in cards, over the clues with a prediction."""
    parts = split(played, seat)
    return Terms(
        inference=mean([lost for lost, _ in parts]),
        translation=mean([lost for _, lost in parts]),
    )


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the cost of each clue (or, on small boards, each guess), if the partner is
    declared."""
    how = CLUES if seat == GIVER else CARDS
    return [
        Cost(turn, max(each.best - each.worth, 0.0), each.moves, how)
        for turn, each in scored_at(played, seat)
    ]


def _training_tasks(game: str) -> Split:
    """Return the stored problems, split into training, validation and held-out parts; the learner
    gives clues to the partner `associates`."""
    rows = range(len(frozen(Codenames().set).rows))
    problems = {f"{game}_{n}": {"number": n} for n in rows}
    return by_problem(game, "giver", problems, {"guesser": PlayerSpec("associates")})


TRAINING = Training(_training_tasks)
