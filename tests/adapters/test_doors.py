"""Every game through the doors to PettingZoo and Gymnasium."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test

from sally.adapters.rl.gymnasium import SeatEnv
from sally.adapters.rl.pettingzoo import SimultaneousEnv, TurnEnv
from sally.core.errors import BadInput
from sally.core.registry import registry
from tests.table import unlike_games

pytestmark = pytest.mark.filterwarnings("ignore")
GAMES = sorted(unlike_games())
SIMULTANEOUS = ("rps", "ibs", "ipd", "repeated_games")


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_accepts_every_game(game, capsys):
    api_test(TurnEnv(game), num_cycles=60)


@pytest.mark.parametrize("game", GAMES)
def test_same_seed_gives_the_same_play(game):
    seed_test(lambda: TurnEnv(game), num_cycles=30)


@pytest.mark.parametrize("game", SIMULTANEOUS)
def test_simultaneous_games_are_parallel_too(game, capsys):
    parallel_api_test(SimultaneousEnv(game, rounds=20), num_cycles=60)


@pytest.mark.parametrize("game", GAMES)
def test_gymnasium_accepts_every_game(game):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(SeatEnv(game), skip_render_check=True)


def test_rewards_per_round_sum_to_the_payoff():
    env = SeatEnv("ipd", others={"partner": ("single_action", {"action": 1})}, rounds=4)
    env.reset(seed=1)
    rewards = [env.step(action)[1] for action in (0, 1, 1, 0)]
    assert rewards == [0, 5, 5, 0]
    assert env.table.match.episode().payoffs["agent"] == sum(rewards)


def test_move_outside_the_menu_is_a_forfeit_not_a_move():
    env = SeatEnv("repeated_games", others={"partner": "tit_for_tat"}, rounds=3, void_limit=2)
    env.reset(seed=1)
    assert env.step(7)[1:4] == (0.0, False, False)
    assert env.step(7)[1:4] == (0.0, False, True)  # censored, so truncated and not terminated


def test_learners_see_the_last_round_and_the_time_left():
    env = SeatEnv("ipd", others={"partner": "tit_for_tat"}, rounds=4)
    observation, info = env.reset(seed=1)
    assert info["names"] == ["J", "F"]
    assert np.allclose(observation["observation"], [0, 0, 0, 0, 1])
    observation, *_ = env.step(1)
    assert np.allclose(observation["observation"], [0, 1, 1, 0, 0.75])


def test_sequential_game_is_refused_by_parallel_env():
    with pytest.raises(BadInput, match="take turns"):
        SimultaneousEnv("cups")


# --- seeds, pages, masks, names -------------------------------------------------------------------


@pytest.mark.parametrize("make", [TurnEnv, SimultaneousEnv])
def test_reset_without_seed_draws_new_seed(make):
    env = make("ipd", stop_chance=0.4)
    seeds = set()
    for _ in range(5):
        env.reset()
        seeds.add(env.table.match.setup.seed)
    assert len(seeds) == 5
    env.reset(seed=3)
    assert env.table.match.setup.seed == 3
    env.reset()
    seed_after = env.table.match.setup.seed
    env.reset(seed=3)
    env.reset()
    assert env.table.match.setup.seed == seed_after  # what follows a seed follows from it


def test_observation_bytes_contain_the_whole_page():
    env = SeatEnv("tradecraft")
    observation, info = env.reset(seed=1)
    data = bytes(observation["observation"]).rstrip(b"\0").decode()
    assert data == info["page"] and len(data) > 2048
    question = env.table.match.context(env.seat).words.rules(env.seat)[:40]
    assert data.startswith(question)


def test_page_longer_than_page_bytes_is_refused_not_truncated():
    with pytest.raises(BadInput, match="larger value"):
        SeatEnv("tradecraft", page_bytes=512).reset(seed=1)


def test_info_contains_action_mask():
    env = SeatEnv("ipd", rounds=2)
    observation, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == observation["action_mask"].tolist() == [1, 1]


def test_games_are_registered_in_gymnasium_by_name():
    env = gymnasium.make("sally/ipd-v0", rounds=3, others={"partner": "tit_for_tat"})
    env.reset(seed=1)
    assert env.step(0)[1] == 8.0
    assert sum(id.startswith("sally/") for id in gymnasium.registry) == 2 * len(registry.games())


def test_problems_are_drawn_from_a_split():
    env = gymnasium.make("sally/toma_po-v0", split="train")
    drawn = set()
    for seed in range(8):
        env.reset(seed=seed)
        drawn.add(env.unwrapped.table.match.setup.instance.params["scenario"])
    assert len(drawn) > 4
    with pytest.raises(BadInput, match="either a split or parameters"):
        SeatEnv("rps", split="train", rounds=3)
    with pytest.raises(BadInput, match="part of the split"):
        SeatEnv("rps", split="dessert")


def test_text_environment_passes_gymnasiums_own_check():
    env = gymnasium.make("sally/ipd-text-v0", retries=0)
    check_env(env.unwrapped, skip_render_check=True)
    page, _ = env.reset(seed=2)
    names = env.unwrapped.env.task.instance.params["names"]
    page, reward, *_ = env.step(f"Option: {names[0]}")
    assert "Round 1: you picked" in page and reward <= 0


def test_step_after_end_and_missing_action_raise_clear_errors():
    env = SeatEnv("ipd", rounds=1)
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(BadInput, match="over; call reset"):
        env.step(0)
    both = SimultaneousEnv("ipd", rounds=2)
    both.reset(seed=1)
    with pytest.raises(BadInput, match="but has no action"):
        both.step({"agent": 0})


def test_wrong_seat_and_a_step_after_the_end_are_refused_and_change_nothing():
    from sally.adapters.rl.pettingzoo import SimultaneousEnv

    env = SimultaneousEnv("rps", rounds=1)
    env.reset(seed=1)
    with pytest.raises(BadInput, match="seat of rps"):
        env.step({"agent": 0, "partner": 0, "dealer": 0})
    assert env.table.match.turn == 0
    env.step({"agent": 0, "partner": 0})
    with pytest.raises(BadInput, match="The episode is over"):
        env.step({"agent": 0, "partner": 0})


@pytest.mark.parametrize("action", [None, float("nan"), float("inf"), {}])
def test_non_numeric_action_is_refused_without_any_move(action):
    table = SimultaneousEnv("rps", rounds=3)
    table.reset(seed=1)
    for actions in ({"agent": 0, "partner": action}, {"agent": "{}", "partner": action}):
        with pytest.raises(BadInput, match="number of an option"):
            table.step(actions)
        assert table.table.waiting() == ("agent", "partner") and not table.table.match.events
    alone = TurnEnv("rps", rounds=3)
    alone.reset(seed=1)
    with pytest.raises(BadInput, match="number of an option"):
        alone.step(action)
    assert alone.agent_selection == "agent"
