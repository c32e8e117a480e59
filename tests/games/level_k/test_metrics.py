"""What metrics, losses and probes say of games that were set up by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Forfeit
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.core.rules.probe import At, ProbeReport
from sally.runner.seating import players_of, resolve_setup

ONE, TWO = Seat("player_1"), Seat("player_2")


def game_with(
    game: str,
    moves: list[int | None],
    others: dict[str, PlayerSpec],
    says: int | None = None,
    **params: Any,
) -> Played:
    """An episode in which player 1 does as told (None: it forfeits), and says what it expects."""
    spec = registry.game(game)
    lineup = {"player_1": PlayerSpec("constant"), **others}
    arms = {"player_1": ("their_move", "their_depth")} if says is not None else {}
    rounds = {"rounds": len(moves)}
    setup = resolve_setup(Setup(Instance("x", game, {**rounds, **params}), 1, lineup, arms=arms))
    match = Match(spec, setup)
    players: Any = players_of(match, others)
    while asks := match.asks():
        turn = asks[0]
        if turn.seat != ONE:
            match.answer(turn.id, players[turn.seat].decide(turn))
        elif turn.question is None:
            move = moves[turn.number]
            match.answer(turn.id, Forfeit("unreadable") if move is None else Decision(move))
        elif turn.question.probe == "their_depth":
            match.answer(turn.id, ProbeReport(1, (0.0, 1.0, 0.0, 0.0)))
        else:
            match.answer(turn.id, ProbeReport(says))
    return Played(spec, match.episode(), match.replay)


def measure_metric(played: Played, name: str, seat: Seat = ONE) -> float | None:
    return registry.metrics("level_k")[name].measure(played, seat)


LEVEL_1 = {"player_2": PlayerSpec("level", {"k": 1})}  # asks for 19


@pytest.mark.parametrize(
    ("asked", "regret", "depth", "over"),
    [(18, 0, 2, 0), (20, 18, 0, -2), (19, 19, 1, -1), (15, 23, 5, 3)],
)
def test_right_depth_is_one_above_the_partners(
    asked: int, regret: float, depth: float, over: float
) -> None:
    played = game_with("eleven_twenty", [asked], LEVEL_1)
    assert measure_metric(played, "depth_regret") == pytest.approx(regret)
    assert measure_metric(played, "depth_played") == depth
    assert measure_metric(played, "over_thinking") == over
    assert measure_metric(played, "best_reply_percent") == (100 if regret == 0 else 0)


def test_void_rounds_are_left_out_of_the_metrics() -> None:
    played = game_with("eleven_twenty", [18, None, 20], LEVEL_1)
    assert measure_metric(played, "won_per_round") == (38 + 20) / 2
    assert measure_metric(played, "depth_regret") == (0 + 18) / 2
    assert measure_metric(played, "forfeits") == 1


def test_regret_is_blank_against_undeclared_partner() -> None:
    played = game_with("matching_pennies", [0, 1], {"player_2": PlayerSpec("repeater")})
    for name in ("depth_regret", "best_reply_percent", "over_thinking", "depth_played"):
        assert measure_metric(played, name) is None
    assert measure_metric(played, "won_per_round") is not None


def test_regret_against_k_tom_uses_its_odds_given_the_history() -> None:
    """After 1 1 a 0-ToM matcher leans towards 1 with 0.7377: differing is worth 0.4754 a round."""
    played = game_with(
        "matching_pennies", [1, 1], {"player_2": PlayerSpec("constant", {"place": 1})}
    )
    replay = played.replay
    mind = registry.partners("level_k")["k_tom"]
    assert mind.params["k"] == 1
    lineup = {**replay.lineup, "player_2": PlayerSpec("k_tom", {"k": 0})}
    replay.lineup = lineup
    lost = 2 * 0.737700 - 1  # of playing 1 where 0 is best, against the chance of 1
    value = measure_metric(Played(played.spec, played.episode, replay), "depth_regret")
    assert value == pytest.approx((0 + 2 * lost) / 2, abs=1e-5)


def test_losses_separate_wrong_prediction_from_unused_right_one() -> None:
    losses = registry.part("eleven_twenty", "losses")
    unused = losses(game_with("eleven_twenty", [20], LEVEL_1, says=19), ONE)
    assert (unused.inference, unused.translation) == (0, 18)
    wrong = losses(game_with("eleven_twenty", [19], LEVEL_1, says=20), ONE)
    assert (wrong.inference, wrong.translation) == (19, 0)
    silent = losses(game_with("eleven_twenty", [None], LEVEL_1, says=20), ONE)
    assert (silent.inference, silent.format) == (None, 38)


def truth(played: Played, probe: str, about: str = "player_2") -> Any:
    return played.spec.probe(probe).truth(played.replay, At(0, ONE, probe, about))


def test_probe_truths_come_from_the_partners_declaration() -> None:
    played = game_with("eleven_twenty", [18], {"player_2": PlayerSpec("level", {"k": 2})})
    assert truth(played, "their_depth") == 2
    assert truth(played, "their_move") == 18
    assert truth(played, "their_guess_of_me") == 19  # it takes the other for level 1
    deep = game_with("eleven_twenty", [18], {"player_2": PlayerSpec("level", {"k": 5})})
    assert truth(deep, "their_depth") == 3  # or more
    nobody = game_with("eleven_twenty", [18], {"player_2": PlayerSpec("people")})
    assert truth(nobody, "their_depth") is None
    assert truth(nobody, "their_guess_of_me") is None


def test_truth_about_several_partners_is_mean_move_and_shared_depth() -> None:
    same_players = {f"player_{n}": PlayerSpec("level", {"k": 1}) for n in (2, 3)}
    played = game_with("beauty_contest", [22], same_players)
    assert truth(played, "their_move", "others") == 33
    assert truth(played, "their_depth", "others") == 1
    mixed = {"player_2": PlayerSpec("level", {"k": 1}), "player_3": PlayerSpec("level", {"k": 2})}
    unlike = game_with("beauty_contest", [22], mixed)
    assert truth(unlike, "their_move", "others") == 28  # 27.5, rounded up
    assert truth(unlike, "their_depth", "others") is None
    assert truth(unlike, "their_guess_of_me", "others") == 42  # of 50 and 33: 41.5


def test_void_round_has_no_truth() -> None:
    played = game_with("eleven_twenty", [None, 18], LEVEL_1)
    assert truth(played, "their_move") is None


def test_estimate_comes_with_its_uncertainty() -> None:
    played = game_with("eleven_twenty", [18, 18, 18], LEVEL_1)
    assert measure_metric(played, "estimated_depth") == pytest.approx(2, abs=0.01)
    unsure = measure_metric(played, "estimated_depth_sd")
    assert unsure is not None and 0 < unsure < 0.1
