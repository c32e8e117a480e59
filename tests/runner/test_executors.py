"""Executors: the same records from each, and nothing lost or doubled when processes die."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sally import store
from sally.adapters.executors.lookup import executor
from sally.adapters.executors.pool import Pool
from sally.api.studies import RunRequest, find_study, prepared_study
from sally.core.errors import BadInput, RunFailed
from sally.core.log.events import Censored, to_line
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner import sharding
from sally.runner.budget import Budget, Meter
from sally.runner.claims import read_runs
from sally.runner.config import Config, ModelEntry, use_config
from sally.runner.executors import Executor, Local
from sally.runner.local import AT_ONCE
from sally.runner.progress import look
from sally.runner.run import Progress, WorkerBroke, play_missing, run_study
from sally.store import Contents
from tests.adapters.inspect.server import refusing, serving
from tests.fixtures.warm import SALLY, Forked, warm
from tests.runner.dawdling import FILE, against


@pytest.fixture
def users_file(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file is on the shelf, for this test."""
    kept_entries = {folder: dict(entries) for folder, entries in registry._added.items()}
    monkeypatch.setattr(registry, "_added", kept_entries)
    monkeypatch.setattr(registry, "_files", list(registry._files))
    registry.add_file(FILE)
    return FILE


ALL_GAMES = Study(
    "all",
    "probes, nature, helpers, forms, learners",
    (
        Cell(
            "rps",
            (instance("rps", rounds=6),),
            grid(
                agent=(player_spec("random"), player_spec("tabular")),
                partner=player_spec("tit_for_tat"),
            ),
            arms={"agent": ("their_move",)},
            repeats=30,
        ),
        *(
            Cell(
                game,
                (instance(game),),
                ({seat: player_spec("random") for seat in seats},),
                repeats=20,
            )
            for game, seats in {
                name: registry.game(name).build({}).seats
                for name in ("toma_po", "toma_mg", "pick_the_right_stuff", "mindgames")
            }.items()
        ),
    ),
)


def lines(found: Contents) -> list[bytes]:
    return sorted(to_line(episode) for episode in found.episodes.values())


def check_complete(found: Contents, expected: int) -> None:
    assert (len(found.finished_ids), found.doubled, found.bad) == (expected, 0, [])


# --- the same from each -------------------------------------------------------------------------


def test_records_are_byte_identical_on_every_executor(tmp_path: Path) -> None:
    contents = run_study(ALL_GAMES, tmp_path / "local", executor=Local())
    pool = run_study(ALL_GAMES, tmp_path / "pool", executor=Pool(2))
    far_contents = run_study(ALL_GAMES, f"file://{tmp_path}/far", executor=Pool(2))
    check_complete(contents, 140)
    assert lines(contents) == lines(pool) == lines(far_contents)
    names = {path.name.partition("-")[0] for path in store.episode_files(tmp_path / "pool")}
    assert names == {"00000", "00001"}  # so two shards travelled, in parts


@pytest.mark.parametrize(("name", "kind"), [("local", Local), ("pool:1", Pool), ("pool:12", Pool)])
def test_executors_have_names(name: str, kind: type) -> None:
    actual_executor = executor(name)
    assert isinstance(actual_executor, kind)
    assert actual_executor.name == name


@pytest.mark.parametrize(
    "name", ["", "pool", "pool:", "pool:x", "pool:-1", "rays", "ray:x", "ray://"]
)
def test_unknown_executor_is_refused_with_one_message(name: str) -> None:
    with pytest.raises(BadInput, match=r"is local, pool:N, ray or ray://HOST:PORT, not"):
        executor(name)


def test_pool_without_workers_is_refused() -> None:
    with pytest.raises(BadInput, match="at least one process"):
        executor("pool:0")


class Seen(Exception):
    """Failing calls were reported."""


def test_failing_calls_of_workers_are_reported_while_they_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "a-key-for-this-machine")
    model = "openai-api/lab/plain"

    def watch(progress: Progress) -> None:
        if progress.used.failed_calls and not progress.done:
            raise Seen(progress.used.refusal)

    with serving(always=refusing(429, "Slow down, please.")) as server:
        config = use_config(Config(models={"plain": ModelEntry(model, base_url=server.address)}))
        try:
            request = RunRequest(limit=1, model=model, without=("lm",))
            study, _ = prepared_study(find_study("quickstart_model"), request, config)
            with pytest.raises(Seen, match="Slow down, please"):
                play_missing(study, tmp_path / "o", 1, watch, Meter(config=config), Pool(2))
        finally:
            use_config(None)


def test_store_not_visible_to_workers_is_refused_before_play(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadInput, match="visible to one process only"):
        run_study(against(player_spec("tit_for_tat")), f"memory://{tmp_path}/o", executor=Pool(2))
    assert not store.place(f"memory://{tmp_path}/o").exists()


def test_progress_counts_up_to_the_missing_episodes(tmp_path: Path) -> None:
    progresses: list[Progress] = []
    run_study(against(player_spec("tit_for_tat"), 20), tmp_path / "o")
    run_study(
        against(player_spec("tit_for_tat")),
        tmp_path / "o",
        watch=progresses.append,
        executor=Pool(2),
    )
    assert (progresses[-1].done, progresses[-1].wanted, progresses[-1].kept) == (100, 100, 20)


# --- when something goes wrong ------------------------------------------------------------------


