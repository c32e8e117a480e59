"""What each clue and each card gave up in its turn, where the partner's mind is declared."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played
from sally.games.codenames.metrics import scored_at
from sally.games.codenames.states import GIVER

CLUES = "own cards in this turn, by the guesser's declared mind and every word of the list"
CARDS = "worth of a card in this turn, by the exact posterior over the giver's cards"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Every clue, or every card on a small board, as far as the partner's mind is known."""
    how = CLUES if seat == GIVER else CARDS
    return [
        Cost(turn, max(each.best - each.worth, 0.0), each.moves, how)
        for turn, each in scored_at(played, seat)
    ]
