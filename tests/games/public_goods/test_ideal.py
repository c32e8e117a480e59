"""The Bayes-adaptive giver: brute force on short games, and nobody beats it in expectation."""

from __future__ import annotations

from itertools import product

import pytest

import sally
from sally.analysis.profile.ideal_scale import ideal_rows
from sally.games.public_goods.contribution_rules import RULES, nearest
from sally.games.public_goods.ideal import POOL, ideal_of
from sally.games.public_goods.rules import PublicGoods

SMALL = PublicGoods(players=3, tokens=3, ratio=2.4, rounds=4)


def paid(game, name, mine):
    """Return what a list of own contributions earns with others of one rule, played by its seat."""
    rule, total = RULES[name](), 0.0
    other_move = nearest(game, rule(game, None))
    for given in mine:
        total += game.round_payoffs((given, *(other_move,) * (game.players - 1)))[0]
        mean = (given + (game.players - 2) * other_move) / (game.players - 1)
        other_move = nearest(game, rule(game, mean))
    return total


def brute(game, fitting, mine):
    """Return the summed best total over the rules that fit, by listing every contribution."""
    if len(mine) == game.rounds:
        return sum(paid(game, name, mine) for name in fitting)
    return max(
        sum(brute(game, subset, (*mine, option)) for subset in told(game, fitting, (*mine, option)))
        for option in game.menu
    )


def told(game, fitting, mine):
    """Return the rules that fit, parted by what they give in the last of these rounds."""
    groups: dict = {}
    for name in fitting:
        rule = RULES[name]()
        other_move = nearest(game, rule(game, None))
        for given in mine[:-1]:
            mean = (given + (game.players - 2) * other_move) / (game.players - 1)
            other_move = nearest(game, rule(game, mean))
        groups.setdefault(other_move, []).append(name)
    return list(groups.values())


def test_value_equals_brute_force():
    ideal = ideal_of(SMALL)
    value = ideal.value(ideal.start(), SMALL.rounds)
    assert value == pytest.approx(brute(SMALL, POOL, ()) / len(POOL))
    assert ideal.earns(SMALL.rounds) == pytest.approx(value)
    fixed = [
        sum(paid(SMALL, name, own_combination) for name in POOL) / len(POOL)
        for own_combination in product(SMALL.menu, repeat=SMALL.rounds)
    ]
    assert max(fixed) <= value + 1e-9 <= ideal.informed_value(SMALL.rounds) + 1e-6


def test_played_games_agree_with_the_automata_and_parts_add_up():
    setting = {"players": 3, "tokens": 3, "ratio": 2.4, "rounds": 4}
    episodes = [
        sally.play(
            "public_goods", {"player_1": player, "player_2": name, "player_3": name}, 2, **setting,
            probes={"player_1": ["their_mean"]},
        )
        for player in ("bayes_adaptive", "free_rider")
        for name in POOL
    ]  # fmt: skip
    rows = {row.player: row for row in ideal_rows(episodes) if row.seat == "player_1"}
    ideal = rows["bayes_adaptive"]
    assert ideal.by_moves.value == pytest.approx(0, abs=1e-9)
    assert ideal.pool_luck.value == pytest.approx(0, abs=1e-9)
    assert ideal.earned.value == pytest.approx(ideal.adaptive)
    assert ideal.knowing_of_ideal.value == pytest.approx(1)
    free = rows["free_rider"]
    assert free.by_moves.value > 0 and free.earned.value < free.adaptive
    parts = free.price.value + free.by_moves.value + free.pool_luck.value
    assert free.pool_regret.value == pytest.approx(parts)


def test_partners_with_different_rules_are_not_in_the_pool():
    lineup = {"player_1": "random", "player_2": "giver", "player_3": "matcher"}
    rows = ideal_rows([sally.play("public_goods", lineup, 2, players=3)])
    assert not [row for row in rows if row.seat == "player_1"]
