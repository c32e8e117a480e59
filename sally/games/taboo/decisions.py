"""Single decisions of Taboo: the points lost by each hint, the losses by cause, and the training
split."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms
from sally.games.association.conditions import series_training
from sally.games.association.measures import declared_mind, mean_terms
from sally.games.taboo.instances import frozen
from sally.games.taboo.metrics import split
from sally.games.taboo.rules import GIVER, GUESSER, Hint, Taboo
from sally.games.taboo.solver import best_hint, points_with_hint

HOW = "the best hints for the guesser's declared mind, over the whole list"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the points that the giver lost in each turn, compared with the best hint.

    Turns with a rejected hint are left out, as are rounds in which the guesser's associations are
    not known.

    The value of a hint that finds the word is the points of its turn; the value of any other hint
    is the points that the best later hints can still earn after the resulting guess. With one hint
    left the value is exact, because every word is tried; with more hints left it is the best value
    found.
    """
    if seat != GIVER:
        return []
    replay, game, costs = played.replay, played.replay.rules(Taboo), []
    for step in replay.steps():
        if GIVER not in (*step.moves, *step.forfeited):
            continue
        view = replay.view(step.turn, GIVER)
        mind, hint = declared_mind(played, GUESSER, len(view.past)), step.moves.get(GIVER)
        hint_word = hint.word if isinstance(hint, Hint) else None
        refused = (
            hint_word is not None and game.objection(replay.state(step.turn), hint_word) is not None
        )
        if mind is None or refused:
            continue
        problem = game.row[len(view.past)]
        best, _ = best_hint(mind, problem, view.tries)
        best_points = points_with_hint(mind, problem, view.tries, best, game.hints)
        points = points_with_hint(mind, problem, view.tries, hint_word, game.hints)
        costs.append(Cost(step.turn, float(max(best_points - points, 0)), (Hint(best),), HOW))
    return costs


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses (0 to 1) over the hints given at points where some hint would have
    led the guesser to the word."""
    due = [seat in forfeiting_seats for forfeiting_seats in played.replay.forfeited.values()]
    n_asked = sum(seat in moves for moves in played.replay.moves) + sum(due)
    return mean_terms(split(played, seat), sum(due) / n_asked if n_asked else None)


TRAINING = series_training(lambda: frozen(Taboo().set), GIVER, {GUESSER: "associates"})
