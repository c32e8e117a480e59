"""Single decisions of Codenames: losses, costs, and training tasks."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms
from sally.games.association.conditions import series_training
from sally.games.association.measures import mean_terms
from sally.games.codenames.instances import frozen
from sally.games.codenames.metrics import scored_at, split
from sally.games.codenames.rules import GIVER, GUESSER, Codenames

CLUES = "own cards in this turn, by the guesser's declared mind and every word of the list"
CARDS = "worth of a card in this turn, by the exact posterior over the giver's cards"


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses, in cards, over the clues with a prediction."""
    return mean_terms(split(played, seat))


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the payoff lost by each clue or, on small boards, by each guess. The list is empty
    unless the partner is scripted, because only then its replies can be computed."""
    criterion = CLUES if seat == GIVER else CARDS
    return [
        Cost(turn, max(score.best - score.value, 0.0), score.moves, criterion)
        for turn, score in scored_at(played, seat)
    ]


TRAINING = series_training(lambda: frozen(Codenames().set), GIVER, {GUESSER: "associates"})
