"""The ideal observer of level-k games for a pool of partners of levels 0 to 3, equally likely.

It applies to two-seat games whose levels ignore the past, so that each partner is a finite
automaton with one state. A level with several equally good replies draws among them at random;
Bayes-adaptive play then looks a few rounds ahead and beyond that treats the level as known (see
`sally.stats.ideal`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.level_k.metrics import game_of, rounds
from sally.games.level_k.minds import level_odds
from sally.games.level_k.payoffs import Boxes, Request
from sally.games.level_k.rules import LevelGame
from sally.games.level_k.solvers import pay_table
from sally.stats.ideal import Ideal, IdealProblem, PoolMachine, SeenRound, stated_odds

LEVELS = range(4)
LOOKAHEAD = 2  # ten moves each; beyond the first distinguishing round little is left to learn


@lru_cache(maxsize=32)
def ideal_of(game: LevelGame, seat: Seat, lookahead: int = LOOKAHEAD) -> Ideal:
    """Return the ideal observer of the pool in a two-seat game."""
    (other_seat,) = game.others(seat)
    n_own, other_menu = len(game.menu(seat)), game.menu(other_seat)
    stays = np.zeros((1, len(other_menu), n_own), dtype=np.intp)
    machines = []
    for k in LEVELS:
        odds = level_odds(game, other_seat, k)
        row = np.array([[odds.get(move, 0.0) for move in other_menu]])
        machines.append(PoolMachine(row, stays))
    return Ideal(pay_table(game, seat), machines, lookahead=lookahead)


def has_levels(game: LevelGame) -> bool:
    """Return whether a game has two seats and levels that ignore the past."""
    return len(game.seats) == 2 and isinstance(game.pays, Request | Boxes)


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return the rounds of an episode as a problem for the ideal observer; None if the partner is
    not one of the pool's levels."""
    game = game_of(played)
    others = game.others(seat)
    if not has_levels(game):
        return None
    partner = played.episode.setup.lineup.get(str(others[0]))
    level = (
        None if partner is None or partner.player != "level" else int(partner.params.get("k", 1))
    )
    if partner is None or level is None or level not in LEVELS or partner.params.get("base"):
        return None
    if played.episode.payoffs is None:
        return None
    own_menu, other_menu = game.menu(seat), game.menu(others[0])
    stated: dict[int, tuple[float, ...]] = {}
    for report in played.replay.reports.values():
        if (report.seat, report.probe) == (seat, "their_move"):
            odds = stated_odds(None, report.value, other_menu)
            if odds is not None:
                stated[report.turn] = odds
    seen_rounds = []
    for past_round in rounds(played, seat):
        answer = played.replay.move(past_round.turn, others[0])
        assert answer is not None  # the round was not void
        place = other_menu.index(answer)
        seen_rounds.append(
            SeenRound(own_menu.index(past_round.own_move), place, stated.get(past_round.turn))
        )
    return IdealProblem(ideal_of(game, seat), level, tuple(seen_rounds))
