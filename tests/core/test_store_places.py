"""Stores at addresses: immutable files, many writers, and readers who come at any time."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner.run import run_study
from sally.store import writer as store_writer
from tests.table import play_episode, table

EPISODES = [play_episode(table("cups", seed)) for seed in range(12)]


@pytest.fixture(params=["memory", "file"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    address = f"{request.param}://{tmp_path}/far/out"
    store.claim(address, store.Manifest("mine", "hash"))
    return address


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that holds nothing back."""
    monkeypatch.setattr(store_writer, "HELD_SECONDS", 0.0)


def study(repeats: int = 60) -> Study:
    players = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    cell = Cell("only", (instance("ipd", rounds=3),), players, repeats=repeats)
    return Study("mine", "for tests", (cell,))


def files(out: str) -> list[str]:
    return [name for name in store.place(out).names() if name != store.MANIFEST]


def test_written_episodes_are_read_back(out: str) -> None:
    with store.Writer(out, "label") as writer:
        for episode in EPISODES:
            writer.add(episode)
    (name,) = files(out)
    assert name.startswith("label-") and name.endswith(".jsonl")
    contents = store.load(out)
    assert list(contents.episodes.values()) == EPISODES
    assert (contents.bad, contents.doubled) == ([], 0)
    assert store.survey(out, "label").finished == {e.id for e in EPISODES}
    assert store.survey(out, "other").finished == set()


def test_episodes_written_before_a_crash_are_readable(out: str, at_once: None) -> None:
    writer = store.Writer(out)
    for episode in EPISODES[:3]:
        writer.add(episode)  # and the process is no more
    assert [name[-5:] for name in files(out)] == [".part"] * 3
    assert list(store.load(out).episodes.values()) == EPISODES[:3]


def test_synced_episodes_of_an_open_writer_are_readable(out: str) -> None:
    writer = store.Writer(out)
    writer.add(EPISODES[0])
    assert store.load(out).episodes == {}  # held back, for two seconds at most
    writer.sync()
    assert list(store.load(out).episodes.values()) == EPISODES[:1]
    writer.add(EPISODES[1])
    with writer:
        pass
    assert list(store.load(out).episodes.values()) == EPISODES[:2]
    assert len(files(out)) == 1  # the parts are gone


def test_held_line_is_written_without_waiting_for_the_next(
    out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_writer, "HELD_SECONDS", 0.2)
    writer = store.Writer(out)
    writer.add(EPISODES[0])
    patience = time.monotonic() + 120
    while not store.load(out).episodes:  # though nothing more is added
        assert time.monotonic() < patience
    with writer:
        pass
    assert len(files(out)) == 1


def test_background_write_error_is_raised_at_the_next_add(
    out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_writer, "HELD_SECONDS", 0.2)
    writer, tried = store.Writer(out), threading.Event()

    def refuse(*args: Any, **kwargs: Any) -> None:
        tried.set()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.Remote, "write", refuse)
    writer.add(EPISODES[0])  # held, and then put by nobody's leave
    assert tried.wait(120)
    with pytest.raises(BadInput, match="could not be stored: No space left"):
        writer.add(EPISODES[1])


def test_writer_starts_new_file_at_the_size_limit(
    out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_writer, "FILE_BYTES", 3 * len(to_line(EPISODES[0])))
    with store.Writer(out) as writer:
        for episode in EPISODES:
            writer.add(episode)
    assert len(files(out)) >= 3
    assert list(store.load(out).episodes) == [e.id for e in EPISODES]


def test_reader_reads_each_line_once_while_parts_are_replaced(out: str, at_once: None) -> None:
    writer = store.Writer(out)
    for episode in EPISODES[:4]:
        writer.add(episode)
    reading = store.read(out)
    first = next(reading)  # the parts are listed, and one is read
    writer.add(EPISODES[4])
    with writer:
        pass
    assert [first, *reading] == EPISODES[:5]


