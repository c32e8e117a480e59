"""Learners in several seats of one game: own prompts, own rewards, no view of unrevealed moves."""

from __future__ import annotations

import pytest

from sally.adapters.trainers.text import TextSeats
from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, from_line, to_line
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.parts.training import Task

TASK = Task(Instance("ipd_3", "ipd", {"rounds": 3}), "agent", {"partner": PlayerSpec("random")})


def play_games(env: TextSeats, says: dict[str, str]) -> dict[str, list[str]]:
    """Play an episode with fixed moves; return each seat's prompts."""
    prompts: dict[str, list[str]] = {seat: [] for seat in env.seats}
    env.begin(TASK, 1)
    turn = dict.fromkeys(env.seats, 0)
    while (request := env.asked) is not None:
        seat = env.seat
        prompts[seat].append(request.page)
        env.step(f"Option: {says[seat][turn[seat]]}")
        turn[seat] += 1
    return prompts


def test_each_seat_has_its_own_prompts_and_the_reward_of_each_turn():
    env = TextSeats("ipd")
    prompts = play_games(env, {"agent": "JFJ", "partner": "JJF"})
    assert [len(prompt) for prompt in prompts.values()] == [3, 3]
    assert env.rewards("agent") == [8, 10, 0] and env.rewards("partner") == [8, 0, 10]
    kept_episode = from_line(to_line(env.episode()))
    final = replay_episode(registry.game("ipd"), kept_episode).states[-1]
    assert (final.agent_total, final.partner_total) == (18, 18)
    assert {player.params["model"] for player in kept_episode.setup.lineup.values()} == {
        "trained:untrained"
    }


def test_second_seat_asked_does_not_see_first_seats_move():
    partner = play_games(TextSeats("ipd"), {"agent": "JJJ", "partner": "JJJ"})["partner"]
    two = play_games(TextSeats("ipd"), {"agent": "FJJ", "partner": "JJJ"})["partner"]
    assert partner[0] == two[0] and partner[1] != two[1]  # it is told after the round


def test_reward_of_one_turn_does_not_change_other_turns():
    good, bad = TextSeats("ipd"), TextSeats("ipd")
    play_games(good, {"agent": "JJJ", "partner": "JJJ"})
    play_games(bad, {"agent": "JFJ", "partner": "JJJ"})
    pairs = list(zip(good.rewards("agent"), bad.rewards("agent"), strict=True))
    assert [a == b for a, b in pairs] == [True, False, True]


def test_single_trained_seat_keeps_partner_and_custom_name():
    env = TextSeats("ipd", ["agent"], names={"agent": "mine"})
    env.begin(TASK, 1)
    while env.asked is not None:
        assert env.seat == "agent"
        env.step("Option: J")
    lineup = env.episode().setup.lineup
    assert (
        lineup["agent"].params["model"] == "trained:mine" and lineup["partner"].player == "random"
    )


def test_row_records_tries_of_unreadable_reply():
    env = TextSeats("ipd", retries=1)
    env.begin(TASK, 1)
    assert env.step("what?") == {} and env.seat == "agent"
    env.step("Option: J")
    env.step("Option: J")
    assert [len(row.tries) for row in env.rows("agent")] == [2]


def test_wrong_use_is_refused():
    with pytest.raises(BadInput, match="There is no seat of ipd named 'dealer'"):
        TextSeats("ipd", ["dealer"])
    with pytest.raises(BadInput, match="call reset first"):
        TextSeats("ipd").step("J")
