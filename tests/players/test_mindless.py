"""Players without a mind for the other do exactly what their rule says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.match.player import Player
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport, Question
from sally.games.repeated_games.players.minimax import security
from sally.games.repeated_games.rules import AGENT, Joint
from sally.players.mindless import Inverse, Random
from sally.runner.seating import seat_player
from tests.games.repeated_games.sitting import rules, turn_after

THEIR_MOVE = Question("their_move", "choice", (0, 1, 2), about="partner")


def sits(player: str, game: str = "rps", **params: Any) -> Player:
    return seat_player(registry.game(game), rules(game), AGENT, PlayerSpec(player, params))


def acts(player: Player, past: list[Joint | None], seed: int = 1) -> int:
    move: Any = player.decide(turn_after(rules("rps"), past, AGENT, seed))
    return int(move.action)


def says(player: Any, past: list[Joint | None], seed: int = 1, ask: Question = THEIR_MOVE) -> Any:
    turn = turn_after(rules("rps"), past, AGENT, seed)
    turn.question = ask
    return player.report(turn)


# (agent's, partner's): the partner played P, S, S, a void round, R
PAST: list[Joint | None] = [(0, 1), (0, 2), (1, 2), None, (1, 0)]


def test_copy_last_plays_and_predicts_the_last_move() -> None:
    player = sits("copy_last")
    assert acts(player, PAST) == 0
    assert acts(player, PAST[:4]) == 2  # a void round reveals nothing
    assert says(player, PAST).value == 0
    assert {acts(player, [], seed) for seed in range(30)} == {0, 1, 2}


def test_majority_plays_and_predicts_the_most_frequent_move() -> None:
    player = sits("majority")
    assert acts(player, PAST) == 2
    assert says(player, PAST).value == 2
    assert {acts(player, [(0, 1), (0, 2)], seed) for seed in range(30)} == {1, 2}  # a tie


def test_constant_gives_the_same_option_for_move_and_probes() -> None:
    player = sits("constant", place=1)
    assert acts(player, PAST) == 1
    assert says(player, PAST).value == 1
    odds = Question("their_odds", "odds", (0, 1, 2), about="partner")
    assert says(player, PAST, ask=odds) == ProbeReport(1, (0.0, 1.0, 0.0))


@pytest.mark.parametrize("of", ["constant", "copy_last", "majority", "tit_for_tat"])
def test_inverse_plays_uniformly_over_the_other_moves(of: str) -> None:
    player, turned = sits(of), sits("inverse", of=of)
    avoided = acts(player, PAST)
    counts = Counter(acts(turned, PAST, seed) for seed in range(2000))
    assert set(counts) == {0, 1, 2} - {avoided}
    assert max(counts.values()) / 2000 == pytest.approx(0.5, abs=0.05)


def test_inverse_of_random_is_random() -> None:
    """It draws from a stream of its own; with the same one, moves would be tied together."""
    counts = Counter(acts(Inverse(Random()), [], seed) for seed in range(3000))
    assert all(counts[move] / 3000 == pytest.approx(1 / 3, abs=0.03) for move in (0, 1, 2))


def test_inverse_also_inverts_reports() -> None:
    assert {says(sits("inverse", of="majority"), PAST, seed).value for seed in range(30)} == {0, 1}
    values = Question("worth", "values", ("a", "b"), low=0, high=10)
    assert says(sits("inverse", of="constant"), PAST, ask=values).value == {"a": 10.0, "b": 10.0}


def test_minimax_plays_the_security_strategy() -> None:
    """ibs: 10 p = 7 (1 - p), so the agent plays 0 with chance 7/17 and can be sure of 70/17."""
    even = security(rules("rps"), AGENT)
    assert all(even[move] == pytest.approx(1 / 3) for move in (0, 1, 2))
    assert security(rules("ibs"), AGENT)[0] == pytest.approx(7 / 17)
    assert security(rules("ibs"), Seat("partner"))[0] == pytest.approx(10 / 17)
    assert security(rules("ipd"), AGENT) == {1: 1.0}


def test_minimax_predicts_the_security_strategy_of_the_other() -> None:
    report = says(sits("minimax"), PAST)
    assert report.odds == pytest.approx((1 / 3, 1 / 3, 1 / 3))


@pytest.mark.parametrize("player", ["copy_last", "majority"])
def test_rules_about_rounds_need_rounds(player: str) -> None:
    spec = registry.game("cups")
    game = spec.build({})
    with pytest.raises(BadInput, match=f"`{player}`.*cups is not one"):
        seat_player(spec, game, game.seats[0], PlayerSpec(player))


def test_inverse_of_unknown_player_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean copy_last"):
        sits("inverse", of="copylast")
