"""The store: several writers, broken lines, old schemas, foreign folders; nothing goes unseen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.log import SCHEMA, Call, Censored, Ended, Episode, Moved, to_line
from sally.core.study import Cell, Study, grid, instance, sitter
from sally.runner.local import manifest
from sally.runner.run import run_study
from sally.store import lines as store_lines
from sally.store import manifest as manifests
from tests.table import played, table


def episodes(n: int, start: int = 0) -> list[Episode]:
    return [played(table("cups", seed)) for seed in range(start, start + n)]


def study(name: str = "mine", repeats: int = 6) -> Study:
    players = grid(agent=sitter("random"), partner=sitter("tit_for_tat"))
    cell = Cell("only", (instance("ipd", rounds=4),), players, repeats=repeats)
    return Study(name, "for tests", (cell,))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    store.claim(out, store.Manifest("mine", "hash"))
    return out


def write(folder: Path, *lines: bytes, name: str = "1-a.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(lines))
    return path


def names(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}


# --- what is written can be read ----------------------------------------------------------------


def test_what_is_put_in_comes_out(folder: Path) -> None:
    wanted = episodes(5)
    with store.Writer(folder) as writer:
        for episode in wanted:
            writer.add(episode)
    found = store.load(folder)
    assert list(found.episodes.values()) == wanted
    assert (found.bad, found.doubled) == ([], 0)
    assert found.finished == {e.id for e in wanted}


def test_every_line_says_its_schema(folder: Path) -> None:
    with store.Writer(folder) as writer:
        writer.add(episodes(1)[0])
    (path,) = store.episode_files(folder)
    assert msgspec.json.decode(path.read_bytes())["schema"] == SCHEMA


def test_a_writer_with_nothing_to_write_leaves_nothing(folder: Path) -> None:
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
def test_what_could_not_be_read_back_is_refused_before_it_is_written(
    folder: Path, event: Any
) -> None:
    (good,) = episodes(1)
    bad = msgspec.structs.replace(good, events=[*good.events[:-1], event, good.events[-1]])
    with store.Writer(folder) as writer:
        writer.add(good)
        with pytest.raises(BadInput, match=f"Episode {good.id} cannot be stored"):
            writer.add(bad)
    assert list(store.load(folder).episodes.values()) == [good]


def test_half_a_character_in_a_reply_loses_no_episode(folder: Path) -> None:
    (good,) = episodes(1)
    at = next(i for i, event in enumerate(good.events) if event.seat == "hider")
    odd = msgspec.structs.replace(good.events[at], reply="so \ud83d cut 👍")
    events = [*good.events[:at], odd, *good.events[at + 1 :]]
    with store.Writer(folder) as writer:
        writer.add(msgspec.structs.replace(good, events=events))
    (found,) = store.load(folder).episodes.values()
    assert found.events[at].reply == "so \ufffd cut 👍"


# --- broken lines -------------------------------------------------------------------------------

GOOD = to_line(episodes(1)[0])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (GOOD[:-1], "torn"),
        (GOOD[:40], "torn"),
        (GOOD[:40] + b"\n", "corrupt"),
        (b"\n", "corrupt"),
        (b"\x00" * 100 + b"\n", "corrupt"),
        (b'{"id": "\xff\xfe"}\n', "corrupt"),
        (b"[" * 200_000 + b"\n", "corrupt"),
        (b"[1, 2]\n", "no record"),
        (b"{}\n", "schema version None is unknown"),
        (GOOD.replace(b'"schema":1', b'"schema":99'), "schema version 99 is unknown"),
        (GOOD.replace(b'"schema":1', b'"schema":[]'), "is unknown"),
        (GOOD.replace(b'"schema":1', b'"schema":"1"'), "is unknown"),
        (GOOD.replace(b'"kind":"ended"', b'"kind":"endde"'), "corrupt"),
        (GOOD.replace(b'"turn":0', b'"turn":"0"'), "corrupt"),
        (b'{"id":"x","setup":{"instance":{"id":"a","game":"b"},"seed":1,"lineup":{}},"events":[],'
         b'"schema":1}\n', "has no end"),
    ],
)  # fmt: skip
def test_a_broken_line_is_set_aside_and_reported_with_file_and_line(
    folder: Path, line: bytes, why: str
) -> None:
    others = [to_line(e) for e in episodes(2, start=1)]
    whole = [others[0], line] if not line.endswith(b"\n") else [others[0], line, others[1]]
    path = write(folder, *whole)
    found = store.load(folder)
    assert len(found.episodes) == len(whole) - 1
    (bad,) = found.bad
    assert (bad.file, bad.line) == (path.name, 2)
    assert why in bad.why and f"{path.name}, line 2: " in str(bad)
    assert (folder / "quarantine" / path.name).read_bytes() == line.rstrip(b"\n") + b"\n"
    assert path.read_bytes() == b"".join(whole)  # the evidence stays where it was
    assert store.load(folder).bad == found.bad  # and is told again, every time


def test_twenty_thousand_bad_lines_are_one_file_of_the_quarantine(folder: Path) -> None:
    path = write(folder, *[b"\n"] * 20_000)
    assert len(store.load(folder).bad) == 20_000
    store.load(folder)
    assert [p.name for p in (folder / "quarantine").iterdir()] == [path.name]
    write(folder, *[b"x" * 100_000 + b"\n"] * 30)
    store.load(folder)
    assert max(p.stat().st_size for p in (folder / "quarantine").iterdir()) <= 1_000_000


def test_a_pipe_that_is_named_like_a_file_of_lines_is_refused(folder: Path) -> None:
    write(folder, to_line(episodes(1)[0]))
    os.mkfifo(folder / "pipe.jsonl")
    with pytest.raises(BadInput, match="not a file of lines"):
        store.load(folder)


def test_without_quarantine_nothing_is_written(folder: Path) -> None:
    write(folder, b"?\n")
    before = names(folder)
    assert len(store.load(folder, quarantine=False).bad) == 1
    assert names(folder) == before


def test_a_foreign_folder_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, b'{"somebody": "else"}\n', GOOD, name="theirs.jsonl")
    found = store.load(tmp_path)
    assert (len(found.bad), len(found.episodes)) == (1, 1)
    assert names(tmp_path) == {"theirs.jsonl"}


def test_a_store_that_cannot_be_written_is_still_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, b"?\n", GOOD)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)  # as root, a mode of 0500 would not hold us
    monkeypatch.setattr(os, "open", refuse)
    found = store.load(folder)
    assert (len(found.bad), len(found.episodes)) == (1, 1)
    with pytest.raises(BadInput, match="cannot be written: Permission denied"):
        store.Writer(folder)


# --- twice the same -----------------------------------------------------------------------------


def test_a_finished_run_takes_the_place_of_a_cut_one_wherever_it_stands(folder: Path) -> None:
    (whole,) = episodes(1)
    cut = msgspec.structs.replace(whole, events=[Censored(0, "budget")])
    for lines in ((cut, whole, whole), (whole, cut), (cut, cut, whole)):
        write(folder, *map(to_line, lines))
        found = store.load(folder)
        assert list(found.episodes.values()) == [whole]
        assert found.finished == {whole.id}
        assert found.doubled == (0 if lines == (cut, cut, whole) else 1)


@pytest.mark.parametrize(
    ("cause", "again"),
    [("budget", True), ("fault", True), ("limit", True), ("left", True), ("forfeits", False)],
)
def test_only_what_is_not_part_of_play_runs_again(folder: Path, cause: str, again: bool) -> None:
    cut = msgspec.structs.replace(episodes(1)[0], events=[Censored(0, cause)])
    write(folder, to_line(cut))
    assert store.load(folder).finished == (set() if again else {cut.id})


# --- older schemas ------------------------------------------------------------------------------


def test_an_older_schema_is_migrated_step_by_step(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_minus_one(plain: dict[str, Any]) -> dict[str, Any]:
        return {**plain, "happened": plain["what"]}

    def from_zero(plain: dict[str, Any]) -> dict[str, Any]:
        return {**plain, "events": plain["happened"]}

    monkeypatch.setattr(store_lines, "MIGRATIONS", {-1: from_minus_one, 0: from_zero})
    wanted = episodes(2)
    plain = [msgspec.json.decode(to_line(e)) for e in wanted]
    oldest = {**plain[0], "what": plain[0].pop("events"), "schema": -1}
    older = {**plain[1], "happened": plain[1].pop("events"), "schema": 0}
    oldest.pop("events")
    older.pop("events")
    broken = {"id": "x", "schema": 0}
    write(folder, *(msgspec.json.encode(old) + b"\n" for old in (oldest, older, broken)))
    found = store.load(folder)
    assert list(found.episodes.values()) == wanted
    assert [b.line for b in found.bad] == [3]
    assert "does not migrate from schema version 0" in found.bad[0].why


# --- several processes --------------------------------------------------------------------------


def _write_some(folder: Path, first: int) -> None:
    store.claim(folder, store.Manifest("mine", "hash"))
    with store.Writer(folder) as writer:
        for episode in episodes(40, first):
            writer.add(episode)


def test_several_processes_write_and_one_reads_all_the_while(tmp_path: Path) -> None:
    out, spawn = tmp_path / "new", get_context("fork")
    workers = [spawn.Process(target=_write_some, args=(out, 100 * n)) for n in range(4)]
    for worker in workers:
        worker.start()
    seen = 0
    while any(worker.is_alive() for worker in workers):
        if out.is_dir():
            found = store.load(out)
            assert found.bad == []
            assert len(found.episodes) >= seen  # what was there does not go away
            seen = len(found.episodes)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len(store.load(out).episodes) == 160
    assert not list(out.glob("*.open"))


def test_a_file_that_is_renamed_or_taken_away_under_the_reader_is_no_loss(folder: Path) -> None:
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
def test_a_file_that_is_renamed_while_it_is_listed_is_read_once(
    folder: Path, listings: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, GOOD, name="1-a.jsonl")
    left = list(listings)
    inner = store.Folder.names

    def names(self: store.Folder, under: str = "") -> list[str]:
        return [store.MANIFEST, *left.pop(0)] if not under and left else inner(self, under)

    monkeypatch.setattr(store.Folder, "names", names)
    found = store.load(folder)
    assert (len(found.episodes), found.doubled) == (1, 0)


def test_the_line_a_live_writer_is_at_is_left_alone(folder: Path) -> None:
    writer = store.Writer(folder)
    writer.add(episodes(1)[0])
    os.write(writer._lines.fd, GOOD[:50])
    assert store.load(folder).bad == []
    assert len(store.load(folder).episodes) == 1
    os.close(writer._lines.fd)  # now it is dead, and the line is torn
    assert [b.why for b in store.load(folder).bad] == ["the line is torn"]


KILLED = """
import os, sys
from pathlib import Path
from sally import store
from sally.core.log import to_line
from sally.runner import local, run
import tests.conftest
from tests.test_store import study
inner = local.play
count = 0
def play(setup, cell=""):
    global count
    episode = inner(setup, cell)
    count += 1
    if count == 4:
        (path,) = Path(sys.argv[1]).glob("*.open")
        with path.open("ab") as file:
            file.write(to_line(episode)[:60])
        print("half a line", flush=True)
        os.kill(os.getpid(), 9)
    return episode
