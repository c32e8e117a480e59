"""Claims: one run a shard, the dead inherit nothing, and of two heirs one wins."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner import claims
from sally.runner.claims import Claims, Heartbeat, Machine, Run, read_runs, this_process
from sally.runner.executors import Take
from sally.runner.local import manifest, orders
from sally.runner.run import RunState, play_missing
from sally.runner.sharding import cuts_of
from sally.runner.shards import Job, Result, Tell
from sally.store import Folder, Place, place


@pytest.fixture(params=["folder", "file", "memory"])
def at(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place(
        {
            "folder": str(tmp_path / "o"),
            "file": f"file://{tmp_path}/o",
            "memory": f"memory://{tmp_path}/o",
        }[request.param]
    )


def run(name: str, machine: Machine | None = None, **options: object) -> Run:
    return Run(name, "s", "local", machine or this_process(), time.time(), **options)  # type: ignore[arg-type]


def told(place: Place, run: Run) -> None:
    place.write(f"runs/{run.name}.json", msgspec.json.encode(run))


ELSEWHERE = Machine("another", 1, "")
GONE = Machine(this_process().host, 2**22 + 1, "1")  # beyond the largest process id


def test_shard_has_one_owner_until_it_is_released(at: Place) -> None:
    told(at, run("a"))
    told(at, run("b"))
    a, b = Claims(at, "a"), Claims(at, "b")
    assert a.take("s1") and a.take("s1")
    assert not b.take("s1")
    assert b.take("s10")  # a name that begins alike is another
    a.release("s1")
    assert b.take("s1")
    b.release_all()
    assert at.names("claims") == []


@pytest.mark.parametrize(
    "owner",
    [run("dead", GONE), run("dead", ended="finished"), None],
    ids=["killed here", "ended", "never heard of"],
)
def test_claim_of_a_dead_run_passes_to_one_successor(at: Place, owner: Run | None) -> None:
    if owner is not None:
        told(at, owner)
    assert Claims(at, "dead").take("s1")
    told(at, run("a"))
    told(at, run("b"))
    a, b = Claims(at, "a"), Claims(at, "b")
    assert [a.take("s1"), b.take("s1")] == [True, False]
    a.release("s1")
    assert at.names("claims") == []


def test_process_with_reused_pid_is_not_the_dead_one() -> None:
    own_machine = this_process()
    assert own_machine.lives()
    assert not msgspec.structs.replace(own_machine, born="1").lives()


def test_zombie_process_counts_as_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    machine = msgspec.structs.replace(this_process(), pid=child.pid, born=claims._born(child.pid))
    assert machine.lives()
    child.kill()
    while machine.lives():  # killed, and nobody has waited for it
        time.sleep(0.01)
    child.wait()


def test_run_on_another_machine_is_dead_without_heartbeat(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 100.0
    clock = SimpleNamespace(time=time.time, monotonic=lambda: seconds)
    monkeypatch.setattr(claims, "time", clock)
    told(at, run("far", ELSEWHERE, beat=1))
    assert Claims(at, "far").take("s1")
    told(at, run("a"))
    near_claims = Claims(at, "a", silent=2)
    assert not near_claims.take("s1")
    seconds += 1.5
    told(at, run("far", ELSEWHERE, beat=2))
    assert not near_claims.take("s1")
    seconds += 1.5
    assert not near_claims.take("s1")  # it has beaten since
    seconds += 1.5
    assert near_claims.take("s1")


def test_heartbeat_reports_the_run_until_its_end(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "BEAT_SECONDS", 0.02)
    with Heartbeat(at, lambda: run("a", wanted=7)) as beat:
        while read_runs(at)[0].beat < 3:
            time.sleep(0.01)
        assert read_runs(at)[0].ended == ""
        beat.ended = "finished"
    (actual_run,) = read_runs(at)
    assert (actual_run.wanted, actual_run.ended, actual_run.machine.pid) == (
        7,
        "finished",
        os.getpid(),
    )


def test_tidy_removes_files_of_dead_runs_and_keeps_live_ones(at: Place) -> None:
    done = run("done", GONE, ended="finished")
    for known_run in (
        run("dead", GONE),
        run("far", ELSEWHERE),
        run("holder", GONE),
        done,
        run("a"),
    ):
        told(at, known_run)
    at.write("notes/dead.s1.json", b"{}")
    assert Claims(at, "holder").take("s9")
    Claims(at, "a").tidy(ended=True)
    assert at.names("runs") == ["a.json", "far.json", "holder.json"]
    assert at.names("notes") == [] and at.names("claims") == ["s9.0"]  # to be taken over
    told(at, done)
    assert Claims(at, "far").take("s8")
    Claims(at, "a").tidy(ended=False)
    assert at.names("runs") == ["a.json", "done.json", "far.json"]
    assert at.names("claims") == ["s8.0"]  # nothing of s9 was left to play


@pytest.mark.parametrize("odd", ["s1.txt", "s1.", "s1.-1", "s1.²", "s1." + "9" * 40])
def test_unknown_file_among_the_claims_is_named(at: Place, odd: str) -> None:
    told(at, run("a"))
    at.create(f"claims/{odd}", b"whatever")
    with pytest.raises(BadInput, match="is not a claim") as error:
        Claims(at, "a").take("s1")
    assert odd in str(error.value)


@pytest.mark.parametrize("owner", [b"\xff\xfe", b"../../study", b"", b"x" * 5000])
def test_claim_without_a_known_run_can_be_taken(at: Place, owner: bytes) -> None:
    told(at, run("a"))
    at.create("claims/s1.0", owner)
    own_claims = Claims(at, "a")
    own_claims.tidy(ended=True)
    assert own_claims.take("s1") and "s1.1" in at.names("claims")


@pytest.mark.parametrize("folder", ["claims/s1.0", "runs/odd.json"])
def test_pipe_or_folder_in_place_of_a_claim_is_refused_without_waiting(
    tmp_path: Path, folder: str
) -> None:
    current_folder = Folder(tmp_path)
    (tmp_path / folder).parent.mkdir(exist_ok=True)
    for make in (os.mkfifo, os.mkdir):
        make(tmp_path / folder)
        with pytest.raises(BadInput, match=f"{folder} cannot be read"):
            Claims(current_folder, "a").take("s1") if folder.startswith("claims") else read_runs(
                current_folder
            )
        os.unlink(tmp_path / folder) if make is os.mkfifo else os.rmdir(tmp_path / folder)


class Taking:
    """An executor of two workers that takes all shards it is given and plays none."""

    name, together, rates = "taking", False, False

    def __init__(self) -> None:
        self.taken: list[str] = []

    def slots(self) -> int:
        return 2

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        while (shard := take()) is not None:
            self.taken.append(shard.name)
        raise KeyboardInterrupt
        yield


def test_shard_held_by_another_run_does_not_block_other_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = grid(agent=player_spec("random"), partner=player_spec("random"))
    study = Study("s", "", (Cell("ipd", (instance("ipd", rounds=2),), players, repeats=150),))
    folder = Folder(tmp_path / "o")
    first, *others = [cut.name for cut in cuts_of(orders(study))]
    store.claim(folder, manifest(study))
    told(folder, run("a"))
    assert Claims(folder, "a").take(first)
    monkeypatch.setattr(RunState, "_expected_seconds", lambda self, cut: float(cut.name == first))
    executor = Taking()
    with pytest.raises(KeyboardInterrupt):
        play_missing(study, folder, on=executor)
    assert list(dict.fromkeys(executor.taken)) == others and len(others) == 2
