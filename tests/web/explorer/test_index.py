"""Every stored episode is listed once, and new ones as they come."""

from __future__ import annotations

import time

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode, episode_id, to_line
from sally.runner.run import run_study
from sally.web.explorer.index import ENDED, EpisodeFilter, EpisodeIndex
from tests.web.explorer.small_store import STUDY, index


def test_every_stored_episode_is_listed_once(folder):
    entries = index(folder).entries()
    assert {e.id for e in entries} == set(store.load(folder).episodes)
    assert {(e.study, e.game, e.cell) for e in entries} == {
        ("small", "rps", "rps"),
        ("small", "ipd", "ipd"),
    }
    assert entries[0].players[0] == "agent = random" and entries[0].outcome == ENDED


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (EpisodeFilter(), 5),
        (EpisodeFilter(game="rps"), 3),
        (EpisodeFilter(cell="ipd"), 2),
        (EpisodeFilter(player="tit_for"), 2),
        (EpisodeFilter(player="agent = random", game="ipd"), 2),
        (EpisodeFilter(outcome=ENDED), 5),
        (EpisodeFilter(outcome="censored"), 0),
        (EpisodeFilter(study="another"), 0),
    ],
)
def test_list_is_filtered_by_each_field(folder, wanted, count):
    assert len(index(folder).entries(wanted)) == count


def test_episode_is_read_back_whole(folder):
    episode_index, stored = index(folder), store.load(folder).episodes
    for entry in episode_index.entries():
        assert episode_index.episode(entry.store_name, entry.id) == stored[entry.id]


def cut_short(episode: Episode) -> Episode:
    """The same episode as one that was cut short at its beginning."""
    return msgspec.structs.replace(episode, events=[Censored(0, "left", "the person left")])


def test_new_lines_appear_during_and_after_writing(folder, tmp_path):
    out = tmp_path / "live"
    store.claim(out, store.Manifest("live", ""))
    first, two, *_ = store.load(folder).episodes.values()
    episode_index = EpisodeIndex([out])
    with store.Writer(out) as writer:
        writer.add(cut_short(first))
        episode_index.refresh()
        assert [e.outcome for e in episode_index.entries()] == ["left"]
        writer.add(two)
        episode_index.refresh()
        assert {e.id for e in episode_index.entries()} == {first.id, two.id}
    with store.Writer(out) as writer:
        writer.add(first)  # played to its end after all
        episode_index.refresh()
    episode_index.refresh()
    assert [e.outcome for e in episode_index.entries()] == [ENDED, ENDED]
    assert episode_index.episode("live", first.id) == first
    (row,) = [p for p in episode_index.progress() if p.cell == first.cell]
    assert (row.study, row.ended, row.wanted) == ("live", 1 + (first.cell == two.cell), None)


def test_replaced_file_is_read_again(folder, tmp_path):
    out = tmp_path / "again"
    store.claim(out, store.Manifest("again", ""))
    first, two, *_ = store.load(folder).episodes.values()
    episode_index = EpisodeIndex([out])
    for kept in ((first, two), (two,), (first, first, two)):  # shorter, then longer
        store.Folder(out).put("people.jsonl", b"".join(to_line(e) for e in kept))
        episode_index.refresh()
        assert {e.id for e in episode_index.entries()} == {e.id for e in kept}


def test_bad_line_is_counted_and_the_rest_is_listed(folder, tmp_path):
    out = tmp_path / "bad"
    store.claim(out, store.Manifest("bad", ""))
    episode = next(iter(store.load(folder).episodes.values()))
    (out / "x.jsonl").write_bytes(b"no episode\n" + to_line(episode) + b'{"torn')
    episode_index = index(out)
    assert episode_index.bad == 1 and [e.id for e in episode_index.entries()] == [episode.id]


def test_episode_with_a_bad_event_is_reported_as_unreadable(folder, tmp_path):
    out = tmp_path / "odd"
    store.claim(out, store.Manifest("odd", ""))
    episode = next(iter(store.load(folder).episodes.values()))
    (out / "x.jsonl").write_bytes(
        to_line(episode).replace(b'"kind":"moved"', b'"kind":"mooved"', 1)
    )
    episode_index = index(out)
    with pytest.raises(BadInput, match="cannot be read"):
        episode_index.episode("odd", episode.id)


def test_progress_includes_the_planned_number_of_episodes(tmp_path):
    run_study(STUDY, tmp_path / "s", limit=1)
    rows = index(tmp_path / "s").progress()
    assert [(r.cell, r.ended, r.wanted) for r in rows] == [("rps", 1, 3), ("ipd", 1, 2)]


def test_ten_thousand_episodes_are_indexed_once(folder, tmp_path, monkeypatch):
    out = tmp_path / "many"
    store.claim(out, store.Manifest("many", ""))
    single_episode = next(iter(store.load(folder).episodes.values()))
    with (out / "w.jsonl").open("wb") as file:
        for n in range(10_000):
            setup = msgspec.structs.replace(single_episode.setup, repeat=n)
            episode = msgspec.structs.replace(single_episode, id=episode_id(setup), setup=setup)
            file.write(to_line(episode))
    episode_index = index(out)
    assert len(episode_index.entries()) == 10_000
    read: list[bytes] = []
    monkeypatch.setattr("sally.web.explorer.index._header_of", read.append)
    began = time.thread_time()
    episode_index.refresh()
    episode_index.entries(EpisodeFilter(cell="rps"))
    took = time.thread_time() - began
    assert read == [] and took < 1  # 0.01 s of an idle processor
