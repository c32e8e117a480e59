"""What each round of a level-k game gave up, by the others' declared odds or by what they did."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played
from sally.games.level_k.metrics import game_of
from sally.games.level_k.solvers import SAME, Odds, worths
from sally.games.level_k.spec import minds_of_others

DECLARED = "the others' declared odds, exactly"
DONE = "what the others did in this round"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Every round in which the seat alone decided whether it counted."""
    costs = []
    for step in played.replay.steps():
        if step.forfeited not in ((), (seat,)):
            continue
        odds, how = _odds(played, seat, step.turn)
        game = game_of(played)
        worth = worths(game, seat, odds)
        if worth is None:
            continue
        mine, menu = step.moves.get(seat), game.menu(seat)
        got = 0.0 if mine is None else worth[menu.index(mine)]
        best = tuple(m for m, w in zip(menu, worth, strict=True) if w >= max(worth) - SAME)
        lost = max(worth) - got
        costs.append(Cost(step.turn, 0.0 if lost <= SAME else lost, best, how))
    return costs


def _odds(played: Played, seat: Seat, turn: int) -> tuple[list[Odds], str]:
    """What the others draw from in a round: as they declare, else what they did."""
    replay, game = played.replay, game_of(played)
    others, minds = game.others(seat), minds_of_others(replay, seat)
    declared = [
        mind.does(replay.view(turn, other))
        for other, mind in zip(others, minds, strict=True)
        if mind is not None
    ]
    if len(declared) == len(others):
        return declared, DECLARED
    return [{replay.moves[turn][other]: 1.0} for other in others], DONE