@pytest.mark.parametrize("on", [Local(), Pool(2)], ids=lambda e: e.name)
def test_error_in_a_user_file_is_raised_and_recorded_in_the_run(
    users_file: Path, tmp_path: Path, on: Executor
) -> None:
    with pytest.raises((ZeroDivisionError, WorkerBroke), match="a mistake in a user's file"):
        run_study(against(player_spec("breaks")), tmp_path / "o", executor=on)
    (run,) = read_runs(store.place(tmp_path / "o"))
    assert "a mistake in a user's file" in run.ended


def test_entries_registered_only_in_this_process_are_missing_in_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_files", [])  # other tests may have added it by file
    cell = Cell(
        "cups",
        (instance("cups"),),
        ({"hider": player_spec("random"), "seeker": player_spec("random")},),
    )
    with pytest.raises(BadInput, match="cups"):
        run_study(Study("s", "", (cell,)), tmp_path / "o", executor=Pool(1))


def test_shard_that_kills_its_workers_is_abandoned_and_others_are_played(
    users_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "FIRST", 25)  # two parts, each of which kills three workers
    lineups = grid(
        agent=player_spec("random"), partner=(player_spec("tit_for_tat"), player_spec("dies"))
    )
    cell = Cell("ipd", (instance("ipd", rounds=2),), lineups, repeats=50)
    with pytest.raises(RunFailed, match=r"50 episodes were given up, because workers died 3 times"):
        run_study(Study("s", "", (cell,)), tmp_path / "o", executor=Pool(2))
    check_complete(store.load(tmp_path / "o"), 50)
    assert look(tmp_path / "o").failed == 50


def in_thread(job: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=job)
    thread.start()
    return thread


def until(true: Callable[[], bool], seconds: float = 120) -> None:
    patience = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < patience
        time.sleep(0.02)


def count_stored(out: Path) -> int:
    """Whole lines on disk, while writers come and go."""
    files = store.episode_files(out)
    return sum(line.endswith(b"\n") for path in files for _, line in store.lines_of(path))


def test_killed_workers_lose_no_episode(users_file: Path, tmp_path: Path) -> None:
    pool, out = Pool(2), tmp_path / "o"
    study = against(player_spec("dawdles", seconds=0.002), 200)
    running = in_thread(lambda: play_missing(study, out, on=pool))
    for least in (20, 60):
        until(lambda least=least: out.exists() and count_stored(out) >= least)  # type: ignore[misc]
        os.kill(pool.workers[-1].process.pid, signal.SIGKILL)
    running.join()
    check_complete(store.load(out), 200)


DRIVER = """
import sys
from pathlib import Path
from sally.core.registry import registry as shelf
from sally.adapters.executors.pool import Pool
from sally.runner.executors import Local
from sally.runner.run import play_missing
from sally.core.registry.study import player_spec
from tests.runner.dawdling import FILE, against
shelf.add_file(FILE)
on = Pool(2) if sys.argv[2] == "pool" else Local()
play_missing(against(player_spec("dawdles", seconds=0.002), 200), sys.argv[1], on=on)
"""


def driver(out: Path, on: str) -> Forked:
    root = Path(__file__).parents[2]
    return warm(*SALLY).start([sys.executable, "-c", DRIVER, str(out), on], cwd=root)


@pytest.mark.parametrize("on", ["local", "pool"])
def test_killed_run_is_completed_by_the_next_run(users_file: Path, tmp_path: Path, on: str) -> None:
    out = tmp_path / "o"
    killed = driver(out, on)
    until(lambda: out.exists() and count_stored(out) >= 30)
    killed.kill()
    killed.wait()
    assert store.place(out).names("claims")  # it had no time to tidy up
    assert [run.state for run in look(out).runs] == ["dead"]
    number_before = count_stored(out)
    study = against(player_spec("dawdles", seconds=0.002), 200)
    check_complete(run_study(study, out, executor=Pool(2) if on == "pool" else Local()), 200)
    assert 30 <= number_before < 200
    assert store.place(out).names("claims") == []
    assert [run.state for run in look(out).runs] == ["finished"]


def test_two_runs_of_one_study_share_the_work(users_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    alternative = driver(out, "local")
    until(lambda: out.exists() and count_stored(out) >= 1)
    study = against(player_spec("dawdles", seconds=0.002), 200)
    own_counts = play_missing(study, out)
    assert alternative.wait() == 0
    check_complete(store.load(out), 200)
    played = {run.name: run.tally.done for run in read_runs(store.place(out))}
    assert sum(played.values()) == 200
    assert 50 <= own_counts.done <= 150  # at least a shard each


# --- budgets ------------------------------------------------------------------------------------


TOKENS = 20_000


def spenders() -> Study:
    agent = player_spec("language", model="users_file", strategy="qa")
    lineup = {"agent": agent, "partner": player_spec("tit_for_tat")}
    return Study("s", "", (Cell("ipd", (instance("ipd", rounds=5),), (lineup,), repeats=60),))


def test_workers_share_one_budget(users_file: Path, tmp_path: Path) -> None:
    free, bound = Meter(), Meter(Budget(tokens=TOKENS))
    run_study(spenders(), tmp_path / "free", meter=free)
    contents = run_study(spenders(), tmp_path / "bound", executor=Pool(2), meter=bound)
    assert free.tokens > 2 * TOKENS
    out_at_once = 2 * AT_ONCE  # calls of two workers that were out when the budget ended
    assert TOKENS / 2 < bound.tokens < TOKENS + out_at_once * free.tokens / free.calls * 2
    assert 0 < len(contents.finished_ids) < 60
    assert {e.end.cause for e in contents.episodes.values() if isinstance(e.end, Censored)} <= {
        "budget"
    }
    check_complete(run_study(spenders(), tmp_path / "bound", executor=Pool(2)), 60)
