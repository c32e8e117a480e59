"""Stored decisions are rendered again with the hashes of the log, and labelled from the replay."""

import msgspec
import pytest

import sally
from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec, Reported
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.represent.prompts import decisions, probe_named, sample_decisions


@pytest.fixture(scope="module")
def episode():
    """Six rounds of rps in which the model always presses the first letter it is offered."""
    registry.add("models", "first", lambda name: Scripted(_reply, lambda page, name: -len(name)))
    who = PlayerSpec("language", {"model": "first", "strategy": "lm"})
    return sally.play(
        "rps",
        {"agent": who, "partner": "tit_for_tat"},
        rounds=6,
        names=["F", "B", "J"],
        probes={"agent": ["their_move"]},
    )


def _reply(messages, settings):
    return "Option: F"


def test_probe_decision_is_labelled_with_the_partners_next_move(episode):
    found = list(decisions([episode], place="probe"))
    assert [one.turn for one in found] == list(range(6))
    played = [e.action for e in episode.events if e.seat == "partner"]
    assert [one.value for one in found] == played
    said = [e.value for e in episode.events if isinstance(e, Reported)]
    assert [one.said for one in found] == said
    assert found[3].past == tuple(played[:3])
    assert found[0].names == ("F", "B", "J")
    assert found[0].letters == "B F J"


def test_prompt_hashes_equal_those_of_the_log(episode):
    logged = {call.prompt for event in episode.events for call in event.calls}
    found = [one.hash for at in ("move", "probe") for one in decisions([episode], place=at)]
    assert set(found) == logged


def test_own_moves_and_forecasts_can_be_labels(episode):
    moves = [e.action for e in episode.events if e.seat == "agent" and hasattr(e, "action")]
    assert [one.value for one in decisions([episode], "own_move")] == moves
    asked = list(decisions([episode], "own_forecast", "probe"))
    assert [one.value for one in asked] == [one.said for one in asked]


def test_changed_prompt_is_refused_with_one_message(episode):
    def changed(event):
        calls = tuple(msgspec.structs.replace(call, prompt="0" * 32) for call in event.calls)
        return msgspec.structs.replace(event, calls=calls) if event.calls else event

    other = msgspec.structs.replace(episode, events=[changed(e) for e in episode.events])
    with pytest.raises(BadInput, match=r"hash .* while the log has 0000"):
        list(decisions([other]))


def test_unknown_label_is_refused_by_name():
    with pytest.raises(BadInput, match="their_move"):
        probe_named(registry.game("rps"), "their_mood")


def test_sample_depends_on_its_seed_and_not_on_the_order(episode):
    every = list(decisions([episode]))
    drawn = sample_decisions(every, 3, seed=1)
    assert len(drawn) == 3
    assert {one.turn for one in sample_decisions(every[::-1], 3, seed=1)} == {
        one.turn for one in drawn
    }
    assert len({tuple(o.turn for o in sample_decisions(every, 3, seed=n)) for n in range(9)}) > 1
