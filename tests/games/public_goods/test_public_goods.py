"""Public goods by the rules: what giving pays oneself and all, and partners by their rules."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import sally
from sally.core.errors import BadInput
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.core.rules.simultaneous import mean_of
from sally.games.public_goods.metrics import METRICS, slope
from sally.games.public_goods.rules import SEATS, PublicGoods
from sally.games.public_goods.spec import a_round

ONE, TWO = SEATS[:2]


@pytest.mark.parametrize(("players", "ratio"), [(2, 1.5), (4, 2.0), (3, 4.0), (5, 0.5)])
def test_dominance_and_joint_optimum_hold_by_enumeration(players: int, ratio: float) -> None:
    game = PublicGoods(players=players, tokens=3, ratio=ratio)
    for others in itertools.product(game.menu, repeat=players - 1):
        paid = [game.round_payoffs((own_option, *others))[0] for own_option in game.menu]
        assert game.menu[paid.index(max(paid))] == game.dominant
    sums = {
        own_option: sum(game.round_payoffs((own_option,) * players)) for own_option in game.menu
    }
    assert max(sums, key=lambda own_option: sums[own_option]) == game.joint_optimum
    ends = [p for g in itertools.product(game.menu, repeat=players) for p in game.round_payoffs(g)]
    assert a_round(game, ONE) == pytest.approx((min(ends), max(ends)))


def test_round_pays_kept_tokens_and_a_share_of_the_pot() -> None:
    game = PublicGoods(players=4, tokens=20, ratio=2.0, rounds=2)
    state = game.step(game.start(), dict(zip(game.seats, (0, 20, 10, 10), strict=True)))
    assert game.payoffs(state) == dict(zip(game.seats, (40.0, 20.0, 30.0, 30.0), strict=True))
    assert sum(game.round_payoffs((5, 6, 7, 8))) == pytest.approx(
        80 + 26
    )  # a token given makes one more


def test_void_round_pays_and_reveals_nothing() -> None:
    game = PublicGoods(players=2)
    state = game.forfeit(game.start(), {ONE: 7}, (TWO,))
    assert set(game.payoffs(state).values()) == {0.0}
    assert list(game.observe(state, TWO).past) == [None]


def test_contributions_are_visible_only_after_the_round() -> None:
    game = PublicGoods(players=2)
    state = game.start()
    assert game.observe(state, ONE) == game.observe(state, ONE)
    next_states = [game.step(state, {ONE: 3, TWO: n}) for n in (3, 4)]
    assert game.observe(next_states[0], ONE).last != game.observe(next_states[1], ONE).last


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"players": 1}, "players"),
        ({"tokens": 0}, "tokens"),
        ({"ratio": -1.0}, "ratio"),
        ({"ratio": float("nan")}, "ratio"),
        ({"rounds": 0}, "rounds"),
        ({"tokens": 20, "unit": 3}, "unit"),
    ],
)
def test_parameters_are_checked(params: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        PublicGoods(**params)


def contributions(first: str, second: str, **params: Any) -> list[tuple[int, int]]:
    actual_params = {"players": 2, "rounds": 4, "ratio": 1.5, **params}
    game = sally.play("public_goods", {"player_1": first, "player_2": second}, **actual_params)
    spec = registry.game("public_goods")
    return [tuple(g) for g in replay_episode(spec, game).present.past]


@pytest.mark.parametrize(
    ("partner", "given"),
    [
        ("free_rider", [0, 0, 0, 0]),
        ("giver", [20, 20, 20, 20]),
        ("matcher", [20, 0, 0, 0]),
        ("conditional_cooperator", [10, 0, 0, 0]),
        ("threshold", [20, 0, 0, 0]),
    ],
)
def test_partners_keep_to_their_rules_against_a_free_rider(partner: str, given: list[int]) -> None:
    assert [other_move for _, other_move in contributions("free_rider", partner)] == given


def test_partners_that_react_follow_a_giver() -> None:
    assert contributions("giver", "conditional_cooperator")[1:] == [(20, 16)] * 3
    assert contributions("giver", "threshold") == [(20, 20)] * 4
    assert contributions("giver", "conditional_cooperator", unit=20)[0] == (20, 20)  # nearest


def test_measures_on_both_scales() -> None:
    seats = {str(s): "giver" for s in SEATS[:4]} | {"player_1": "free_rider"}
    episode = sally.play("public_goods", seats)
    spec = registry.game("public_goods")
    played = Played(spec, episode, replay_episode(spec, episode))
    result = {m.name: (m.measure(played, ONE), m.measure(played, TWO)) for m in METRICS}
    assert result["own_regret"] == (0.0, pytest.approx(20 * 0.5))
    assert result["joint_regret"] == (pytest.approx(20.0), 0.0)
    assert result["given_share"] == (0.0, 100.0)
    assert result["earned_per_round"] == (pytest.approx(50.0), pytest.approx(30.0))
    assert result["conditional_slope"] == (None, None)  # the others never change
    assert slope([(0, 1), (1, 3), (2, 5)]) == pytest.approx(2.0)
    assert mean_of((1, 2)) == 2 and mean_of((1, 1, 2)) == 1
