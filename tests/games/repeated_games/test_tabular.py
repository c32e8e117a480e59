"""The tabular learner: how it explores, what it predicts, and bulk play equal to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, Moved, PlayerSpec, Reported, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.partner import Automaton, Scripted
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.repeated_games.optimum import pay_table
from sally.games.repeated_games.players.bulk import (
    UniformDraws,
    drawn_luck,
    keyed_luck,
    play_tabular,
)
from sally.games.repeated_games.players.learners import Fictitious, QLearning
from sally.games.repeated_games.players.tabular import (
    Settings,
    Tabular,
    empty_model,
    pay_of,
    values,
)
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.runner.local import play
from sally.runner.seating import resolve_setup

ARM = ("their_move",)


def episode(
    game: str, partner: str, seed: int = 1, player: str = "tabular", arm: Any = ARM, **options: Any
) -> Episode:
    lineup = {
        "agent": PlayerSpec(player, options.get("settings", {})),
        "partner": PlayerSpec(partner, options.get("params", {})),
    }
    params = {"rounds": options.get("rounds", 100)}
    return play(
        resolve_setup(Setup(Instance(game, game, params), seed, lineup, arms={"agent": arm}))
    )


def moves(of: Episode, seat: str = "agent") -> list[int]:
    return [e.action for e in of.events if isinstance(e, Moved) and e.seat == seat]


def predictions(of: Episode) -> list[Any]:
    return [e.value for e in of.events if isinstance(e, Reported)]


# --- how it plays -------------------------------------------------------------------------------


def test_initial_values_are_the_discounted_best_payoff():
    pay = pay_table(registry.game("ipd").build({}), AGENT)
    value = values(empty_model(pay, Settings())[None], pay, Settings(gamma=0.9))
    assert value == pytest.approx(np.full((1, 5, 2), 100.0))


def test_best_paying_known_move_ties_with_unknown_moves():
    player = Tabular(pay_of("tabular", registry.game("rps").build({}), AGENT))
    firsts = set()
    for seed in range(40):
        of = episode("rps", "single_action", seed, rounds=2)
        firsts.add(tuple(moves(of)))
    # move 1 beats move 0: after it pays 1, all three moves of the new state are still unknown
    assert {(1, 0), (1, 1), (1, 2)} <= firsts
    assert player.settings == Settings()


@given(st.integers(0, 10**6), st.sampled_from([(1, 0.9), (2, 0.8), (1, 0.0)]))
def test_values_equal_plain_value_iteration(seed, how):
    visits, gamma = how
    settings = Settings(gamma=gamma, visits=visits)
    chance = np.random.default_rng(seed)
    pay = chance.integers(-5, 6, (2, 3)).astype(float)
    models = chance.integers(0, 2, (2, 7, 2, 3)).astype(np.int32)
    value = np.full((7, 2), pay.max() / (1 - gamma))
    to = 1 + np.arange(6).reshape(2, 3)
    solved = values(models, pay, settings)
    for model, solution in zip(models, solved, strict=True):
        for _ in range(250):
            ahead = value.max(axis=1)
            total = model.sum(axis=2)
            share = model / np.maximum(total, 1)[:, :, None]
            backed = (share * (pay + gamma * ahead[to])).sum(axis=2)
            value = np.where(total >= visits, backed, pay.max() / (1 - gamma))
        assert solution == pytest.approx(value, abs=1e-8)
        value = np.full((7, 2), pay.max() / (1 - gamma))


@given(st.integers(0, 10**6))
def test_values_of_a_model_do_not_depend_on_others_in_the_batch(seed):
    chance = np.random.default_rng(seed)
    pay = chance.integers(-5, 6, (3, 3)).astype(float)
    models = chance.integers(0, 2, (6, 10, 3, 3)).astype(np.int32)
    together = values(models, pay, Settings())
    alone = [values(model[None], pay, Settings())[0] for model in models]
    assert all((a == b).all() for a, b in zip(together, alone, strict=True))


def test_tabular_player_converges_to_the_best_reply():
    for action, best in ((0, 1), (1, 2), (2, 0)):
        of = episode("rps", "single_action", 3, params={"action": action})
        assert set(moves(of)[-50:]) == {best}
    assert set(moves(episode("ipd", "tit_for_tat", 3))[-50:]) == {0}  # it learns to cooperate


def test_tabular_player_follows_the_seed():
    assert episode("rps", "tit_for_tat", 5).events == episode("rps", "tit_for_tat", 5).events
    assert moves(episode("rps", "tit_for_tat", 5)) != moves(episode("rps", "tit_for_tat", 6))


def test_probing_does_not_change_play():
    for player in ("tabular", "q_learning", "fictitious_learner"):
        asked_episode = episode(
            "rps", "tit_for_tat", 5, player, ("their_move", "their_move_given_mine")
        )
        assert moves(asked_episode) == moves(episode("rps", "tit_for_tat", 5, player, ()))


# --- what it predicts ---------------------------------------------------------------------------


def test_prediction_is_the_most_frequent_move_or_move_0_without_counts():
    player = Tabular(pay_of("tabular", registry.game("ipd").build({}), AGENT))
    knowledge = player.untaught()
    for joint in [(0, 1), (0, 1), (0, 0), (0, 1), (0, 1)]:
        knowledge = player.taught(knowledge, joint)
    by_state = np.array(knowledge.counts).reshape(5, 2).tolist()
    assert by_state == [[0, 1], [0, 1], [1, 2], [0, 0], [0, 0]]  # start, then (0,0) .. (1,1)
    assert knowledge.state == 2


def test_predictions_before_and_after_the_move_are_equal():
    both_episode = episode("rps", "tit_for_tat", 2, arm=("their_move", "their_move_given_mine"))
    predicted_values = predictions(both_episode)
    assert predicted_values[0::2] == predicted_values[1::2]


def test_stated_odds_follow_the_rule_of_succession():
    of = episode("ipd", "single_action", arm=("their_odds",), params={"action": 1}, rounds=6)
    reports = [e for e in of.events if isinstance(e, Reported)]
    assert reports[0].odds == (0.5, 0.5) and reports[0].value == 0
    assert {r.odds for r in reports[1:]} <= {(0.5, 0.5), (1 / 3, 2 / 3), (1 / 4, 3 / 4), (0.2, 0.8)}
    assert all(r.value == int(r.odds[1] > 0.5) for r in reports)


def test_void_round_does_not_update_the_player():
    class Lapsing:
        """Cooperates, but cannot be read in round 2."""

        def decide(self, turn: Turn) -> Decision[int] | Forfeit:
            return Forfeit("unreadable") if turn.view.round == 2 else Decision(0)

    game = registry.game("ipd").build({"rounds": 4})
    memories: list[Any] = []

    class Watched:
        player = Tabular(pay_of("tabular", game, AGENT))

        def decide(self, turn: Turn) -> Any:
            answer = self.player.decide(turn)
            memories.append(answer.memory)
            return answer

    lineup = {"agent": PlayerSpec("tabular"), "partner": PlayerSpec("lapsing")}
    match = Match(registry.game("ipd"), Setup(Instance("ipd", "ipd", {"rounds": 4}), 1, lineup))
    Driver(match, {"agent": Watched(), "partner": Lapsing()}).run()
    memory_before, memory_after = memories[1], memories[2]
    assert memory_after.seen == memory_before.seen + 1
    assert (memory_after.state, memory_after.model, memory_after.counts) == (
        memory_before.state,
        memory_before.model,
        memory_before.counts,
    )


# --- bulk play ----------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"visits": 2, "gamma": 0.8}, {"ties": "first"}])
@pytest.mark.parametrize("name", ["rps", "ibs", "ipd"])
@pytest.mark.parametrize("kind", ["single_action", "tit_for_tat"])
def test_bulk_play_equals_single_episode_play_move_by_move(name, kind, settings):
    game = registry.game(name).build({"rounds": 40})
    seeds = [3, 14, 15]
    automaton = registry.partners("repeated_games")[kind].automaton(game, PARTNER)
    luck = keyed_luck(seeds, AGENT, PARTNER, 40)
    bulk = play_tabular(game, AGENT, [automaton], np.zeros(3, np.intp), luck, Settings(**settings))
    for row, seed in enumerate(seeds):
        of = episode(name, kind, seed, settings=settings, rounds=40)
        assert moves(of) == bulk.own_moves[row].tolist()
        assert moves(of, "partner") == bulk.other_moves[row].tolist()
        assert predictions(of) == bulk.predicted[row].tolist()


def test_bulk_play_equals_single_episode_play_against_random_partner():
    odds = {0: 0.2, 1: 0.5, 2: 0.3}
    dice = Automaton(0, lambda q: odds, lambda q, own, their: 0)
    spec, seeds = registry.game("rps"), list(range(6))
    game = spec.build({"rounds": 60})
    luck = keyed_luck(seeds, PARTNER, AGENT, 60)
    bulk = play_tabular(game, PARTNER, [dice], np.zeros(6, np.intp), luck)
    for row, seed in enumerate(seeds):
        lineup = {"agent": PlayerSpec("dice"), "partner": PlayerSpec("tabular")}
        match = Match(spec, Setup(Instance("rps", "rps", {"rounds": 60}), seed, lineup))
        learner = Tabular(pay_of("tabular", game, PARTNER))
        roller = Scripted(lambda turn: turn.draws.draw(odds))
        Driver(match, {"agent": roller, "partner": learner}).run()
        assert moves(match.episode(), "partner") == bulk.own_moves[row].tolist()


def test_each_bulk_episode_meets_its_own_partner():
    game = registry.game("rps").build({})
    make = registry.partners("repeated_games")["single_action"].automaton
    partners = [make(game, PARTNER, action=a) for a in range(3)]
    lots = np.array([2, 0, 1, 1])
    luck = drawn_luck(4, 100, np.random.default_rng(2))
    rounds = play_tabular(game, AGENT, partners, lots, luck)
    assert (rounds.other_moves == lots[:, None]).all()
    assert rounds.own_moves[:, -1].tolist() == [0, 1, 2, 2]


def test_move_with_zero_probability_is_never_drawn():
    game = RepeatedGame(rounds=3)
    stubborn = Automaton(0, lambda q: {0: 0.0, 1: 1.0}, lambda q, own, their: 0)
    rounds = play_tabular(
        game,
        AGENT,
        [stubborn],
        np.zeros(1, np.intp),
        UniformDraws(np.zeros((1, 3)), np.zeros((1, 3))),
    )
    assert rounds.other_moves.tolist() == [[1, 1, 1]]


def test_bulk_play_refuses_unsupported_games():
    game = RepeatedGame(rounds=5)
    coin = Automaton(0, lambda q: {0: 0.5, 1: 0.5}, lambda q, own, their: 0)
    luck, lots = drawn_luck(2, 5, np.random.default_rng(1)), np.zeros(2, np.intp)
    with pytest.raises(BadInput, match="stop_chance must be 0"):
        play_tabular(RepeatedGame(rounds=5, stop_chance=0.1), AGENT, [coin], lots, luck)
    with pytest.raises(BadInput, match="`lots` must contain indices of partners, from 0 to 0"):
        play_tabular(game, AGENT, [coin], lots + 1, luck)
    with pytest.raises(BadInput, match="episodes by rounds"):
        play_tabular(game, AGENT, [coin], lots, UniformDraws(luck.ties[:, :4], luck.partner))


# --- second opinions ----------------------------------------------------------------------------


def test_one_step_of_q_learning_by_hand():
    player = QLearning(((8.0, 0.0), (10.0, 5.0)), rate=0.5, gamma=0.5)
    knowledge = player.taught(player.untaught(), (0, 1))
    assert knowledge.worth[0] == (0.5 * 20 + 0.5 * (0 + 0.5 * 20), 20)
    assert knowledge.counts[0] == (0, 1) and knowledge.state == 2
    plain = QLearning(((8.0, 0.0), (10.0, 5.0)), rate=1.0, optimistic=False)
    assert plain.taught(plain.untaught(), (1, 1)).worth[0] == (0, 5)


def test_q_learning_finds_the_best_reply():
    assert set(moves(episode("rps", "single_action", 1, "q_learning"))[-20:]) == {1}


def test_epsilon_greedy_play_keeps_exploring():
    settings = {"epsilon": 1.0}
    of = episode("ipd", "single_action", 1, "q_learning", settings=settings)
    assert 30 < sum(moves(of)) < 70


def test_fictitious_play_best_responds_to_its_counts():
    of = episode("rps", "single_action", 1, "fictitious_learner", params={"action": 1})
    assert set(moves(of)[1:]) == {2}
    assert predictions(of) == [0] + [1] * 99
    player = Fictitious(((8.0, 0.0), (10.0, 5.0)))
    assert player.pay == pay_of("x", registry.game("ipd").build({}), AGENT)


@pytest.mark.parametrize(
    ("player", "settings", "why"),
    [
        ("tabular", {"gamma": 1.0}, "gamma must be"),
        ("tabular", {"visits": 0}, "visits must be"),
        ("tabular", {"ties": "last"}, "ties must be"),
        ("q_learning", {"rate": 0}, "rate must be"),
        ("q_learning", {"epsilon": 2}, "epsilon must be"),
    ],
)
def test_invalid_settings_are_refused(player, settings, why):
    with pytest.raises(BadInput, match=why):
        episode("ipd", "tit_for_tat", player=player, settings=settings)


@pytest.mark.parametrize("player", ["tabular", "q_learning", "fictitious_learner"])
def test_learners_of_repeated_games_refuse_other_games(player):
    spec = registry.game("cups")
    game = spec.build({})
    kind = registry.players("repeated_games")[player]
    with pytest.raises(BadInput, match="repeated games only"):
        kind.make(spec, game, Seat(game.seats[0]))
