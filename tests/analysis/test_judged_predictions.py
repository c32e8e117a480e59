"""Knowing states the predictions that it rests on; forfeited moves leave predictions unjudged."""

from __future__ import annotations

import msgspec

import sally
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.rules.probe import ProbeReport
from sally.frames.measured_seat import measure_episode
from tests.analysis.profiles import profile_of


class OftenSilent(msgspec.Struct, frozen=True):
    """A player that predicts in every round and moves in every second one."""

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(0)

    def decide(self, turn: Turn) -> Decision[int] | Forfeit:
        return Forfeit("unreadable") if turn.number % 2 else Decision(0)


def test_predictions_of_void_rounds_are_asked_and_not_judged() -> None:
    lineup = {"agent": OftenSilent(), "partner": "tit_for_tat"}
    probes = {"agent": ["their_move"]}
    episode = sally.play("rps", lineup, 1, probes=probes, rounds=10, void_limit=10)
    (row,) = profile_of(measure_episode(episode, ("agent",)))
    assert (row.predictions, row.predictions_asked) == (5, 10)
    assert row.forfeits == 5
