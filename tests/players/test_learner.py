"""The learner that ships: its weights are what was trained, and it adapts to whom it never met."""

from __future__ import annotations

import numpy as np
import pytest

import sally
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.games.repeated_games.players.meta import input_row, net, payoffs, record
from sally.games.repeated_games.rules import AGENT
from sally.games.repeated_games.training import split


def test_weights_give_the_outputs_recorded_at_training():
    found, check = net("ladder"), record("ladder")["check"]
    pays = payoffs(registry.game("rps").build({"rounds": 20}), AGENT)
    rows = [input_row(pays, None, 20)]
    rows += [input_row(pays, tuple(joint), 20 - n) for n, joint in enumerate(check["played"], 1)]
    hidden = np.zeros(found.size, np.float32)
    for row in rows:
        hidden = found.step(hidden, row)
    assert np.allclose(found.odds(found.foresee, hidden, 3), check["foresees"], atol=1e-4)


def test_learner_has_less_regret_than_random_with_held_out_partners():
    regret = dict.fromkeys(("learner", "random"), 0.0)
    for game, most in (("rps", 2), ("ipd", 10), ("ibs", 10)):
        for task in split(game).part("held_out"):
            partner = (task.others["partner"].player, task.others["partner"].params)
            for player in regret:
                lineup = {"agent": player, "partner": partner}
                played = [sally.play(game, lineup, seed=s, rounds=20) for s in range(3)]
                rows = sally.episodes(played)
                lost_regrets = [row["functional_regret"] for row in rows if row["seat"] == "agent"]
                regret[player] += sum(lost_regrets) / most
    assert regret["learner"] < 0.85 * regret["random"]


def test_learner_predicts_a_constant_partner_better_over_rounds():
    episode = sally.play(
        "rps",
        {"agent": "learner", "partner": ("single_action", {"action": 2})},
        seed=1,
        rounds=12,
        probes={"agent": ["their_move"]},
    )
    events = [e for e in episode.events if type(e).__name__ == "Reported"]
    assert [e.value for e in events][-6:] == [2] * 6
    assert events[-1].odds[2] > events[0].odds[2]


def test_learner_refuses_unsupported_games():
    with pytest.raises(BadInput, match="at most 3 moves"):
        matrix = [[[0, 0]] * 4] * 4
        sally.play("repeated_games", {"agent": "learner", "partner": "random"}, matrix=matrix)
    with pytest.raises(BadInput, match="set of weights of the player learner"):
        sally.play("rps", {"agent": ("learner", {"weights": "x"}), "partner": "random"})


def test_learner_record_contains_its_training_curve():
    about = record("ladder")
    assert about["curve"][-1]["step"] == about["steps"] and about["seed"] == 0
    regrets = [point["held_out"]["regret"] for point in about["curve"]]
    assert regrets[-1] < regrets[0]
