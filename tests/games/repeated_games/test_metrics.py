"""Regret, predictions and losses of repeated games, on episodes whose numbers are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.match.player import Decision, Fault, Forfeit, Turn
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.core.rules.probe import ProbeReport, StatedPrediction
from sally.games.repeated_games.players.bulk import keyed_luck, play_tabular
from sally.games.repeated_games.regret import (
    functional_regret,
    running_regret,
    running_tom_percent,
)
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.riemer2025.tabular import measure_regrets
from sally.runner.seating import seat_player

METRICS = registry.metrics("repeated_games")


class Planned:
    """Makes the given moves in turn and gives the given answers; a move may be a failure."""

    def __init__(
        self,
        moves: Callable[[int], Any],
        says: Callable[[Turn], ProbeReport] | None = None,
    ) -> None:
        self.moves, self.says = moves, says

    def decide(self, turn: Turn) -> Any:
        move = self.moves(turn.view.round)
        return Decision(move) if isinstance(move, int) else move

    def report(self, turn: Turn) -> ProbeReport:
        assert self.says is not None
        return self.says(turn)


def play(
    game: str,
    agent: Any,
    partner: str = "tit_for_tat",
    arm: tuple[str, ...] = (),
    seed: int = 1,
    rounds: int = 100,
    **params: Any,
) -> Played:
    """An episode of a hand-made agent (or a named player) against a partner of the shelf."""
    spec = registry.game(game)
    stop = params.pop("stop_chance", 0.0)
    player = PlayerSpec(agent if isinstance(agent, str) else "by_hand")
    lineup = {"agent": player, "partner": PlayerSpec(partner, params)}
    instance = Instance(game, game, {"rounds": rounds, "stop_chance": stop})
    match = Match(spec, Setup(instance, seed, lineup, arms={"agent": arm}))
    players = {"partner": seat_player(spec, match.game, PARTNER, lineup["partner"])}
    players["agent"] = (
        seat_player(spec, match.game, AGENT, player) if isinstance(agent, str) else agent
    )
    Driver(match, players).run()
    episode = match.episode()
    return Played(spec, episode, replay_episode(spec, episode))


def score(played: Played, name: str) -> float | None:
    return METRICS[name].measure(played, AGENT)


def always(move: int) -> Planned:
    return Planned(lambda n: move)


# --- regret -------------------------------------------------------------------------------------


def test_cooperation_with_tit_for_tat_has_myopic_but_hardly_any_total_regret():
    played = play("ipd", always(0))
    assert score(played, "reward") == 800
    assert score(played, "reward_per_round") == 8
    assert score(played, "functional_regret") == pytest.approx(0.02)  # the free last round
    assert score(played, "functional_regret_published") == pytest.approx(0)
    assert score(played, "myopic_regret") == 2
    assert score(played, "horizon_term") == pytest.approx(0.02 - 2)


def test_optimal_play_has_no_regret():
    played = play("ipd", Planned(lambda n: int(n == 100)))
    assert score(played, "functional_regret") == 0
    assert score(played, "functional_regret_published") == pytest.approx(-0.02)


def test_worst_play_against_tit_for_tat_has_published_regret_three():
    # (10 + 99 * 5) / 100 = 5.05 a round for ever defecting; 2.95 below the rate of 8
    assert score(play("ipd", always(1)), "functional_regret_published") == pytest.approx(2.95)
    opened = play("ipd", always(1), first=1)
    assert score(opened, "functional_regret_published") == pytest.approx(3.0)


@pytest.mark.parametrize(("action", "best"), [(0, 1), (1, 2), (2, 0)])
def test_rps_regret_against_single_action_is_zero_one_or_two(action, best):
    for step, regret in ((0, 0), (1, 2), (2, 1)):
        played = play("rps", always((best + step) % 3), "single_action", action=action)
        assert score(played, "functional_regret") == pytest.approx(regret)


def test_void_rounds_are_excluded_and_optimum_covers_played_rounds():
    played = play("ipd", Planned(lambda n: Forfeit("unreadable") if n in (3, 50) else 0))
    assert score(played, "forfeits") == 2
    assert score(played, "reward") == 98 * 8
    assert score(played, "functional_regret") == pytest.approx(2 / 98)
    assert score(played, "functional_regret_published") == pytest.approx(0)
    assert score(played, "format_loss") == pytest.approx(2 * 10 / 100)  # cooperation was there
    assert score(play("ipd", always(0)), "format_loss") == 0


def test_void_round_of_the_other_is_not_charged_to_the_seat():
    class Lapsing:
        def decide(self, turn: Turn) -> Any:
            return Forfeit("unreadable") if turn.view.round == 2 else Decision(0)

    spec = registry.game("ipd")
    lineup = {"agent": PlayerSpec("by_hand"), "partner": PlayerSpec("lapsing")}
    match = Match(spec, Setup(Instance("ipd", "ipd", {"rounds": 5}), 1, lineup))
    Driver(match, {"agent": always(0), "partner": Lapsing()}).run()
    played = Played(spec, match.episode(), replay_episode(spec, match.episode()))
    assert score(played, "format_loss") == 0 and score(played, "forfeits") == 0
    assert METRICS["forfeits"].measure(played, PARTNER) == 1
    assert METRICS["format_loss"].measure(played, PARTNER) == pytest.approx(10 / 5)


def test_censored_episode_has_blank_outcome_metrics():
    played = play("ipd", Planned(lambda n: Fault("budget") if n == 40 else 0))
    blank = ("reward", "functional_regret", "functional_regret_published", "horizon_term")
    assert [score(played, name) for name in blank] == [None] * 4
    assert running_regret(played, AGENT) is not None


def test_regret_is_blank_but_reward_is_not_without_partner_automaton():
    played = play("ipd", always(0), "q_learning")
    assert score(played, "functional_regret") is None
    assert score(played, "functional_regret_published") is None
    assert score(played, "tom_regret_published") is None
    assert score(played, "reward") is not None


def test_scripted_seat_has_regret_against_its_partner():
    played = play("ipd", "tit_for_tat", "tit_for_tat")
    assert METRICS["functional_regret"].measure(played, PARTNER) == pytest.approx(0.02)


def test_optimum_is_blank_against_another_partner_version():
    played = play("ipd", always(0))
    setup = played.episode.setup
    old = msgspec.structs.replace(setup.lineup["partner"], versions={"player": 99})
    lineup = {**setup.lineup, "partner": old}
    setup = msgspec.structs.replace(setup, lineup=lineup)
    episode = msgspec.structs.replace(played.episode, setup=setup)
    with pytest.raises(BadInput, match="version 99 of tit_for_tat"):
        functional_regret(Played(played.spec, episode, played.replay), AGENT)


def test_optimal_play_has_no_regret_with_random_stopping():
    lengths = set()
    for seed in range(8):
        played = play("ipd", always(0), seed=seed, stop_chance=0.1)
        lengths.add(len(played.replay))
        assert score(played, "functional_regret") == pytest.approx(0)
    assert len(lengths) > 3


def test_void_rounds_shorten_the_optimum_with_random_stopping():
    # two rounds at most, the first void: one is left, in which defection was worth 10
    agent = Planned(lambda n: Forfeit("unreadable") if n == 1 else 0)
    played = play("ipd", agent, rounds=2, stop_chance=0.01)
    assert score(played, "reward") == 8
    assert score(played, "functional_regret") == pytest.approx(2)


# --- curves -------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([0, 1, None]), min_size=6, max_size=6))
def test_running_curves_end_at_the_metric_values(moves):
    forfeits = [Forfeit("unreadable") if m is None else m for m in moves]
    agent = Planned(lambda n: forfeits[n - 1], lambda turn: ProbeReport(0))
    played = play("ipd", agent, arm=("their_move",), rounds=6)
    curve = running_regret(played, AGENT)
    if score(played, "functional_regret") is not None:
        assert curve[-1] == score(played, "functional_regret")
        assert min(curve) >= 0  # the optimum of each length is an upper bound
    right = running_tom_percent(played, AGENT)
    assert len(right) == len(curve)
    assert (right[-1] if right else None) == pytest.approx(score(played, "tom_percent"))


# --- predictions --------------------------------------------------------------------------------


def test_tom_regret_is_the_loss_of_best_reply_to_the_prediction():
    # the partner plays 0; believing 1 means replying 2, which loses to 0: 2 below the best
    for count, lost_count in ((0, 0), (1, 2), (2, 1)):
        agent = Planned(lambda n: 0, lambda turn, count=count: ProbeReport(count))
        played = play("rps", agent, "single_action", ("their_move",), action=0)
        assert score(played, "tom_regret") == lost_count
        assert score(played, "tom_regret_published") == (0 if count == 0 else 1.5)
        assert score(played, "tom_percent") == (100 if count == 0 else 0)


def test_tom_regret_is_zero_in_ipd_for_any_prediction():
    played = play("ipd", Planned(lambda n: n % 2, lambda turn: ProbeReport(1)), arm=("their_move",))
    assert score(played, "tom_percent") == pytest.approx(50, abs=2)
    assert score(played, "tom_regret") == 0
    assert score(played, "tom_regret_published") == pytest.approx(3.5 * 0.5, abs=0.1)


def test_published_tom_regret_depends_on_single_action_of_partner():
    for action, price in ((0, 10), (1, 7)):
        agent = Planned(lambda n: 0, lambda turn, said=1 - action: ProbeReport(said))
        played = play("ibs", agent, "single_action", ("their_move",), action=action)
        assert score(played, "tom_regret_published") == price


def test_unreadable_answers_are_counted_and_not_scored():
    agent = Planned(lambda n: 0, lambda turn: ProbeReport(0 if turn.view.round > 25 else None))
    played = play("ipd", agent, arm=("their_move",))
    assert score(played, "tom_percent") == 100
    assert score(played, "unread_reports") == 25


def test_their_move_given_mine_takes_precedence_over_other_probes():
    answers = {"their_move_given_mine": 0, "their_move": 1, "their_odds": 1}

    def says(turn: Turn) -> ProbeReport:
        return ProbeReport(answers[turn.question.probe], (0.25, 0.75))

    orders = [("their_odds", "their_move", "their_move_given_mine"), ("their_odds", "their_move")]
    for arm, right in zip(orders, (100, 0), strict=True):
        assert score(play("ipd", Planned(lambda n: 0, says), arm=arm), "tom_percent") == right


def test_predictions_in_decisions_count_if_no_probe_was_asked():
    class Social:
        def decide(self, turn: Turn) -> Any:
            return Decision(0, foreseen=(StatedPrediction("their_move", 0, "partner"),))

        def report(self, turn: Turn) -> ProbeReport:
            return ProbeReport(1, (0.0, 1.0))

    assert score(play("ipd", Social()), "tom_percent") == 100
    for asked_name in ("their_move_given_mine", "their_move", "their_odds"):
        assert score(play("ipd", Social(), arm=(asked_name,)), "tom_percent") == 0


def test_odds_are_scored_by_brier_and_log():
    even = Planned(lambda n: 0, lambda turn: ProbeReport(0, (1 / 3, 1 / 3, 1 / 3)))
    played = play("rps", even, arm=("their_odds",))
    assert score(played, "brier") == pytest.approx(2 / 3)
    assert score(played, "log_score") == pytest.approx(np.log(3))
    wrong = Planned(lambda n: 0, lambda turn: ProbeReport(0, (1.0, 0.0, 0.0)))
    played = play("rps", wrong, "single_action", ("their_odds",), action=1)
    assert score(played, "brier") == 2
    assert score(played, "log_score") == pytest.approx(-np.log(0.001))  # the floor, not infinity


def test_named_move_without_odds_has_no_proper_score():
    played = play("rps", Planned(lambda n: 0, lambda turn: ProbeReport(0)), arm=("their_move",))
    assert score(played, "brier") is None and score(played, "log_score") is None


def test_retries_are_counted_over_moves_and_probes():
    class Slow:
        def decide(self, turn: Turn) -> Any:
            return Decision(0, reply="J", tries=3)

        def report(self, turn: Turn) -> ProbeReport:
            return ProbeReport(0, tries=2)

    assert score(play("ipd", Slow(), arm=("their_move",), rounds=10), "retries") == 30


# --- where a loss comes from ----------------------------------------------------------------------


def test_unused_right_prediction_is_translation_loss():
    knows = Planned(lambda n: 0, lambda turn: ProbeReport(0))
    played = play("rps", knows, "single_action", ("their_move",), action=0)
    assert score(played, "inference_loss") == 0
    assert score(played, "translation_loss") == 1  # a tie where a win was to be had


def test_acting_on_a_wrong_prediction_is_inference_loss():
    errs = Planned(lambda n: 2, lambda turn: ProbeReport(1))
    played = play("rps", errs, "single_action", ("their_move",), action=0)
    assert score(played, "inference_loss") == 2
    assert score(played, "translation_loss") == 0


def test_luck_is_a_negative_translation_loss():
    lucky = Planned(lambda n: 1, lambda turn: ProbeReport(1))  # wins although it believes otherwise
    played = play("rps", lucky, "single_action", ("their_move",), action=0)
    assert score(played, "inference_loss") == 2
    assert score(played, "translation_loss") == -2


def test_stated_odds_are_used_as_the_belief():
    # against odds (.40, .21, .39) move 0 pays most, .18, though a reply to the likeliest is move 1
    odds = Planned(lambda n: 0, lambda turn: ProbeReport(0, (0.40, 0.21, 0.39)))
    played = play("rps", odds, "single_action", ("their_odds",), action=2)
    assert score(played, "inference_loss") == 0
    assert score(played, "translation_loss") == 0
    played = play("rps", odds, "single_action", ("their_move",), action=2)
    assert score(played, "inference_loss") == 2
    assert score(played, "translation_loss") == -2


def test_any_best_reply_to_a_belief_has_no_translation_loss():
    torn = Planned(lambda n: 2, lambda turn: ProbeReport(0, (1 / 3, 1 / 3, 1 / 3)))
    played = play("rps", torn, "single_action", ("their_odds",), action=0)
    assert score(played, "translation_loss") == 0
    assert score(played, "inference_loss") == 2


@given(st.integers(0, 10**6), st.sampled_from(["rps", "ibs", "ipd"]))
def test_parts_add_up_to_functional_regret(seed, game):
    for player in ("random", "tabular", "fictitious_learner"):
        played = play(game, player, arm=("their_move",), seed=seed, rounds=12)
        parts = ("inference_loss", "translation_loss", "horizon_term")
        total = sum(score(played, name) for name in parts)
        assert total == pytest.approx(score(played, "functional_regret"))


# --- one way to count ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rps", "ibs", "ipd"])
@pytest.mark.parametrize("kind", ["single_action", "tit_for_tat"])
def test_episode_metrics_equal_bulk_play_metrics(name, kind):
    game = registry.game(name).build({})
    automaton = registry.partners("repeated_games")[kind].automaton(game, PARTNER)
    luck = keyed_luck([7], AGENT, PARTNER, 100)
    rounds = play_tabular(game, AGENT, [automaton], np.zeros(1, np.intp), luck)
    rate = {"rps": 1.0, "ibs": 10.0, "ipd": 8.0 if kind == "tit_for_tat" else 10.0}[name]
    bulk = measure_regrets(game, kind, rounds, np.array([rate]))
    played = play(name, "tabular", kind, ("their_move",), seed=7)
    assert score(played, "functional_regret_published") == pytest.approx(
        bulk["functional_regret"][0]
    )
    assert score(played, "tom_regret_published") == pytest.approx(bulk["tom_regret"][0])
    assert score(played, "tom_percent") == pytest.approx(bulk["tom_percent"][0])


def test_every_metric_has_its_file_name():
    for name, metric in registry.entries("metrics").items():
        assert metric.name == name
        assert metric.published == name.endswith("_published")
