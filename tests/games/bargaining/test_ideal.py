"""The Bayes-adaptive bargainer: brute force on small pools, and nobody beats it in expectation."""

from __future__ import annotations

import numpy as np
import pytest

import sally
from sally.analysis.profile.ideal_scale import ideal_rows
from sally.games.bargaining.ideal import POOL, RulePool, ideal_of
from sally.games.bargaining.solver import SIZE, rule_of
from sally.stats.ideal import best_moves

RULES = tuple(rule_of(name) for name in POOL)
COSTS = tuple({20: 0.2, 45: 0.5, 50: 0.2, 62: 0.1}.get(c, 0.0) for c in range(SIZE))
VALUE = 70


def machines(costs=COSTS):
    """List the pool rule by rule and cost by cost, with weights and first asks."""
    return [
        (rule, c, costs[c] / len(RULES), rule.first(c))
        for rule in RULES
        for c in np.flatnonzero(costs).tolist()
    ]


def brute(here, rounds_left):
    """Return the value by listing every machine that fits, and every bid."""
    if rounds_left == 0 or not here:
        return 0.0
    best = -np.inf
    asks = {ask for *_, ask in here}
    for bid in range(SIZE):
        total = 0.0
        for ask in asks:
            matches = [(r, c, w) for r, c, w, a in here if a == ask]
            pays = VALUE - (bid + ask) / 2 if bid >= ask else 0.0
            total += pays * sum(w for _, _, w in matches)
            total += brute_later(
                tuple((r, c, w, r.next_ask(c, ask, bid)) for r, c, w in matches), rounds_left
            )
        best = max(best, total)
    return best


def brute_later(here, rounds_left, known={}):  # noqa: B006 (a cache of this module)
    key = (here, rounds_left - 1)
    if key not in known:
        known[key] = brute(here, rounds_left - 1)
    return known[key]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_value_equals_brute_force_on_a_small_pool(rounds):
    pool = RulePool(RULES, VALUE, COSTS, rounds)
    assert pool.value(pool.start(), rounds) == pytest.approx(brute(machines(), rounds), abs=1e-9)


def earned(pool, rounds, policy):
    """Return what a policy earns on average over the pool."""
    total = 0.0
    for rule, cost, weight, ask in machines():
        belief = pool.start()
        for rounds_left in range(rounds, 0, -1):
            bid = policy(belief, rounds_left, ask)
            total += weight * pool.gain(belief, bid, ask)
            belief, ask = pool.update_belief(belief, bid, ask), rule.next_ask(cost, ask, bid)
    return total


def test_ideal_player_earns_its_value_and_no_player_earns_more():
    rounds = 4
    pool = RulePool(RULES, VALUE, COSTS, rounds)
    value = pool.value(pool.start(), rounds)
    ideal = earned(pool, rounds, lambda belief, left, ask: best_moves(pool, belief, left)[0])
    assert ideal == pytest.approx(value)
    told = earned(pool, rounds, lambda belief, left, ask: ask if ask < VALUE else 0)
    assert pool.informed_value(rounds) >= value and told > 0  # it sees the ask before it bids
    rng = np.random.default_rng(3)
    for _ in range(40):
        table = rng.integers(0, VALUE, (rounds + 1, SIZE))
        seen: dict = {}

        def policy(belief, rounds_left, ask, table=table, seen=seen):
            expected = int(np.argmax(seen.setdefault((belief, rounds_left), pool.forecast(belief))))
            return int(table[rounds_left, expected])

        assert earned(pool, rounds, policy) <= value + 1e-9
    for held in range(0, SIZE, 5):
        assert earned(pool, rounds, lambda belief, left, ask, held=held: held) <= value + 1e-9


def test_forecast_equals_share_of_consistent_rules():
    pool = RulePool(RULES, VALUE, COSTS, 3)
    here, belief = machines(), pool.start()
    for bid, ask in ((40, 90), (41, 87)):
        expected = np.zeros(SIZE)
        for _, _, weight, a in here:
            expected[a] += weight
        assert pool.forecast(belief) == pytest.approx(expected / expected.sum())
        here = [(r, c, w, r.next_ask(c, a, bid)) for r, c, w, a in here if a == ask]
        belief = pool.update_belief(belief, bid, ask)
    assert pool.update_belief(belief, 10, 3) == belief  # nobody in the pool asks 3 here


@pytest.mark.parametrize("seat", ["buyer", "seller"])
def test_regret_parts_add_up_and_ideal_player_has_no_move_loss(seat):
    other_seat = "seller" if seat == "buyer" else "buyer"
    episodes = [
        sally.play(
            "bargaining", {seat: player, other_seat: name}, 1,
            value=70, cost=30, rounds=3, talk="none",
            probes={seat: ["their_quote"]},
        )
        for player in ("bayes_adaptive", "half")
        for name in ("clock", "grim", "splitter")
    ]  # fmt: skip
    rows = {row.player: row for row in ideal_rows(episodes) if row.seat == seat}
    ideal, half = rows["bayes_adaptive"], rows["half"]
    assert ideal.by_moves.value == pytest.approx(0) and half.by_moves.value > 0
    assert ideal.knowing_of_ideal.value == pytest.approx(1)
    for row in rows.values():
        parts = row.price.value + row.by_moves.value + row.pool_luck.value
        assert row.pool_regret.value == pytest.approx(parts)
    limit = 70 if seat == "buyer" else 30
    pool = ideal_of(seat == "buyer", limit, "uniform", 3)
    assert ideal.adaptive == pytest.approx(pool.value(pool.start(), 3) / 3)


def test_partner_with_other_parameters_is_not_in_the_pool():
    lineup = {"buyer": "half", "seller": ("grim", {"q": 60})}
    assert not ideal_rows([sally.play("bargaining", lineup, 1, rounds=2)])
