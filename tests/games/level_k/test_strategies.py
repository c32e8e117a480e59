"""Models at games of numbers: every way of prompting asks for a number and reads one."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Moved, Reported, Setup
from sally.core.registry import registry
from sally.core.registry.study import instance, player_spec
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from tests.strategies.talk import Listener

REPLY = "Reasoning: 2/3 of 33.3 is 22.2.\nPrediction: 33\nNumber: 22"
BY_QUESTION = ("qa", "cot", "cot_3shot", "zero_shot", "chat", "self_consistency")
WITH_PREDICTION = ("tom_cot", "tom_guide", "social_qa")


def setup_with(strategy: str, model: Listener) -> Setup:
    registry.add("models", "listener", lambda name: model)
    me = player_spec("language", model="listener", strategy=strategy)
    others = {seat: player_spec("level", k=1) for seat in ("player_2", "player_3")}
    return Setup(instance("beauty_contest"), 1, {"player_1": me, **others})


@pytest.mark.parametrize("strategy", [*BY_QUESTION, *WITH_PREDICTION])
def test_number_is_asked_for_and_read(strategy: str) -> None:
    pages: list[str] = []

    def reply(page: str, call: Any) -> str:
        pages.append(page)
        return REPLY

    episode = play(resolve_setup(setup_with(strategy, Listener(reply))))
    move = next(e for e in episode.events if isinstance(e, Moved) and e.seat == "player_1")
    assert move.action == 22
    assert any("whole number from 0 to 100" in page for page in pages)
    assert not any("37, 38, 39" in page for page in pages)  # nobody reads a hundred names
    foreseen = [e for e in episode.events if isinstance(e, Reported) and e.source == "decision"]
    if strategy in ("tom_cot", "tom_guide"):
        assert next((e.probe, e.value) for e in foreseen) == ("their_move", 33)


def test_fractional_prediction_is_recorded_as_missing() -> None:
    """Of 11 to 20, only 17 is a name in 17.5, and it is not what was said."""
    model = Listener(lambda page, call: "Prediction 1: 17.5\nPrediction 2: 18\nNumber: 16")
    full_setup = setup_with("tom_cot", model)
    lineup = {seat: full_setup.lineup[seat] for seat in ("player_1", "player_2")}
    episode = play(resolve_setup(Setup(instance("eleven_twenty"), 1, lineup)))
    foreseen = [e for e in episode.events if isinstance(e, Reported) and e.source == "decision"]
    assert [(e.probe, e.value) for e in foreseen] == [
        ("their_move", None),
        ("their_guess_of_me", 18),
    ]


def test_numbers_sharing_a_prefix_cannot_be_scored_by_name() -> None:
    """1 begins 10: scoring would give it the weight of both, so the table is refused."""
    with pytest.raises(BadInput, match="tell its names apart"):
        resolve_setup(setup_with("lm", Listener(lambda page, call: "")))
