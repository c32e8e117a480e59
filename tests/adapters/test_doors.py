"""Every game through the doors to PettingZoo and Gymnasium."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test

from sally.adapters.gymnasium import SeatEnv
from sally.adapters.pettingzoo import SimultaneousEnv, TurnEnv
from sally.core import shelf
from sally.core.errors import BadInput

pytestmark = pytest.mark.filterwarnings("ignore")
GAMES = sorted(shelf.games())
SIMULTANEOUS = ("rps", "ibs", "ipd", "repeated_games")


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_accepts_every_game(game, capsys):
    api_test(TurnEnv(game), num_cycles=60)


@pytest.mark.parametrize("game", GAMES)
def test_the_same_seed_gives_the_same_play(game):
    seed_test(lambda: TurnEnv(game), num_cycles=30)


@pytest.mark.parametrize("game", SIMULTANEOUS)
def test_simultaneous_games_are_parallel_too(game, capsys):
    parallel_api_test(SimultaneousEnv(game, rounds=20), num_cycles=60)


@pytest.mark.parametrize("game", GAMES)
def test_gymnasium_accepts_every_game(game):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(SeatEnv(game), skip_render_check=True)


def test_a_learner_is_paid_round_by_round_what_the_game_pays():
    env = SeatEnv("ipd", others={"partner": ("single_action", {"action": 1})}, rounds=4)
    env.reset(seed=1)
    rewards = [env.step(action)[1] for action in (0, 1, 1, 0)]
    assert rewards == [0, 5, 5, 0]
    assert env.table.match.episode().payoffs["agent"] == sum(rewards)


def test_a_move_outside_the_menu_is_a_forfeit_not_a_move():
    env = SeatEnv("repeated_games", others={"partner": "tit_for_tat"}, rounds=3, void_limit=2)
    env.reset(seed=1)
    assert env.step(7)[1:4] == (0.0, False, False)
    assert env.step(7)[1:4] == (0.0, False, True)  # censored, so truncated and not terminated


def test_learners_see_the_last_round_and_the_time_left():
    env = SeatEnv("ipd", others={"partner": "tit_for_tat"}, rounds=4)
    seen, info = env.reset(seed=1)
    assert info["names"] == ["J", "F"]
    assert np.allclose(seen["observation"], [0, 0, 0, 0, 1])
    seen, *_ = env.step(1)
    assert np.allclose(seen["observation"], [0, 1, 1, 0, 0.75])


def test_a_game_of_turns_is_refused_as_parallel():
    with pytest.raises(BadInput, match="take turns"):
        SimultaneousEnv("cups")
