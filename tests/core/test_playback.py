"""Playback: a log that was touched is found out, one that was not is not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode, Event, Injection, from_line, to_line
from sally.core.match.playback import mismatch, replay_episode
from tests.fixtures.haggle_rules import Reading, Say
from tests.table import all_probes, match_of, play_episode, seat, spec_of, table

GAMES = ("cups", "haggle", "rps", "ipd, chance to stop")


def store_episodes(name: str, seed: int = 1) -> Episode:
    injection = Injection(spec_of(name).probes[0].seats[0], spec_of(name).probes[0].name)
    setup = table(name, seed, arms=all_probes(name), injections=(injection,))
    return from_line(to_line(play_episode(setup)))


def touched(episode: Episode, events: list[Event]) -> Episode:
    return msgspec.structs.replace(episode, events=events)


@pytest.mark.parametrize("name", GAMES)
def test_missing_duplicated_or_moved_event_is_a_mismatch(name: str) -> None:
    episode = store_episodes(name)
    assert mismatch(spec_of(name), episode) is None
    events = episode.events
    for i in range(len(events)):
        assert mismatch(spec_of(name), touched(episode, events[:i] + events[i + 1 :]))
        assert mismatch(spec_of(name), touched(episode, events[: i + 1] + events[i:]))
        if i and events[i] != events[i - 1]:
            swapped = [*events[: i - 1], events[i], events[i - 1], *events[i + 1 :]]
            assert mismatch(spec_of(name), touched(episode, swapped))


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_changed_fact_is_a_mismatch_and_never_raises(name: str, data: st.DataObject) -> None:
    """Facts are what the rules answer for: turns, seats, payoffs, and moves that matter."""
    episode = store_episodes(name)
    i = data.draw(st.integers(0, len(episode.events) - 1))
    plain: dict[str, Any] = msgspec.to_builtins(episode.events[i])
    key = data.draw(st.sampled_from(sorted(set(plain) & {"turn", "seat", "payoffs", "action"})))
    wrong: dict[str, Any] = {
        "turn": plain["turn"] + 1,
        "seat": "nobody",
        "payoffs": {"nobody": 0.0},
        "action": {"kind": "?"},
    }
    lie = msgspec.convert({**plain, key: wrong[key]}, Event, strict=False)
    events = [*episode.events[:i], lie, *episode.events[i + 1 :]]
    assert mismatch(spec_of(name), touched(episode, events)) is not None


def test_log_with_changed_setup_is_a_mismatch() -> None:
    episode = store_episodes("cups")
    other_setup = msgspec.structs.replace(episode.setup, seed=99)
    actual_mismatch = mismatch(spec_of("cups"), msgspec.structs.replace(episode, setup=other_setup))
    assert actual_mismatch is not None and "hash of its setup" in actual_mismatch


def test_unplayable_setup_is_a_mismatch_not_a_crash() -> None:
    from sally.core.log.events import episode_id

    episode = store_episodes("cups")
    for change in (
        {"arms": {"hider": ("gone",)}},
        {"instance": msgspec.structs.replace(episode.setup.instance, params={"peek_chance": 7})},
    ):
        setup = msgspec.structs.replace(episode.setup, **change)
        bad = msgspec.structs.replace(episode, setup=setup, id=episode_id(setup))
        assert "does not replay" in str(mismatch(spec_of("cups"), bad))


def test_older_version_of_the_rules_is_refused_by_name() -> None:
    episode = store_episodes("cups")
    old = msgspec.structs.replace(episode, setup=msgspec.structs.replace(episode.setup, version=0))
    with pytest.raises(BadInput, match="version 0 of the rules of cups; version 1 is installed"):
        replay_episode(spec_of("cups"), old)


def test_replay_needs_no_seed() -> None:
    """Nature's and the reader's moves are in the log."""
    episode = store_episodes("haggle")
    setup = msgspec.structs.replace(episode.setup, seed=12345, injections=())
    other_episode = msgspec.structs.replace(episode, setup=setup)
    assert (
        replay_episode(spec_of("haggle"), other_episode).states
        == replay_episode(spec_of("haggle"), episode).states
    )


def test_turn_cut_before_its_last_probe_is_not_replayed() -> None:
    match = match_of(table("ipd", arms={"agent": ("their_move_given_mine",)}))
    from sally.core.match.player import Decision

    for player_name in ("agent", "partner"):
        match.answer((0, player_name, "", ""), Decision(0))
    assert [t.question.probe for t in match.asks() if t.question] == ["their_move_given_mine"]
    match.censor("left", "closed the browser")
    replay = replay_episode(spec_of("ipd"), from_line(to_line(match.episode())))
    assert len(replay) == len(match.replay) == 0
    assert replay.move(0, seat("agent")) is None


def test_replay_exposes_moves_states_views_and_reports() -> None:
    episode = store_episodes("haggle")
    replay = replay_episode(spec_of("haggle"), episode)
    assert [type(s.moves.get(seat("ada"))) for s in replay.steps()][1] is Say
    assert isinstance(replay.move(2, seat("reader")), Reading)
    assert replay.move(2, seat("ada")) is None
    assert replay.view(1, seat("ada")).seat == "ada"
    assert len(replay.states) == len(replay) + 1
    assert replay.report(10**6, seat("ada"), "own_values", "ada") is None


def test_record_without_end_event_is_refused() -> None:
    episode = store_episodes("cups")
    with pytest.raises(BadInput, match="has not ended"):
        _ = touched(episode, episode.events[:-1]).end
    assert touched(episode, [Censored(0, "limit")]).payoffs is None
