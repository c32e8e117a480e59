"""Every stored episode is listed once, and new ones as they come."""

from __future__ import annotations

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode, episode_id, to_line
from sally.runner.run import run_study
from sally.web.explorer import episode_list as module
from sally.web.explorer.episode_list import ENDED, EpisodeFilter, EpisodeList, entries_of
from tests.web.explorer.small_store import STUDY, list_episodes


def test_every_stored_episode_is_listed_once(folder):
    entries = entries_of(list_episodes(folder).episodes())
    assert {e.id for e in entries} == set(store.load(folder).episodes)
    assert {(e.study, e.game, e.cell) for e in entries} == {
        ("small", "rps", "rps"),
        ("small", "ipd", "ipd"),
    }
    assert entries[0].players[0] == "agent = random" and entries[0].outcome == ENDED
    for entry in entries:
        end = store.load(folder).episodes[entry.id].end
        assert entry.payoffs_text == ", ".join(
            f"{seat} {pay:g}" for seat, pay in end.payoffs.items()
        )
        assert entry.turns == end.turn


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
    assert list_episodes(folder).episodes(wanted).height == count


def test_episode_is_read_back_whole(folder):
    episode_list, stored = list_episodes(folder), store.load(folder).episodes
    for entry in entries_of(episode_list.episodes()):
        assert episode_list.episode(entry.source, entry.id) == stored[entry.id]


def cut_short(episode: Episode) -> Episode:
    """The same episode as one that was cut short at its beginning."""
    return msgspec.structs.replace(episode, events=[Censored(0, "left", "the person left")])


def test_new_lines_appear_during_and_after_writing(folder, tmp_path):
    out = tmp_path / "live"
    store.claim(out, store.Manifest("live", ""))
    first, two, *_ = store.load(folder).episodes.values()
    episode_list = EpisodeList([out])
    with store.Writer(out) as writer:
        writer.add(cut_short(first))
        episode_list.refresh()
        assert episode_list.episodes()["outcome"].to_list() == ["left"]
        writer.add(two)
        episode_list.refresh()
        assert set(episode_list.episodes()["id"]) == {first.id, two.id}
    with store.Writer(out) as writer:
        writer.add(first)  # played to its end after all
        episode_list.refresh()
    episode_list.refresh()
    assert episode_list.episodes()["outcome"].to_list() == [ENDED, ENDED]
    assert episode_list.episode("live", first.id) == first
    (row,) = [p for p in episode_list.progress() if p.cell == first.cell]
    assert (row.study, row.ended, row.wanted) == ("live", 1 + (first.cell == two.cell), None)


def test_replaced_file_is_read_again(folder, tmp_path):
    out = tmp_path / "again"
    store.claim(out, store.Manifest("again", ""))
    first, two, *_ = store.load(folder).episodes.values()
    episode_list = EpisodeList([out])
    for kept in ((first, two), (two,), (first, first, two)):  # shorter, then longer
        store.Folder(out).write("people.jsonl", b"".join(to_line(e) for e in kept))
        episode_list.refresh()
        assert set(episode_list.episodes()["id"]) == {e.id for e in kept}


def test_bad_line_is_counted_and_the_rest_is_listed(folder, tmp_path):
    out = tmp_path / "bad"
    store.claim(out, store.Manifest("bad", ""))
    episode = next(iter(store.load(folder).episodes.values()))
    (out / "x.jsonl").write_bytes(b"no episode\n" + to_line(episode) + b'{"torn')
    episode_list = list_episodes(out)
    assert episode_list.bad == 2 and episode_list.episodes()["id"].to_list() == [episode.id]


def test_episode_with_a_bad_event_is_counted_and_not_listed(folder, tmp_path):
    out = tmp_path / "odd"
    store.claim(out, store.Manifest("odd", ""))
    episode = next(iter(store.load(folder).episodes.values()))
    (out / "x.jsonl").write_bytes(
        to_line(episode).replace(b'"kind":"moved"', b'"kind":"mooved"', 1)
    )
    episode_list = list_episodes(out)
    assert episode_list.bad == 1 and episode_list.episodes().is_empty()
    with pytest.raises(BadInput, match="its line may be invalid"):
        episode_list.episode("odd", episode.id)


def test_progress_includes_the_planned_number_of_episodes(tmp_path):
    run_study(STUDY, tmp_path / "s", limit=1)
    rows = list_episodes(tmp_path / "s").progress()
    assert [(r.cell, r.ended, r.wanted) for r in rows] == [("rps", 1, 3), ("ipd", 1, 2)]


def test_store_is_read_again_only_if_its_files_changed(folder, tmp_path, monkeypatch):
    out = tmp_path / "many"
    store.claim(out, store.Manifest("many", ""))
    single_episode = next(iter(store.load(folder).episodes.values()))

    def write(repeats: range) -> None:
        with store.Writer(out) as writer:
            for n in repeats:
                setup = msgspec.structs.replace(single_episode.setup, repeat=n)
                writer.add(
                    msgspec.structs.replace(single_episode, id=episode_id(setup), setup=setup)
                )

    read: list[object] = []
    as_frame = module.as_frame
    monkeypatch.setattr(module, "as_frame", lambda source: read.append(source) or as_frame(source))
    write(range(100))
    episode_list = list_episodes(out)
    for _ in range(3):
        episode_list.refresh()
        assert episode_list.episodes().height == 100
    assert read == [out]
    write(range(100, 103))
    episode_list.refresh()
    assert episode_list.episodes().height == 103 and read == [out, out]


def test_store_that_is_slow_to_read_rests(folder, monkeypatch):
    seconds = iter((0.0, 5.0, 49.0, 51.0, 51.5, 60.0, 60.1))
    monkeypatch.setattr(module, "monotonic", lambda: next(seconds))
    sizes = iter(range(9))
    monkeypatch.setattr(module, "_files", lambda folder: next(sizes))  # grows all the time
    read: list[object] = []
    as_frame = module.as_frame
    monkeypatch.setattr(module, "as_frame", lambda source: read.append(source) or as_frame(source))
    episode_list = EpisodeList([folder])
    for count in (1, 1, 2, 3):  # took 5 s, so it rests until 50; then .5 s
        episode_list.refresh()
        assert len(read) == count
