"""Several writers, killed writers, folders of others, and runs that are resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import to_line
from sally.runner.local import manifest
from sally.runner.run import run_study
from sally.store import manifest as manifests
from tests.store.kept import GOOD, episodes, names, study, write

# --- several processes --------------------------------------------------------------------------


def _write_some(folder: Path, first: int) -> None:
    store.claim(folder, store.Manifest("mine", "hash"))
    with store.Writer(folder) as writer:
        for episode in episodes(40, first):
            writer.add(episode)


def test_several_processes_write_while_one_reads(tmp_path: Path) -> None:
    out, spawn = tmp_path / "new", get_context("fork")
    workers = [spawn.Process(target=_write_some, args=(out, 100 * n)) for n in range(4)]
    for worker in workers:
        worker.start()
    count = 0
    while any(worker.is_alive() for worker in workers):
        if out.is_dir() and store.episode_files(out):  # an empty folder is no store
            contents = store.load(out)
            assert contents.bad == []
            assert len(contents.episodes) >= count  # what was there does not go away
            count = len(contents.episodes)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len(store.load(out).episodes) == 160
    assert not list(out.glob("*.open"))


def test_file_renamed_or_removed_while_reading_loses_no_line(folder: Path) -> None:
    path = write(folder, GOOD, name="1-a.open")
    (empty := folder / "2-b.open").touch()
    listed = store.episode_files(folder)
    path.rename(path.with_suffix(".jsonl"))
    empty.unlink()
    assert [line for p in listed for _, line in store.lines_of(p)] == [GOOD]


@pytest.mark.parametrize(
    "listings",
    [(["1-a.open"], ["1-a.jsonl"]), ([], ["1-a.jsonl"]), (["1-a.open"], [])],
    ids=["before and after", "only after", "only before"],
)
def test_file_that_is_renamed_while_it_is_listed_is_read_once(
    folder: Path, listings: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, GOOD, name="1-a.jsonl")
    remaining_listings = list(listings)
    inner = store.Folder.names

    def names(self: store.Folder, under: str = "") -> list[str]:
        return (
            [store.MANIFEST, *remaining_listings.pop(0)]
            if not under and remaining_listings
            else inner(self, under)
        )

    monkeypatch.setattr(store.Folder, "names", names)
    contents = store.load(folder)
    assert (len(contents.episodes), contents.doubled) == (1, 0)


def test_partial_line_of_a_live_writer_is_not_a_bad_line(folder: Path) -> None:
    writer = store.Writer(folder)
    writer.add(episodes(1)[0])
    os.write(writer._lines.fd, GOOD[:50])
    assert store.load(folder).bad == []
    assert len(store.load(folder).episodes) == 1
    os.close(writer._lines.fd)  # now it is dead, and the line is never completed
    assert store.load(folder).bad == []
    assert len(store.load(folder).episodes) == 1


def test_incomplete_last_line_of_a_finished_file_is_a_bad_line(folder: Path) -> None:
    write(folder, GOOD + GOOD[:50], name="1-a.jsonl")
    assert [b.why for b in store.load(folder).bad] == ["the line is incomplete"]


KILLED = """
import os, sys
from pathlib import Path
from sally import store
from sally.core.log.events import to_line
from sally.runner import local, run
import tests.conftest
from tests.store.kept import study
inner = local.play_open
count = 0
def play(setup, cell=""):
    global count
    episode, replay = inner(setup, cell)
    count += 1
    if count == 4:
        (path,) = Path(sys.argv[1]).glob("*.open")
        with path.open("ab") as file:
            file.write(to_line(episode)[:60])
        print("half a line", flush=True)
        os.kill(os.getpid(), 9)
    return episode, replay
