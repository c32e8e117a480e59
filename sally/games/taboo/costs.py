"""What each hint gave up, where the guesser's mind is declared.

A hint that finds the word is worth the points of its turn; one that does not is worth what the
best hints still earn after the guess that it brings. One hint more is exact, because every word is
tried; several more are the best known.
"""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played
from sally.games.association.minds import Mind
from sally.games.taboo.instances import Problem
from sally.games.taboo.metrics import game_of, guesser_at
from sally.games.taboo.rules import GIVER, Hint, Tries
from sally.games.taboo.solver import best_hint, guess

HOW = "the best hints for the guesser's declared mind, over the whole list"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Every hint that counted, of a giver whose guesser's mind is declared."""
    if seat != GIVER:
        return []
    replay, game, costs = played.replay, game_of(played), []
    for step in replay.steps():
        if GIVER not in (*step.moves, *step.forfeited):
            continue
        view = replay.view(step.turn, GIVER)
        mind, hint = guesser_at(played, len(view.past)), step.moves.get(GIVER)
        said = hint.word if isinstance(hint, Hint) else None
        refused = said is not None and game.objection(replay.state(step.turn), said) is not None
        if mind is None or refused:
            continue
        problem = game.row[len(view.past)]
        best, _ = best_hint(mind, problem, view.tries)
        most = worth(mind, problem, view.tries, best, game.hints)
        got = worth(mind, problem, view.tries, said, game.hints)
        costs.append(Cost(step.turn, float(max(most - got, 0)), (Hint(best),), HOW))
    return costs


def worth(mind: Mind, problem: Problem, tries: Tries, hint: str | None, hints: int) -> int:
    """The points of a round if this hint comes next and the best known ones after it."""
    while len(tries) < hints:
        named = None if hint is None else guess(mind, tries, hint)
        if named == problem.target:
            return hints - len(tries)
        tries = (*tries, (hint, named))
        hint = best_hint(mind, problem, tries)[0]
    return 0
