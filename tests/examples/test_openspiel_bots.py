"""Sally's partners as bots of OpenSpiel, and its bots as players, where OpenSpiel is installed."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspiel", reason="needs open_spiel")

import pyspiel
from openspiel_bots import BotPlayer, PartnerBot, game_of, params_of, roshambo

import sally
from sally.core.errors import BadInput
from sally.core.log.events import Moved
from sally.games.repeated_games.rules import RepeatedGame


def play_games(game: Any, *bots: Any) -> tuple[list[int], list[float]]:
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_actions([bot.step(state) for bot in bots])
    return state.history(), state.returns()


class Scripted(pyspiel.Bot):  # type: ignore[misc]
    def __init__(self, moves: list[int]) -> None:
        pyspiel.Bot.__init__(self)
        self._moves = moves

    def restart_at(self, state: Any) -> None:
        pass

    def step(self, state: Any) -> int:
        return self._moves[len(state.history()) // 2]


def test_partner_plays_in_openspiel_evaluate_bots() -> None:
    np = pytest.importorskip("numpy")
    evaluate = pytest.importorskip("open_spiel.python.algorithms.evaluate_bots")
    game = pyspiel.create_repeated_game("matrix_pd", {"num_repetitions": 6})
    state, bots = game.new_initial_state(), [Scripted([0, 1, 0, 0, 1, 1]), None]
    bots[1] = PartnerBot(game, 1, "tit_for_tat")
    returns = evaluate.evaluate_bots(state, bots, np.random.RandomState(1))
    assert state.history()[1::2] == [0, 0, 1, 0, 0, 1]
    assert returns == [5 + 10 + 0 + 5 + 10 + 1, 5 + 0 + 10 + 5 + 0 + 1]


@pytest.mark.parametrize("player", [0, 1])
def test_partner_sits_in_either_seat(player: int) -> None:
    game = pyspiel.create_repeated_game("matrix_rps", {"num_repetitions": 5})
    bots = [Scripted([2, 0, 1, 1, 0]), Scripted([2, 0, 1, 1, 0])]
    bots[player] = PartnerBot(game, player, "tit_for_tat")
    history, _ = play_games(game, *bots)
    assert history[1 - player :: 2][:-1] == [2, 0, 1, 1]
    assert history[player::2][1:] == [0, 1, 2, 2]  # with three moves it beats the other's last


def test_matrix_games_convert_to_openspiel_and_back() -> None:
    rules = RepeatedGame(matrix=(((1, 2), (3, 4), (5, 6)), ((7, 8), (9, 10), (11, 12))), rounds=7)
    assert params_of(game_of(rules)) == {"matrix": rules.matrix, "rounds": 7}
    assert params_of(pyspiel.load_game("matrix_pd"))["rounds"] == 1
    with pytest.raises(BadInput, match="not a matrix game"):
        params_of(pyspiel.load_game("tic_tac_toe"))
    with pytest.raises(BadInput, match="no counterpart"):
        game_of(RepeatedGame(stop_chance=0.1))


def test_openspiel_bot_plays_same_moves_in_sally() -> None:
    rounds = 12
    game = pyspiel.create_repeated_game("matrix_rps", {"num_repetitions": rounds})
    partner = PartnerBot(game, 1, "tit_for_tat", seed=3)
    numbers, _ = play_games(game, pyspiel.make_roshambo_bot(0, "rotatebot"), partner)
    lineup = {"agent": BotPlayer(roshambo("rotatebot")), "partner": "tit_for_tat"}
    episode = sally.play("rps", lineup, seed=3, rounds=rounds)
    moves = [[e.action for e in episode.events if isinstance(e, Moved) and e.seat == seat]
             for seat in ("agent", "partner")]  # fmt: skip
    assert moves == [numbers[0::2], numbers[1::2]] and len(set(moves[0])) == 3


def test_strong_bot_exploits_a_constant_partner() -> None:
    lineup = {
        "agent": ("single_action", {"action": 0}),
        "partner": BotPlayer(roshambo("greenberg")),
    }
    paid = sally.play("rps", lineup, rounds=60).payoffs
    assert paid is not None and paid["partner"] - paid["agent"] > 40


def test_one_player_serves_two_matches_and_refuses_other_games() -> None:
    bot = BotPlayer(roshambo("copybot"))
    for seed in (1, 2):
        lineup = {"agent": ("single_action", {"action": 1}), "partner": bot}
        episode = sally.play("rps", lineup, seed=seed, rounds=8)
        moves = [e.action for e in episode.events if isinstance(e, Moved) and e.seat == "partner"]
        assert set(moves[1:]) == {2}  # it beats the other's last move
    with pytest.raises(BadInput, match="play repeated games"):
        sally.play("step_race", dict.fromkeys(("player_1", "player_2", "player_3"), bot))
    with pytest.raises(BadInput, match="OpenSpiel bot"):
        roshambo("greenburg")
