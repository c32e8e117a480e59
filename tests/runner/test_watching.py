"""`sally watch`: what a store tells of its runs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.runner.claims import Machine, Run, this_process
from sally.runner.progress import Speed, look, speed_of
from sally.runner.run import Progress, run_study
from sally.runner.shards import EpisodeCounts, note_name
from sally.studies.quickstart import STUDY

ELSEWHERE = Machine("another", 1, "")


@pytest.fixture(params=["folder", "memory"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    where = {"folder": str(tmp_path / "o"), "memory": f"memory://{tmp_path}/o"}[request.param]
    store.claim(where, store.Manifest("mine", "hash"))
    return where


def told(
    out: str, name: str, began: float, machine: Machine | None = None, **options: object
) -> None:
    options.setdefault("seconds", float(options["now"]) - began)  # type: ignore[arg-type]
    run = Run(name, "mine", "pool:2", machine or this_process(), began, **options)  # type: ignore[arg-type]
    store.place(out).write(f"runs/{name}.json", msgspec.json.encode(run))


def note(out: str, run: str, shard: str, tally: EpisodeCounts) -> None:
    store.place(out).write(note_name(run, shard), msgspec.json.encode(tally))


def test_watch_shows_a_running_run_with_notes_of_workers(out: str) -> None:
    now = time.time()
    tally = EpisodeCounts(done=30, censored=2, failed=1, calls=300, tokens=9000, money=1.5)
    flying = {"s1": 20, "s2": 20}
    told(out, "a", now - 50, now=now, wanted=200, kept=10, tally=tally, in_flight=flying)
    note(out, "a", "s1", EpisodeCounts(done=10, calls=100, tokens=1000, money=0.5))
    progress_snapshot = look(out)
    assert (progress_snapshot.done, progress_snapshot.wanted, progress_snapshot.in_flight) == (
        50,
        200,
        30,
    )
    assert (progress_snapshot.failed, progress_snapshot.censored) == (1, 2)
    assert progress_snapshot.rate == pytest.approx(40 / 50)
    assert progress_snapshot.seconds_left == pytest.approx(150 / 0.8)
    assert progress_snapshot.cost_left == pytest.approx(2.0 / 40 * 150)
    assert [run.state for run in progress_snapshot.runs] == ["running"]
    assert not progress_snapshot.is_over


def test_remaining_cost_is_unknown_without_prices(out: str) -> None:
    now = time.time()
    told(
        out,
        "a",
        now - 5,
        now=now,
        wanted=9,
        tally=EpisodeCounts(done=3, calls=3, tokens=9, unpriced=1),
    )
    assert look(out).cost_left is None
    output = CliRunner().invoke(cli, ["watch", out, "--once"]).output
    assert "the cost is unknown" in output


def test_episodes_of_an_earlier_run_are_not_counted_twice(out: str) -> None:
    now = time.time()
    told(out, "a", now - 90, ELSEWHERE, now=now - 40, wanted=100, tally=EpisodeCounts(done=40))
    told(out, "b", now - 30, now=now, wanted=100, kept=42, tally=EpisodeCounts(done=8))
    progress_snapshot = look(out)
    assert progress_snapshot.done == 50  # the earlier one died before it told of its last two
    assert [run.state for run in progress_snapshot.runs] == ["silent", "running"]


def test_concurrent_runs_are_added_up(out: str) -> None:
    now = time.time()
    told(out, "a", now - 20, now=now, wanted=100, kept=10, tally=EpisodeCounts(done=20))
    told(out, "b", now - 10, now=now, wanted=100, kept=15, tally=EpisodeCounts(done=10))
    progress_snapshot = look(out)
    assert progress_snapshot.done == 40
    assert progress_snapshot.rate == pytest.approx(2.0)


def test_store_without_run_files_is_counted(out: str, tmp_path: Path) -> None:
    run_study(STUDY, tmp_path / "s", limit=6)
    for name in store.place(tmp_path / "s").names("runs"):
        store.place(tmp_path / "s").remove(f"runs/{name}")
    progress_snapshot = look(tmp_path / "s")
    assert (progress_snapshot.done, progress_snapshot.wanted, progress_snapshot.is_over) == (
        18,
        None,
        True,
    )


def test_command_line_shows_a_finished_run_as_finished(tmp_path: Path) -> None:
    out = str(tmp_path / "o")
    run_study(STUDY, out, limit=6)
    result = CliRunner().invoke(cli, ["watch", out])
    assert result.exit_code == 0  # it does not wait for more
    assert "quickstart: 18 of 18 episodes done, 0 in flight, 0 failed, 0 censored" in result.output
    assert "on local: finished, 18 played" in result.output
    plain = json.loads(CliRunner().invoke(cli, ["watch", out, "--once", "--json"]).output)
    assert (plain["done"], plain["runs"][0]["state"]) == (18, "finished")


def test_path_without_store_is_refused_with_one_message(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no store at"):
        look(tmp_path / "nothing")


def test_commands_accept_remote_addresses(tmp_path: Path) -> None:
    out = f"memory://{tmp_path}/far"

    def sally(*args: str) -> str:
        done = CliRunner().invoke(cli, args, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    ran = json.loads(sally("run", "quickstart", "--limit", "6", "--out", out, "--json"))
    assert (ran["out"], ran["episodes"], ran["not_run"]) == (out, 18, 0)
    repeated_data = json.loads(sally("run", "quickstart", "--limit", "12", "--out", out, "--json"))
    assert (repeated_data["episodes"], repeated_data["doubled"]) == (36, 0)
    assert "36 of 36 episodes replayed, 0 mismatches" in sally("replay", out)
    rows = json.loads(sally("score", out, "--rows"))
    first = rows[0]["episode"]
    assert json.loads(sally("show", f"{out}/{first[:10]}", "--json"))["episode"] == first
    assert "tabular" in sally("score", out)
    assert "36 of 36 episodes done" in sally("watch", out, "--once")
    assert "The missing episodes need no model calls" in sally("plan", "quickstart", "--out", out)


# --- speed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("busy", "limited", "bound"),
    [(9.5, 0.0, "harness"), (1.0, 400.0, "rate limit"), (1.0, 2.0, "server")],
)
def test_speed_report_names_the_bottleneck_of_the_last_run(
    busy: float, limited: float, bound: str, tmp_path: Path
) -> None:
    state = Run("r-1", "s", "local", this_process(), 100.0, now=110.0, seconds=10.0)
    tally = EpisodeCounts(done=4, calls=50, busy=busy, limited=limited)
    place = store.place(tmp_path)
    place.write("runs/r-1.json", msgspec.json.encode(replace(state, tally=tally)))
    assert speed_of(tmp_path) == Speed(5.0, bound)


def test_run_of_few_calls_has_no_speed_report(tmp_path: Path) -> None:
    state = Run(
        "r-1",
        "s",
        "local",
        this_process(),
        100.0,
        now=110.0,
        seconds=10.0,
        tally=EpisodeCounts(calls=3),
    )
    store.place(tmp_path).write("runs/r-1.json", msgspec.json.encode(state))
    assert speed_of(tmp_path) is None


def test_time_left_is_estimated_from_episodes_if_the_calls_left_are_unknown() -> None:
    begun = Progress(0, 9, 0, 0, EpisodeCounts(calls=1), seconds=4.0)
    assert begun.seconds_left is None
    assert Progress(6, 9, 0, 0, EpisodeCounts(calls=20), seconds=60.0).seconds_left == 30.0
    known_episode_counts = EpisodeCounts(calls=20, calls_left=5)
    assert Progress(6, 9, 0, 0, known_episode_counts, seconds=60.0).seconds_left == 15.0
