"""Minds of order k at rock, paper, scissors: who foresees whom, as de Weerd et al. (2013) found."""

from __future__ import annotations

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.games.repeated_games.rules import PARTNER
from tests.table import play_episode, table

ROUNDS, GAMES = 6, 40  # a table of the tests has six rounds


def won(k: int, against: int) -> float:
    """The mean score a round of order k against another order."""
    own_player, their_player = PlayerSpec("tom_k", {"k": k}), PlayerSpec("tom_k", {"k": against})
    total = 0.0
    for seed in range(GAMES):
        payoffs = play_episode(table("rps", seed, agent=own_player, partner=their_player)).payoffs
        assert payoffs is not None
        total += payoffs["agent"]
    return total / GAMES / ROUNDS


@pytest.mark.parametrize("k", [1, 2])
def test_each_order_outperforms_the_one_below(k: int) -> None:
    """The paper's abstract: orders 1 and 2 clearly outperform lower orders."""
    assert won(k, k - 1) > 0.3


def test_third_order_adds_little() -> None:
    assert won(3, 2) < won(2, 1)


@pytest.mark.parametrize("settings", [{"k": -1}, {"k": 5}, {"rate": 0.0}, {"rate": 1.5}])
def test_invalid_settings_are_refused(settings: dict[str, float]) -> None:
    game = registry.game("rps").build()
    with pytest.raises(BadInput):
        registry.partners("repeated_games")["tom_k"].make(game, PARTNER, **settings)
