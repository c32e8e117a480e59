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
    player = PlayerSpec("language", {"model": "first", "strategy": "lm"})
    return sally.play(
        "rps",
        {"agent": player, "partner": "tit_for_tat"},
        rounds=6,
        names=["F", "B", "J"],
        probes={"agent": ["their_move"]},
    )


def _reply(messages, settings):
    return "Option: F"


def test_probe_decision_is_labelled_with_the_partners_next_move(episode):
    actual_decisions = list(decisions([episode], place="probe"))
    assert [actual_decision.turn for actual_decision in actual_decisions] == list(range(6))
    played = [e.action for e in episode.events if e.seat == "partner"]
    assert [actual_decision.value for actual_decision in actual_decisions] == played
    reports = [e.value for e in episode.events if isinstance(e, Reported)]
    assert [actual_decision.forecast for actual_decision in actual_decisions] == reports
    assert actual_decisions[3].past == tuple(played[:3])
    assert actual_decisions[0].names == ("F", "B", "J")
    assert actual_decisions[0].letters == "B F J"


def test_prompt_hashes_equal_those_of_the_log(episode):
    logged = {call.prompt for event in episode.events for call in event.calls}
    hashes = [
        decision.hash for name in ("move", "probe") for decision in decisions([episode], place=name)
    ]
    assert set(hashes) == logged


def test_own_moves_and_forecasts_can_be_labels(episode):
    moves = [e.action for e in episode.events if e.seat == "agent" and hasattr(e, "action")]
    assert [decision.value for decision in decisions([episode], "own_move")] == moves
    asked_decisions = list(decisions([episode], "own_forecast", "probe"))
    assert [decision.value for decision in asked_decisions] == [
        decision.forecast for decision in asked_decisions
    ]


def test_changed_prompt_is_refused_with_one_message(episode):
    def changed(event):
        calls = tuple(msgspec.structs.replace(call, prompt="0" * 32) for call in event.calls)
        return msgspec.structs.replace(event, calls=calls) if event.calls else event

    other_episode = msgspec.structs.replace(episode, events=[changed(e) for e in episode.events])
    with pytest.raises(BadInput, match=r"hash .* while the log has 0000"):
        list(decisions([other_episode]))


def test_unknown_label_is_refused_by_name():
    with pytest.raises(BadInput, match="their_move"):
        probe_named(registry.game("rps"), "their_mood")


def test_sample_depends_on_its_seed_and_not_on_the_order(episode):
    all_decisions = list(decisions([episode]))
    drawn_decisions = sample_decisions(all_decisions, 3, seed=1)
    assert len(drawn_decisions) == 3
    assert {item.turn for item in sample_decisions(all_decisions[::-1], 3, seed=1)} == {
        item.turn for item in drawn_decisions
    }
    assert (
        len({tuple(o.turn for o in sample_decisions(all_decisions, 3, seed=n)) for n in range(9)})
        > 1
    )
