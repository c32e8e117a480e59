"""What a decision cost in games of words and of long menus."""

from __future__ import annotations

import pytest

import sally
from sally.analysis.decisions.costs import costs_of
from sally.analysis.decisions.rollouts import by_continuations
from sally.frames.replays import replay_for_measures
from sally.runner.fork import would_do

WORD_GAMES = [
    ("wavelength", {"psychic": "random", "guesser": ("own_dial", {"shift": 15})}, "psychic", {}),
    ("codenames", {"giver": "random", "guesser": "associates"}, "giver", {"boards": 1}),
    ("taboo", {"giver": "random", "guesser": "associates"}, "giver", {"rounds": 1, "hints": 2}),
]


@pytest.mark.parametrize(("game", "lineup", "seat", "params"), WORD_GAMES)
def test_costs_in_word_games_add_up_to_the_regret(game, lineup, seat, params):
    full_match = replay_for_measures(sally.play(game, lineup, **params))
    costs = costs_of(full_match, seat)
    row = next(r for r in sally.episodes([full_match.episode]) if r["seat"] == seat)
    regret = row[f"{game}_regret"]
    current_regret = regret * (1 if game == "taboo" else len(costs))  # taboo's is by round
    assert costs and sum(cost.loss for cost in costs) == pytest.approx(current_regret)


def test_guesser_costs_name_a_best_guess_and_include_losses():
    lineup = {"psychic": "own_dial", "guesser": "middle"}
    full_match = replay_for_measures(sally.play("wavelength", lineup, rounds=4))
    costs = costs_of(full_match, "guesser")
    assert len(costs) == 4 and all(cost.best for cost in costs)
    assert any(cost.loss > 0 for cost in costs)


def test_offer_is_compared_with_offers_of_other_traders():
    was = sally.play("tradecraft", {"p1": "hoarder", "p2": "zero_order"}, max_turns=2)
    others = would_do(was, 0, "p1")
    assert {"zero_order", "first_order", "hoarder", "generous"} <= set(others)
    assert others["hoarder"].offer == () and others["zero_order"].offer
    decision_costs = by_continuations(was, "p1", 1)
    assert decision_costs and "bots would have done" in decision_costs[0].how
    assert all(decision_cost.loss >= 0 for decision_cost in decision_costs)
