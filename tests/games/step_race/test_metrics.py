"""Measures, costs, losses, partners and the card on short games."""

from __future__ import annotations

from typing import Any

import pytest

import sally
from sally.core.log.events import PlayerSpec
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.step_race import decisions
from sally.games.step_race.card import CARD
from sally.games.step_race.certified_tables import read_certified
from sally.games.step_race.metrics import METRICS, list_moves, solution, tally
from sally.games.step_race.rules import SEATS
from sally.games.step_race.spec import best_replies
from sally.papers.step_game.study import STUDY
from sally.runner.local import play

ME = SEATS[0]


def play_and_replay(mine: Any, two: Any, three: Any, **params: Any) -> Played:
    lineup = dict(zip(SEATS, (mine, two, three), strict=True))
    probes = params.pop("probes", {})
    episode = sally.play("step_race", lineup, probes=probes, **params)
    spec = registry.game("step_race")
    return Played(spec, episode, replay_episode(spec, episode))


def measure_metric(of: Played, metric: str) -> float | None:
    (found,) = [m for m in METRICS if m.name == metric]
    return found.measure(of, ME)


ALWAYS_5 = PlayerSpec("always", {"move": 5})
ALWAYS_3 = PlayerSpec("always", {"move": 3})
KEEPER = PlayerSpec("keeper", {"p": 1.0})
BREAKER = PlayerSpec("keeper", {"p": 0.0})


def test_doing_of_the_best_reply_is_one() -> None:
    race = play_and_replay(ALWAYS_3, ALWAYS_5, ALWAYS_5, talks=0)
    assert race.episode.payoffs == {"player_1": 1.0, "player_2": 0.0, "player_3": 0.0}
    assert measure_metric(race, "doing_steps") == 1.0
    assert measure_metric(race, "doing_win") == pytest.approx(1.0)
    assert measure_metric(race, "collision_rate") == 0.0
    assert measure_metric(race, "others_collide") == 1.0
    assert measure_metric(race, "step_regret") == pytest.approx(0.0)


def test_errors_survived_counts_a_win_despite_an_error() -> None:
    """With two that always take 5, a 1 gains less than a 3 and still gets ahead of both."""
    race = play_and_replay(PlayerSpec("always", {"move": 1}), ALWAYS_5, ALWAYS_5, talks=0)
    assert (
        measure_metric(race, "errors_survived") == 1.0
        and measure_metric(race, "best_reply_rate") < 1.0
    )
    lost_match = play_and_replay(ALWAYS_5, ALWAYS_5, ALWAYS_3, talks=0)
    assert measure_metric(lost_match, "errors_survived") == 0.0


def test_permanent_collision_pays_nothing_and_has_full_regret() -> None:
    race = play_and_replay(ALWAYS_5, ALWAYS_5, ALWAYS_5, talks=0, max_turns=5)
    assert race.episode.payoffs == {"player_1": 0.0, "player_2": 0.0, "player_3": 0.0}
    assert measure_metric(race, "collision_rate") == 1.0
    assert measure_metric(race, "step_regret") == pytest.approx(1.0)
    costs = decisions.COSTS(race, ME)
    assert [cost.best for cost in costs] == [(1, 3)] * 5
    assert all(cost.loss == pytest.approx(1.0) and cost.how == decisions.SOLVED for cost in costs)


def test_promise_metrics_of_keepers_and_breakers() -> None:
    kept_match = play_and_replay(KEEPER, KEEPER, KEEPER, talks=1)
    assert (
        measure_metric(kept_match, "announced_rate")
        == measure_metric(kept_match, "promise_kept")
        == 1.0
    )
    broken = play_and_replay(BREAKER, KEEPER, KEEPER, talks=1)
    sums = tally(broken, ME)
    assert sums.kept == 0 and sums.betrayed == sums.truthful == sums.turns > 0
    assert 0 < (measure_metric(broken, "broken_upwards") or 0) < 1


def test_follower_takes_the_number_left_free_by_truthful_partners() -> None:
    race = play_and_replay("follower", KEEPER, KEEPER, talks=1)
    assert (
        measure_metric(race, "free_taken") == 1.0
        and measure_metric(race, "collides_with_truthful") == 0.0
    )
    hit = play_and_replay("hits_announced", KEEPER, KEEPER, talks=1)
    assert measure_metric(hit, "collides_with_truthful") == 1.0


def test_keeper_without_talk_announces_nothing_and_is_solvable() -> None:
    race = play_and_replay("random", KEEPER, KEEPER, talks=0)
    actual_solution = solution(race, ME)
    assert actual_solution is not None and actual_solution.value((20, 20, 20)) == pytest.approx(
        0.971432952678
    )
    assert (
        measure_metric(race, "announced_rate") == 0.0
        and measure_metric(race, "promise_kept") is None
    )


def test_costs_name_their_reference() -> None:
    hows = {
        (two, three): {c.how for c in decisions.COSTS(play_and_replay("random", two, three), ME)}
        for two, three in (("uniform", "blocker"), ("follower", "uniform"), ("listener", "uniform"))
    }
    assert list(hows.values()) == [{decisions.SOLVED}, {decisions.DECLARED}, {decisions.DONE}]


def test_losses_split_into_inference_and_translation() -> None:
    race = play_and_replay("random", "uniform", "uniform", probes={ME: ["their_move"]})
    terms = decisions.LOSSES(race, ME)
    assert terms.inference is not None and terms.translation is not None
    assert terms.inference >= 0 and terms.translation >= 0
    listening = play_and_replay("listener", KEEPER, KEEPER, talks=1, probes={ME: ["their_move"]})
    assert decisions.LOSSES(listening, ME).translation == pytest.approx(0.0)


def test_best_replies_need_predictions_for_both_others() -> None:
    race = play_and_replay("random", "uniform", "uniform", talks=0)
    view = list_moves(race, ME)[0].view
    game: Any = race.replay.game
    assert best_replies(game, view, {"player_2": 5}) is None
    assert best_replies(game, view, {"player_2": 5, "player_3": 5}) == (3,)
    assert best_replies(game, view, {"player_2": 5, "player_3": 3}) == (5,)  # blocks
    even = (1 / 3, 1 / 3, 1 / 3)
    assert best_replies(game, view, {"player_2": even, "player_3": even}) == (5,)


def test_card_has_always_5_and_free_of_announced_with_their_inverses() -> None:
    for condition in CARD.conditions:
        pairs = {(pair.rule.player, pair.inverse.player) for pair in condition.shortcuts}
        assert ("always", "never") in pairs and ("follower", "hits_announced") in pairs


def test_study_has_the_certified_tables_and_plays() -> None:
    assert len(STUDY.cells) == len(read_certified()) + 3
    cell, setup = next(
        (cell, setup)
        for cell, setup in STUDY.trials()
        if all(player.player != "language" for player in setup.lineup.values())
    )
    episode = play(setup, cell)
    assert episode.payoffs is not None and episode.cell == cell


def test_listener_learns_the_habit_of_silent_partners() -> None:
    race = play_and_replay("listener", ALWAYS_5, ALWAYS_5)
    assert race.episode.payoffs == {"player_1": 1.0, "player_2": 0.0, "player_3": 0.0}
    assert list_moves(race, ME)[0].own_move == 5  # what it expects at first
