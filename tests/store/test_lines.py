"""What is written can be read: broken lines, repeated ones, old schemas; nothing goes unseen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import SCHEMA, Call, Censored, Ended, Moved, to_line
from tests.store.kept import GOOD, episodes, names, write

# --- what is written can be read ----------------------------------------------------------------


def test_written_episodes_are_read_back(folder: Path) -> None:
    expected_episodes = episodes(5)
    with store.Writer(folder) as writer:
        for episode in expected_episodes:
            writer.add(episode)
    contents = store.load(folder)
    assert list(contents.episodes.values()) == expected_episodes
    assert (contents.bad, contents.doubled) == ([], 0)
    assert contents.finished_ids == {e.id for e in expected_episodes}


def test_every_line_states_its_schema(folder: Path) -> None:
    with store.Writer(folder) as writer:
        writer.add(episodes(1)[0])
    (path,) = store.episode_files(folder)
    assert msgspec.json.decode(path.read_bytes())["schema"] == SCHEMA


def test_writer_without_episodes_leaves_no_file(folder: Path) -> None:
    with store.Writer(folder):
        pass
    assert names(folder) == {store.MANIFEST}


@pytest.mark.parametrize(
    "event",
    [
        Ended(4, {"hider": float("inf")}),
        Moved(3, "hider", "keep", memory={"plan": [float("nan")]}, calls=(Call("move", "x"),)),
        Moved(3, "hider", "keep", calls=(Call("move", "x", scores=(float("-inf"),)),)),
        Moved(3, "hider", object()),
    ],
)
def test_unreadable_episode_is_refused_before_writing(folder: Path, event: Any) -> None:
    (good,) = episodes(1)
    bad = msgspec.structs.replace(good, events=[*good.events[:-1], event, good.events[-1]])
    with store.Writer(folder) as writer:
        writer.add(good)
        with pytest.raises(BadInput, match=f"Episode {good.id} cannot be stored"):
            writer.add(bad)
    assert list(store.load(folder).episodes.values()) == [good]


def test_lone_surrogate_in_a_reply_loses_no_episode(folder: Path) -> None:
    (good,) = episodes(1)
    index = next(i for i, event in enumerate(good.events) if event.seat == "hider")
    odd = msgspec.structs.replace(good.events[index], reply="so \ud83d cut 👍")
    events = [*good.events[:index], odd, *good.events[index + 1 :]]
    with store.Writer(folder) as writer:
        writer.add(msgspec.structs.replace(good, events=events))
    (episode,) = store.load(folder).episodes.values()
    assert episode.events[index].reply == "so \ufffd cut 👍"


# --- broken lines -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (GOOD[:-1], "incomplete"),
        (GOOD[:40], "incomplete"),
        (GOOD[:40] + b"\n", "corrupt"),
        (b"\n", "corrupt"),
        (b"\x00" * 100 + b"\n", "corrupt"),
        (b'{"id": "\xff\xfe"}\n', "corrupt"),
        (b"[" * 200_000 + b"\n", "corrupt"),
        (b"[1, 2]\n", "not a record"),
        (b"{}\n", "schema version None is unknown"),
        (GOOD.replace(b'"schema":1', b'"schema":99'), "schema version 99 is unknown"),
        (GOOD.replace(b'"schema":1', b'"schema":[]'), "is unknown"),
        (GOOD.replace(b'"schema":1', b'"schema":"1"'), "is unknown"),
        (GOOD.replace(b'"kind":"ended"', b'"kind":"endde"'), "corrupt"),
        (GOOD.replace(b'"turn":0', b'"turn":"0"'), "corrupt"),
        (b'{"id":"x","setup":{"instance":{"id":"a","game":"b"},"seed":1,"lineup":{}},"events":[],'
         b'"schema":1}\n', "has not ended"),
    ],
)  # fmt: skip
def test_broken_line_is_quarantined_and_reported_with_file_and_line(
    folder: Path, line: bytes, why: str
) -> None:
    others = [to_line(e) for e in episodes(2, start=1)]
    whole = [others[0], line] if not line.endswith(b"\n") else [others[0], line, others[1]]
    path = write(folder, *whole)
    contents = store.load(folder)
    assert len(contents.episodes) == len(whole) - 1
    (bad,) = contents.bad
    assert (bad.file, bad.line) == (path.name, 2)
    assert why in bad.why and f"{path.name}, line 2: " in str(bad)
    assert (folder / "quarantine" / path.name).read_bytes() == line.rstrip(b"\n") + b"\n"
    assert path.read_bytes() == b"".join(whole)  # the evidence stays where it was
    assert store.load(folder).bad == contents.bad  # and is told again, every time


def test_twenty_thousand_bad_lines_go_to_one_quarantine_file(folder: Path) -> None:
    path = write(folder, *[b"\n"] * 20_000)
    assert len(store.load(folder).bad) == 20_000
    store.load(folder)
    assert [p.name for p in (folder / "quarantine").iterdir()] == [path.name]
    write(folder, *[b"x" * 100_000 + b"\n"] * 30)
    store.load(folder)
    assert max(p.stat().st_size for p in (folder / "quarantine").iterdir()) <= 1_000_000


def test_pipe_named_like_an_episode_file_is_refused(folder: Path) -> None:
    write(folder, to_line(episodes(1)[0]))
    os.mkfifo(folder / "pipe.jsonl")
    with pytest.raises(BadInput, match="is not a regular file"):
        store.load(folder)


def test_without_quarantine_nothing_is_written(folder: Path) -> None:
    write(folder, b"?\n")
    names_before = names(folder)
    assert len(store.load(folder, quarantine=False).bad) == 1
    assert names(folder) == names_before


def test_folder_that_is_not_a_store_is_read_without_changes(tmp_path: Path) -> None:
    write(tmp_path, b'{"somebody": "else"}\n', GOOD, name="theirs.jsonl")
    contents = store.load(tmp_path)
    assert (len(contents.bad), len(contents.episodes)) == (1, 1)
    assert names(tmp_path) == {"theirs.jsonl"}


def test_read_only_store_can_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, b"?\n", GOOD)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)  # as root, a mode of 0500 would not hold us
    monkeypatch.setattr(os, "open", refuse)
    contents = store.load(folder)
    assert (len(contents.bad), len(contents.episodes)) == (1, 1)
    with pytest.raises(BadInput, match="cannot be written: Permission denied"):
        store.Writer(folder)


# --- twice the same -----------------------------------------------------------------------------


def test_finished_episode_replaces_a_censored_one_in_any_order(folder: Path) -> None:
    (full_episode,) = episodes(1)
    cut = msgspec.structs.replace(full_episode, events=[Censored(0, "budget")])
    for lines in ((cut, full_episode, full_episode), (full_episode, cut), (cut, cut, full_episode)):
        write(folder, *map(to_line, lines))
        contents = store.load(folder)
        assert list(contents.episodes.values()) == [full_episode]
        assert list(store.each_episode(folder, store.Contents())) == [full_episode]
        assert contents.finished_ids == {full_episode.id}
        assert contents.doubled == (1 if lines == (cut, full_episode, full_episode) else 0)


@pytest.mark.parametrize(
    ("cause", "again"),
    [("budget", True), ("fault", True), ("limit", True), ("left", True), ("helper", False)],
)
def test_only_episodes_censored_for_external_causes_are_run_again(
    folder: Path, cause: str, again: bool
) -> None:
    cut = msgspec.structs.replace(episodes(1)[0], events=[Censored(0, cause)])
    write(folder, to_line(cut))
    assert store.load(folder).finished_ids == (set() if again else {cut.id})
    assert list(store.each_episode(folder, store.Contents())) == [cut]


# --- other schemas ------------------------------------------------------------------------------


def test_line_of_another_schema_is_named_as_such(folder: Path) -> None:
    plain = {**msgspec.json.decode(to_line(episodes(1)[0])), "schema": 0}
    plain.pop("sum", None)
    write(folder, msgspec.json.encode(plain) + b"\n")
    (bad,) = store.load(folder).bad
    assert bad.why == "schema version 0 is unknown; this Sally reads version 1"