def test_many_writers_and_a_reader_run_concurrently(tmp_path: Path, at_once: None) -> None:
    out = f"file://{tmp_path}/out"  # fsspec's memory is not made for threads
    store.claim(out, store.Manifest("mine", "hash"))

    def write(which: int) -> None:
        with store.Writer(out) as writer:
            for episode in EPISODES[which::3]:
                writer.add(episode)

    writers = [threading.Thread(target=write, args=(n,)) for n in range(3)]
    for writer in writers:
        writer.start()
    count = 0
    while any(writer.is_alive() for writer in writers):
        contents = store.load(out)
        assert (contents.bad, contents.doubled) == ([], 0)
        assert len(contents.episodes) >= count
        count = len(contents.episodes)
    assert set(store.load(out).episodes) == {e.id for e in EPISODES}


def test_invalid_line_is_quarantined(out: str) -> None:
    store.place(out).write("theirs.jsonl", b"?\n" + to_line(EPISODES[0]))
    contents = store.load(out)
    assert (len(contents.episodes), [b.line for b in contents.bad]) == (1, [1])
    assert store.place(out).read("quarantine/theirs.jsonl") == b"?\n"


def test_create_succeeds_once_per_name(out: str) -> None:
    place = store.place(out)
    assert [place.create("claims/x", b"a"), place.create("claims/x", b"b")] == [True, False]
    assert place.read("claims/x") == b"a"


def test_another_study_is_refused(out: str) -> None:
    with pytest.raises(BadInput, match="belongs to study 'mine'"):
        store.claim(out, store.Manifest("yours", "hash"))


def test_address_with_other_files_is_refused(tmp_path: Path) -> None:
    address = f"memory://{tmp_path}/theirs"
    store.place(address).write("thesis.tex", b"")
    with pytest.raises(BadInput, match="holds other files"):
        store.claim(address, store.Manifest("mine", "hash"))


def test_study_runs_and_resumes_at_a_remote_address(out: str, tmp_path: Path) -> None:
    some_contents = run_study(study(20), out)
    all_ = run_study(study(60), out)
    contents = run_study(study(60), tmp_path / "here")
    assert (len(some_contents.episodes), len(all_.episodes), all_.doubled) == (20, 60, 0)
    assert sorted(map(to_line, all_.episodes.values())) == sorted(
        map(to_line, contents.episodes.values())
    )


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nowhere://x/y", "cannot be reached"),
        ("memory://not/there", "There is no store at memory://not/there"),
    ],
)
def test_invalid_address_is_refused_with_one_message(address: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        store.load(address)


def test_storage_service_error_is_reported_with_one_message(
    out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = store.place(out)
    assert isinstance(place, store.Remote)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("403 Forbidden")

    for verb in ("pipe_file", "ls"):
        monkeypatch.setattr(type(place._fs), verb, refuse)
    with pytest.raises(BadInput, match="cannot be read: RuntimeError: 403 Forbidden"):
        store.load(out)
    writer = store.Writer(out)
    writer.add(EPISODES[0])
    with pytest.raises(BadInput, match="could not be stored: RuntimeError: 403"):
        writer.sync()


def test_file_written_by_renaming_is_never_seen_partially(tmp_path: Path) -> None:
    """Where a put is not atomic, the bytes are written under a name that nobody reads."""
    place = store.place(f"file://{tmp_path}/out")
    assert isinstance(place, store.Remote)
    rows: list[list[str]] = []
    inner = place._fs.mv

    def look(*args: Any, **kwargs: Any) -> Any:
        rows.append(place.names())
        assert len(os.listdir(tmp_path / "out")) == 1
        return inner(*args, **kwargs)

    place._fs.mv = look
    try:
        place.write("a.jsonl", b"x\n")
    finally:
        del place._fs.mv
    assert rows == [[]]
    assert os.listdir(tmp_path / "out") == ["a.jsonl"]