local.play = play
run.run_study(study(), Path(sys.argv[1]))
"""


def test_killed_in_the_middle_of_a_line_then_resumed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(out)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    after = store.load(out)
    assert len(after.episodes) == 3
    assert [b.why for b in after.bad] == ["the line is torn"]
    found = run_study(study(), out)
    assert len(found.episodes) == 6
    assert found.doubled == 0
    untouched = run_study(study(), tmp_path / "fresh")
    assert {i: to_line(e) for i, e in found.episodes.items()} == {
        i: to_line(e) for i, e in untouched.episodes.items()
    }


def test_a_full_disk_leaves_no_half_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = episodes(2)
    real = os.write
    with store.Writer(folder) as writer:
        writer.add(first)
        monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:20]))
        with pytest.raises(BadInput, match="No space left"):
            writer.add(second)
        monkeypatch.undo()
    found = store.load(folder)
    assert (list(found.episodes.values()), found.bad) == ([first], [])


# --- whose folder -------------------------------------------------------------------------------


def test_a_folder_of_another_study_is_refused_and_left_alone(tmp_path: Path) -> None:
    run_study(study("mine", 1), tmp_path / "out")
    before = names(tmp_path / "out")
    with pytest.raises(BadInput, match="belongs to study 'mine'"):
        run_study(study("yours"), tmp_path / "out")
    assert names(tmp_path / "out") == before


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(BadInput, match="holds other files"):
        run_study(study(), tmp_path)
    assert names(tmp_path) == {"thesis.tex"}


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BadInput, match="cannot be made"):
        store.claim(tmp_path / "out", manifest(study()))
    with pytest.raises(BadInput, match="There is no store"):
        store.load(tmp_path / "out")


def test_a_broken_manifest_is_named(folder: Path) -> None:
    (folder / store.MANIFEST).write_text("{")
    with pytest.raises(BadInput, match="does not describe a store"):
        store.claim(folder, manifest(study()))


def _claim(out: Path, name: str, won: Any) -> None:
    try:
        store.claim(out, store.Manifest(name, "hash"))
        won.put(name)
    except BadInput:
        won.put("")


def test_of_two_studies_that_claim_at_once_one_wins(tmp_path: Path) -> None:
    fork = get_context("fork")
    for attempt in range(5):
        won = fork.SimpleQueue()
        claims = [
            fork.Process(target=_claim, args=(tmp_path / str(attempt), who, won))
            for who in ("a", "b", "a", "b")
        ]
        for claim in claims:
            claim.start()
        for claim in claims:
            claim.join()
        winners = {won.get() for _ in claims} - {""}
        assert len(winners) == 1
        assert store.read_manifest(tmp_path / str(attempt)).study in winners


@pytest.mark.parametrize("theirs", ["mine", "theirs"])
def test_a_claim_that_comes_second_finds_out_whose_the_folder_is(
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


def test_a_second_run_plays_only_what_is_missing(tmp_path: Path) -> None:
    played_now: list[int] = []
    run_study(study(repeats=4), tmp_path / "out", watch=lambda p: played_now.append(p.done))
    run_study(study(repeats=6), tmp_path / "out", watch=lambda p: played_now.append(p.kept))
    assert played_now == [1, 2, 3, 4, 4, 4]
    started = time.time()
    run_study(study(repeats=6), tmp_path / "out", watch=lambda p: played_now.append(-1))
    assert -1 not in played_now and time.time() - started < 5


def test_a_store_keeps_what_each_of_its_runs_asked_for(tmp_path: Path) -> None:
    once, twice = study(), msgspec.structs.replace(study(), seed=2)
    run_study(once, tmp_path)
    run_study(twice, tmp_path)
    run_study(once, tmp_path)
    assert store.studies(tmp_path) == {manifest(asked).asks: asked for asked in (once, twice)}
    assert store.manifest_of(tmp_path) == manifest(once)


def test_a_study_that_cannot_be_read_back_is_named(folder: Path) -> None:
    (folder / "studies").mkdir()
    (folder / "studies" / "x.json").write_text('{"name": 3}')
    with pytest.raises(BadInput, match=r"x\.json does not hold a study"):
        store.studies(folder)
