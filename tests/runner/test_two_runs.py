"""Two runs that cut one study into different shards play no episode twice."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import msgspec
import pytest

from sally import store
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner import run as running
from sally.runner.claims import Claims, Machine, Run, read_runs, this_process
from sally.runner.local import manifest, orders, play
from sally.runner.run import play_missing
from sally.runner.sharding import cut_name
from tests.runner.dawdling import FILE, against
from tests.runner.test_taken_over import lines

STUDY = """
name = "shared"
about = "a model whose partner takes its time"
[[cells]]
name = "ipd"
repeats = 40
instances = [{ id = "ipd", game = "ipd", params = { rounds = 4 } }]
[[cells.lineups]]
agent = { player = "language", params = { model = "users_file" } }
partner = { player = "dawdles", params = { seconds = 0.02 } }
"""


def test_runs_on_one_process_and_on_two_share_a_store(tmp_path: Path) -> None:
    study, out = tmp_path / "shared.toml", tmp_path / "out"
    study.write_text(STUDY)
    command = [sys.executable, "-m", "sally", "--use", str(FILE), "run", str(study)]
    both_processes = [
        subprocess.Popen(
            [*command, "--out", str(out), "--on", name],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for name in ("local", "pool:2")
    ]  # fmt: skip
    actual_output = [process.communicate(timeout=300)[0] for process in both_processes]
    assert [process.returncode for process in both_processes] == [0, 0], actual_output
    ids = lines(str(out))
    assert len(ids) == len(set(ids)) == 40
    assert any("waits for its end" in output for output in actual_output), actual_output


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK_SECONDS", 0.01)


def publish(out: Path, run: Run) -> None:
    store.place(out).write(f"runs/{run.name}.json", msgspec.json.encode(run))


def test_run_waits_for_a_living_run_with_another_cut(tmp_path: Path, quick: None) -> None:
    """The other run stores a part of the episodes meanwhile; these are not played again."""
    study = against(player_spec("tit_for_tat"), repeats=12)
    store.claim(tmp_path, manifest(study), study)
    other_run = Run("other", "s", "pool:2", this_process(), time.time(), cut="other")
    publish(tmp_path, other_run)
    waiting = Thread(target=play_missing, args=(study, tmp_path))
    waiting.start()
    deadline = time.monotonic() + 300
    while not any(run.cut == "" for run in read_runs(store.place(tmp_path))):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with store.Writer(tmp_path, "other-shard") as writer:
        for _, cell, setup in orders(study)[:5]:
            writer.add(play(setup, cell))
    assert waiting.is_alive() and len(lines(str(tmp_path))) == 5
    publish(tmp_path, msgspec.structs.replace(other_run, ended="finished"))
    waiting.join(300)
    ids = lines(str(tmp_path))
    assert len(ids) == len(set(ids)) == 12


def test_two_waiting_runs_do_not_wait_for_each_other(tmp_path: Path, quick: None) -> None:
    study = against(player_spec("tit_for_tat"), repeats=12)
    store.claim(tmp_path, manifest(study), study)
    other_run = Run("other", "s", "pool:2", this_process(), time.time(), cut="other")
    publish(tmp_path, other_run)
    limited = [Thread(target=play_missing, args=(study, tmp_path, n)) for n in (3, 7, None)]
    for thread in limited:
        thread.start()
    time.sleep(0.1)
    publish(tmp_path, msgspec.structs.replace(other_run, ended="stopped"))
    for thread in limited:
        thread.join(300)
    ids = lines(str(tmp_path))
    assert len(ids) == len(set(ids)) == 12


def test_shards_of_a_dead_run_with_another_cut_are_taken_from_its_workers(tmp_path: Path) -> None:
    study = against(player_spec("tit_for_tat"), repeats=12)
    store.claim(tmp_path, manifest(study), study)
    place = store.place(tmp_path)
    gone = Machine(this_process().host, 2**22 + 1, "1")  # beyond the largest process id
    publish(tmp_path, Run("dead", "s", "pool:2", gone, time.time(), cut="other"))
    assert Claims(place, "dead").take("00000-abcd")
    me = Claims(place, "me")
    alive, dead = me.other_cuts("mine")
    assert (alive, [run.name for run in dead]) == ([], ["dead"])
    assert me.take_shards_of(dead) == ["00000-abcd"]
    assert place.read("claims/00000-abcd.1") == b"me"  # its workers see that they have an heir
    play_missing(study, tmp_path)
    assert len(lines(str(tmp_path))) == 12


def test_cut_depends_on_the_episodes_and_on_what_plays_together() -> None:
    bots = orders(against(player_spec("tit_for_tat"), repeats=12))
    assert cut_name(bots, True) == cut_name(bots, False)
    lineup = grid(agent=player_spec("language", model="embedded"), partner=player_spec("random"))
    cell = Cell("ipd", (instance("ipd", rounds=2),), lineup, repeats=3)
    models = orders(Study("s", "for tests", (cell,)), open_models=False)
    assert cut_name(models, True) != cut_name(models, False)
    assert cut_name(models, True) != cut_name(bots, True)
