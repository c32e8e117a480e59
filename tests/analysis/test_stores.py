"""Stores line by line: each episode once, finished runs for cut ones, bad lines said."""

from __future__ import annotations

from pathlib import Path

import msgspec

import sally
from sally import store
from sally.analysis.columns.measured import measured
from sally.analysis.columns.measured_table import table_of
from sally.analysis.episodes.stores import each_once, measured_stores
from sally.core.log.events import Censored, Episode, to_line


def played(seed: int) -> Episode:
    return sally.play("rps", {"agent": "random", "partner": "tit_for_tat"}, seed, rounds=3)


def cut(episode: Episode) -> Episode:
    return msgspec.structs.replace(episode, events=[Censored(turn=0, cause="budget")])


def kept(folder: Path, *episodes: Episode) -> Path:
    folder.mkdir()
    with store.Writer(folder) as writer:
        for episode in episodes:
            writer.add(episode)
    return folder


def test_finished_episode_replaces_censored_one_in_any_store(tmp_path: Path):
    one, two, three = (played(seed) for seed in range(3))
    first = kept(tmp_path / "a", cut(one), two, cut(three))
    second = kept(tmp_path / "b", one, two)
    found = list(each_once([first, second]))
    assert sorted(e.id for e in found) == sorted(e.id for e in (one, two, three))
    assert {e.id for e in found if e.payoffs is None} == {three.id}
    stores = measured_stores([first, second], "agent")
    assert stores.episodes == 3
    assert {m.episode for m in stores.measured if m.censored} == {three.id}
    assert stores == measured_stores([first, second], "agent")


def test_invalid_line_is_reported_and_the_rest_is_read(tmp_path: Path):
    folder = kept(tmp_path / "a", played(1))
    (folder / "torn.jsonl").write_bytes(to_line(played(2))[:40])
    said: list[str] = []
    assert len(list(each_once([folder], said.append))) == 1
    assert len(said) == 1 and "torn.jsonl, line 1" in said[0]
    assert measured_stores([folder]).bad == tuple(said)


def test_only_probed_seats_are_measured_unless_a_seat_is_named(tmp_path: Path):
    asked = sally.play(
        "rps", {"agent": "random", "partner": "tit_for_tat"}, probes={"agent": ["their_move"]},
        rounds=3,
    )  # fmt: skip
    folder = kept(tmp_path / "a", asked)
    assert [m.seat for m in measured_stores([folder]).measured] == ["agent"]
    assert [m.seat for m in measured_stores([folder], "partner").measured] == ["partner"]
    assert measured_stores([folder]).seats == {"agent", "partner"}


def test_measured_seats_round_trip_through_the_table():
    probes = {"agent": ["their_odds"]}
    seats = [
        *measured(played(1)),
        *measured(cut(played(2))),
        *measured(sally.play("rps", {"agent": "tabular", "partner": "random"}, 2**70, rounds=6,
                           probes=probes)),
        *measured(sally.play("hanabi_mini", {"ann": "random", "bob": "random"}, 3)),
    ]  # fmt: skip
    table = table_of(seats)
    assert list(table) == seats and table[1:3] == seats[1:3]
    assert list(table.take(table.of("asked") > 0)) == [m for m in seats if m.knowing.asked]
    assert table_of(table) is table and len(table_of([])) == 0