local.play_open = play
run.run_study(study(), Path(sys.argv[1]))
"""


def test_run_killed_in_the_middle_of_a_line_is_resumed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(out)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    contents_after = store.load(out)
    assert len(contents_after.episodes) == 3
    assert contents_after.bad == []
    contents = run_study(study(), out)
    assert len(contents.episodes) == 6
    assert contents.doubled == 0
    untouched = run_study(study(), tmp_path / "fresh")
    assert {i: to_line(e) for i, e in contents.episodes.items()} == {
        i: to_line(e) for i, e in untouched.episodes.items()
    }


def test_full_disk_leaves_no_partial_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = episodes(2)
    real = os.write
    with store.Writer(folder) as writer:
        writer.add(first)
        monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:20]))
        with pytest.raises(BadInput, match="No space left"):
            writer.add(second)
        monkeypatch.undo()
    contents = store.load(folder)
    assert (list(contents.episodes.values()), contents.bad) == ([first], [])


# --- whose folder -------------------------------------------------------------------------------


def test_folder_of_another_study_is_refused_and_unchanged(tmp_path: Path) -> None:
    run_study(study("mine", 1), tmp_path / "out")
    names_before = names(tmp_path / "out")
    with pytest.raises(BadInput, match="belongs to study 'mine'"):
        run_study(study("yours"), tmp_path / "out")
    assert names(tmp_path / "out") == names_before


def test_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(BadInput, match="holds other files"):
        run_study(study(), tmp_path)
    assert names(tmp_path) == {"thesis.tex"}


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BadInput, match="cannot be created"):
        store.claim(tmp_path / "out", manifest(study()))
    with pytest.raises(BadInput, match="There is no store"):
        store.load(tmp_path / "out")


def test_broken_manifest_is_named(folder: Path) -> None:
    (folder / store.MANIFEST).write_text("{")
    with pytest.raises(BadInput, match="is not a valid manifest"):
        store.claim(folder, manifest(study()))


def _claim(out: Path, name: str, won: Any) -> None:
    try:
        store.claim(out, store.Manifest(name, "hash"))
        won.put(name)
    except BadInput:
        won.put("")


def test_one_of_two_concurrent_studies_gets_the_folder(tmp_path: Path) -> None:
    fork = get_context("fork")
    for attempt in range(2):
        won = fork.SimpleQueue()
        claims = [
            fork.Process(target=_claim, args=(tmp_path / str(attempt), player_name, won))
            for player_name in ("a", "b", "a", "b")
        ]
        for claim in claims:
            claim.start()
        for claim in claims:
            claim.join()
        winners = {won.get() for _ in claims} - {""}
        assert len(winners) == 1
        assert store.read_manifest(tmp_path / str(attempt)).study in winners


@pytest.mark.parametrize("theirs", ["mine", "theirs"])
def test_second_claim_reports_the_owner_of_the_folder(
    tmp_path: Path, theirs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process makes its manifest just after we saw none."""
    look = manifests.refuse_others

    def look_and_lose(folder: Path) -> None:
        look(folder)
        monkeypatch.setattr(manifests, "refuse_others", look)
        store.claim(folder, store.Manifest(theirs, "hash"))

    monkeypatch.setattr(manifests, "refuse_others", look_and_lose)
    if theirs == "mine":
        store.claim(tmp_path, store.Manifest("mine", "hash"))
    else:
        with pytest.raises(BadInput, match="belongs to study 'theirs'"):
            store.claim(tmp_path, store.Manifest("mine", "hash"))
    assert names(tmp_path) == {store.MANIFEST}
    assert store.read_manifest(tmp_path).study == theirs


# --- resuming -----------------------------------------------------------------------------------


def test_second_run_plays_only_missing_episodes(tmp_path: Path) -> None:
    played_now: list[int] = []
    run_study(study(repeats=4), tmp_path / "out", watch=lambda p: played_now.append(p.done))
    run_study(study(repeats=6), tmp_path / "out", watch=lambda p: played_now.append(p.kept))
    assert played_now == [1, 2, 3, 4, 4, 4]
    run_study(study(repeats=6), tmp_path / "out", watch=lambda p: played_now.append(-1))
    assert -1 not in played_now


def test_store_keeps_the_study_of_each_run(tmp_path: Path) -> None:
    first_study, twice = study(), msgspec.structs.replace(study(), seed=2)
    run_study(first_study, tmp_path)
    run_study(twice, tmp_path)
    run_study(first_study, tmp_path)
    assert store.studies(tmp_path) == {
        manifest(request).asks: request for request in (first_study, twice)
    }
    assert store.manifest_of(tmp_path) == manifest(first_study)


def test_invalid_stored_study_is_named(folder: Path) -> None:
    (folder / "studies").mkdir()
    (folder / "studies" / "x.json").write_text('{"name": 3}')
    with pytest.raises(BadInput, match=r"x\.json is not a valid study"):
        store.studies(folder)
