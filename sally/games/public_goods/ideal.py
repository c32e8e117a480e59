"""The pool of rules that the ideal observer of public goods assumes: all others follow the same
rule, and each rule is equally likely.

The pool holds the five scripted rules with their default parameters. Players with the same rule
contribute the same amount, so all others together are one deterministic machine, whose state is
their next contribution; Bayes-adaptive play can be computed exactly.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.core.rules.simultaneous import others_of
from sally.games.public_goods.contribution_rules import RULES, nearest
from sally.games.public_goods.metrics import game_of
from sally.games.public_goods.rules import PublicGoods
from sally.stats.ideal import Ideal, IdealProblem, PoolMachine, SeenRound, pool_place, stated_odds

POOL = tuple(RULES)


@lru_cache(maxsize=32)
def ideal_of(game: PublicGoods) -> Ideal:
    """Return the ideal observer of the pool; moves are given as menu positions."""
    menu, place = game.menu, {contribution: n for n, contribution in enumerate(game.menu)}
    others = game.players - 1
    machines = []
    for name in POOL:
        rule = RULES[name]()
        # the start, then what each gives next
        state_contributions = [nearest(game, rule(game, None)), *menu]
        odds = np.zeros((len(state_contributions), len(menu)))
        transitions = np.zeros((len(state_contributions), len(menu), len(menu)), dtype=np.intp)
        for state, other_contribution in enumerate(state_contributions):
            odds[state, place[other_contribution]] = 1.0
            for n, own_contribution in enumerate(menu):
                mean = (own_contribution + (others - 1) * other_contribution) / others
                transitions[state, :, n] = 1 + place[nearest(game, rule(game, mean))]
        machines.append(PoolMachine(odds, transitions))
    own_grid, other_grid = np.meshgrid(np.array(menu, dtype=float), menu, indexing="ij")
    pay = game.tokens - own_grid + game.back * (own_grid + others * other_grid)
    return Ideal(pay, machines)


def IDEAL(played: Played, seat: Seat) -> IdealProblem | None:
    """Return a seat's rounds in the form needed to compare them with ideal play. An ideal player
    knows the pool of rules, but not which of them the others follow.

    Return None unless all other seats follow the same rule of this pool.
    """
    game, lineup = game_of(played), played.episode.setup.lineup
    pool = [PlayerSpec(name) for name in POOL]
    places = {pool_place("public_goods", pool, lineup.get(str(o))) for o in game.others(seat)}
    place = places.pop()
    if places or place is None or played.episode.payoffs is None:
        return None
    number, menu, seen_rounds = game.number[seat], game.menu, []
    for step in played.replay.steps():
        if step.forfeited:
            continue
        contributions = tuple(step.moves[round_seat] for round_seat in game.seats)
        other_contribution = others_of(contributions, number)[0]
        report = played.replay.report(step.turn, seat, "their_mean", "others")
        stated = None if report is None else stated_odds(None, report.value, menu)
        seen_rounds.append(
            SeenRound(menu.index(contributions[number]), menu.index(other_contribution), stated)
        )
    return IdealProblem(ideal_of(game), place, tuple(seen_rounds))
