"""What follows upon what, on games short enough to count by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.log.events import Instance, Setup
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.repeated_games.conduct import (
    METRICS,
    Rate,
    alternation,
    exploitation,
    forgiveness,
    is_coordination,
    is_dilemma,
    retaliation,
)
from sally.games.repeated_games.recorded_play import Made, Round, fed
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.parts.importers import recorded_player
from tests.games.repeated_games.sitting import rules

BY_NAME = {metric.name: metric for metric in METRICS}


def game(name: str, agent: str, partner: str, **params: Any) -> Played:
    """Two rows of letters, a dot where a side did not move."""
    names = {"ipd": "JF", "ibs": "JF", "rps": "RPS"}[name]

    def made(letter: str) -> Made:
        return "no move" if letter == "." else names.index(letter)

    rounds = [Round(made(a), made(b)) for a, b in zip(agent, partner, strict=True)]
    setup = Setup(
        Instance("x", name, {"rounds": len(rounds), "void_limit": 9, **params}),
        0,
        {AGENT: recorded_player("one"), PARTNER: recorded_player("two")},
    )
    spec = registry.game(name)
    episode, _ = fed(setup, rounds, {}, "", {})
    return Played(spec, episode, replay_episode(spec, episode))


def test_retaliation_and_forgiveness_are_counted_by_hand() -> None:
    played = game("ipd", "JJFFJJ", "JFFJJJ")
    # the other defected in rounds 2 and 3; the agent defected in 3 and 4
    assert retaliation(played, AGENT) == Rate(2, 2)
    # it was kind again in 4 and 5: the agent answered J and J
    assert forgiveness(played, AGENT) == Rate(2, 2)
    # round 4 was F against J, and J followed
    assert exploitation(played, AGENT) == Rate(0, 1)
    assert exploitation(played, PARTNER) == Rate(1, 1)


def test_grim_player_never_forgives_and_exploits_a_cooperator() -> None:
    grim = game("ipd", "JJFFFF", "JFJJJJ")
    assert BY_NAME["forgiveness"].measure(grim, AGENT) == 0.0
    assert BY_NAME["exploitation"].measure(grim, AGENT) == 1.0
    assert BY_NAME["retaliation"].measure(grim, PARTNER) == 0.0


def test_round_after_a_void_round_is_not_counted() -> None:
    played = game("ipd", "JJ.J", "FFFF")
    assert retaliation(played, AGENT) == Rate(0, 1)


def test_conduct_rates_are_blank_without_an_occasion() -> None:
    kind = game("ipd", "JJJ", "JJJ")
    for name in ("retaliation", "forgiveness", "exploitation"):
        assert BY_NAME[name].measure(kind, AGENT) is None
    assert BY_NAME["alternation"].measure(kind, AGENT) is None  # no coordination game


def test_alternation_counts_meetings_at_the_other_place() -> None:
    played = game("ibs", "JFJFFJ", "JFJFJJ")
    # after the meetings of rounds 1 to 4: F, J and F in turn, then apart
    assert alternation(played, AGENT) == Rate(3, 4)
    assert BY_NAME["same_move_share"].measure(played, AGENT) == pytest.approx(5 / 6)


def test_void_rounds_lower_the_win_rate_but_not_move_shares() -> None:
    played = game("rps", "PPR.", "RRPR")
    assert BY_NAME["win_rate"].measure(played, AGENT) == 0.5
    assert BY_NAME["win_rate"].measure(played, PARTNER) == 0.25
    assert BY_NAME["move_share_1"].measure(played, AGENT) == pytest.approx(2 / 3)
    assert BY_NAME["joint_move_share_10"].measure(played, AGENT) == pytest.approx(2 / 3)
    assert BY_NAME["joint_move_share_01"].measure(played, PARTNER) == pytest.approx(2 / 3)


def test_dilemma_and_coordination_games_are_recognized_by_payoffs() -> None:
    assert is_dilemma(rules("ipd")) and not is_coordination(rules("ipd"))
    assert is_coordination(rules("ibs")) and not is_dilemma(rules("ibs"))
    assert not is_dilemma(rules("rps")) and not is_coordination(rules("rps"))
