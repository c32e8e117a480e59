"""How runs grow: two processes against one, Ray against the pool, and memory over many episodes.

    python benchmarks/scaling.py              these three
    python benchmarks/scaling.py pool ray     only these
    python benchmarks/scaling.py simulate     sixteen workers, on a clock of their own
    python benchmarks/scaling.py cores        1, 2, 4, ... processes, up to the cores of the machine

Needs a machine with at least two idle cores: the ratios are of wall time. Beside them stands the
processor time, which a busy machine changes less.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from heapq import heappop, heappush
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from sally.adapters.executors.pool import Pool
from sally.adapters.executors.services import SERVICES
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner.executors import Executor, Local, Take
from sally.runner.local import orders
from sally.runner.run import Progress, play_missing
from sally.runner.shards import Job, Result, Tell, work

ROUNDS = 3  # each measurement, in turns
EPISODES = 1500
START_SECONDS = 0.25  # of a worker, as `benchmarks/start.py` measures it


def heavy(episodes: int) -> Study:
    """Learners in long games: some 20 ms an episode, a second for a shard of 50."""
    players = grid(agent=player_spec("tabular"), partner=player_spec("tit_for_tat"))
    cell = Cell("rps", (instance("rps", rounds=400),), players, repeats=episodes)
    return Study("heavy", "processor-bound", (cell,))


def light(episodes: int) -> Study:
    players = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    cell = Cell("ipd", (instance("ipd", rounds=20),), players, repeats=episodes)
    return Study("light", "many small episodes", (cell,))


class Cost(msgspec.Struct, frozen=True):
    """What a run took: wall time, and processor time of it and its workers."""

    wall: float
    cpu: float


def cpu_seconds() -> float:
    used = (
        resource.getrusage(target) for target in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(u.ru_utime + u.ru_stime for u in used)


def cost(study: Study, executor: Executor, tables: bool = False) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), cpu_seconds()
        play_missing(study, Path(folder) / "out", on=executor, tables=tables)
        return Cost(time.perf_counter() - wall, cpu_seconds() - cpu)


def in_turns(ons: dict[str, Executor], study: Study) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {name: [] for name in ons}
    for _ in range(ROUNDS):
        for name, executor in ons.items():
            costs[name].append(cost(study, executor))
    return costs


def wall(costs: list[Cost]) -> float:
    return median(c.wall for c in costs)


def pool() -> None:
    """Two processes against one."""
    costs_by_name = in_turns({"pool:1": Pool(1), "pool:2": Pool(2)}, heavy(EPISODES))
    for name, costs in costs_by_name.items():
        cpu = median(c.cpu for c in costs)
        print(f"{name}: {EPISODES} episodes in {wall(costs):6.2f} s, {cpu:6.2f} s of processors")
    single, double = costs_by_name["pool:1"], costs_by_name["pool:2"]
    # What either process can gain is bounded by the processor time that sharing adds.
    bound = 2 * median(c.cpu for c in single) / median(c.cpu for c in double)
    print(f"two processes are {wall(single) / wall(double):.2f} times one  (aim 1.8)")
    print(f"  by processor time they could be {bound:.2f} times one on two idle cores")


def ray() -> None:
    """Ray on two cores of this machine against a pool of two."""
    # Before the import, which reads it: without, Ray leaves a token in the home folder.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    import ray as engine

    from sally.adapters.executors.ray import Cluster

    engine.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=80_000_000,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    try:
        costs_by_name = in_turns({"pool:2": Pool(2), "ray": Cluster()}, heavy(EPISODES))
    finally:
        engine.shutdown()
    for name, costs in costs_by_name.items():
        print(f"{name}: {EPISODES} episodes in {wall(costs):6.2f} s")
    print(
        f"ray / pool {wall(costs_by_name['ray']) / wall(costs_by_name['pool:2']):.2f}  (at "
        "most 1.10)"
    )


class Simulated:
    """So many workers on a clock of its own: one after another plays here, as if side by side.

    The run, its shards and the episodes are real. What a shard takes is its processor time; what
    the run itself takes in between makes everybody wait who has nothing to do then.
    """

    together, rates = False, False

    def __init__(self, workers: int, listed: float, start: float = START_SECONDS) -> None:
        self.name, self._workers, self._start = "simulated", workers, start
        self.driver, self.now, self.end, self.work, self.parts = listed, listed, 0.0, 0.0, 0

    def slots(self) -> int:
        return self._workers

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        ready = [max(self._start, self.now)] * self._workers  # when each worker may begin
        playing: list[tuple[float, int, Result]] = []
        while True:
            while ready and (shard := self._of_the_driver(take)) is not None:
                self._of_the_driver(lambda: msgspec.json.encode(shard))
                begin, took = time.process_time(), max(self.now, heappop(ready))
                result = work(job, shard)
                seconds = time.process_time() - begin
                self.work, self.parts = self.work + seconds, self.parts + 1
                heappush(playing, (took + seconds, self.parts, result))
            if not playing:
                return
            self.end, _, result = heappop(playing)
            self.now = max(self.now, self.end)
            heappush(ready, self.now)
            begin = time.process_time()
            yield result
            self._spend(time.process_time() - begin)

    def _of_the_driver(self, job: Callable[[], Any]) -> Any:
        begin = time.process_time()
        done = job()
        self._spend(time.process_time() - begin)
        return done

    def _spend(self, seconds: float) -> None:
        self.driver, self.now = self.driver + seconds, self.now + seconds


def simulate(light_ones: int = 20_000, heavy_ones: int = 1_000) -> None:
    """What sixteen workers would take, by the processor time of every shard and of the driver."""
    for study in (light(60), heavy(60)):  # what is loaded and worked out once
        cost(study, Local())
    mixed = (*light(light_ones).cells, *heavy(heavy_ones).cells)
    for name, study in {
        "light episodes": light(light_ones),
        "light ones, then heavy ones": Study("both", "", mixed),
    }.items():
        for workers in (2, 16):
            begin = time.process_time()
            planned = orders(study)
            listed = time.process_time() - begin
            executor = Simulated(workers, listed)
            with tempfile.TemporaryDirectory() as folder:
                play_missing(study, Path(folder) / "out", on=executor, planned=planned)
            playing = executor.end - max(listed, START_SECONDS)
            print(
                f"{name}, {workers:2d} workers: {executor.work:.1f} s of work in "
                f"{executor.parts} parts, over "
                f"after {executor.end:.2f} s; from the first shard on busy "
                f"{executor.work / playing / workers:.2f} of the time (aim 0.97)"
            )
            print(
                f"  driver {executor.driver:.2f} s, {1e6 * executor.driver / len(planned):.1f} "
                "us an episode, "
                f"{listed:.2f} s of them before the first worker begins, "
                f"which takes {START_SECONDS} s to start"
            )


def time_apart(study: Study, processes: int) -> float:
    """How long so many processes take that play a study each and have nothing in common."""
    together = multiprocessing.get_context("fork")
    ready = together.Barrier(processes + 1)

    def play() -> None:
        ready.wait()
        cost(study, Local(SERVICES), tables=True)

    playing = [together.Process(target=play) for _ in range(processes)]
    for process in playing:
        process.start()
    ready.wait()
    since = time.perf_counter()
    for process in playing:
        process.join()
    return time.perf_counter() - since


def cores(light_ones: int = 80_000, heavy_ones: int = 4_000) -> None:
    """As many processes as there are cores, and half as many, and so on, once each.

    The machine's own limit stands beside: processes that play apart, without a driver. Cores that
    share their units and their memory give less than so many times one.
    """
    for study, few, alone in (
        (heavy(heavy_ones), heavy(60), heavy(200)),
        (light(light_ones), light(60), light(4_000)),
    ):
        cost(few, Pool(1))  # bytecode, and files in the machine's memory
        single_wall, single = 0.0, min(time_apart(alone, 1) for _ in range(3))
        for workers in (n for n in (1, 2, 4, 8, 16, 32) if n <= (os.cpu_count() or 1)):
            usage_before = resource.getrusage(resource.RUSAGE_SELF)
            took = cost(study, Pool(workers), tables=True)  # as `sally run` does
            usage_after = resource.getrusage(resource.RUSAGE_SELF)
            driver = (
                usage_after.ru_utime
                - usage_before.ru_utime
                + usage_after.ru_stime
                - usage_before.ru_stime
            )
            single_wall = single_wall or took.wall
            ratio, limit = single_wall / took.wall, workers * single / time_apart(alone, workers)
            busy = (took.cpu - driver) / workers / took.wall
            print(
                f"{study.name}, {workers:2d} workers: {took.wall:6.2f} s, {ratio:5.2f} times one "
                f"(apart {limit:5.2f}), workers busy {busy:.3f} of the time, the driver "
                f"{driver / took.wall:.3f} ({driver:.2f} s), processors {took.cpu:.1f} s in all",
                flush=True,
            )


def memory(episodes: int = 40_000) -> None:
    """What a process holds after a tenth of the episodes, and after all of them."""
    executors: dict[str, Executor] = {"local": Local(), "pool:1": Pool(1)}
    for name, executor in executors.items():
        memory_by_count: dict[int, int] = {}
        peaks: dict[int, int] = {}
        _watch_memory(executor, episodes, memory_by_count, peaks)
        *earlier, final = sorted(memory_by_count)
        tenth = min((n for n in earlier if n >= episodes // 10), default=earlier[-1])
        first, last = memory_by_count[tenth], memory_by_count[final]
        print(
            f"{name}: run {first / 1e3:.0f} MB after {tenth} episodes, {last / 1e3:.0f} MB after "
            f"{final} ({(last - first) / (final - tenth) * 1e3:.0f} bytes an episode)"
        )
        if peaks:
            print(f"  its worker: at most {max(peaks.values()) / 1e3:.0f} MB")


def _watch_memory(
    executor: Executor, episodes: int, memory_by_count: dict[int, int], peaks: dict[int, int]
) -> None:
    def look(now: Progress) -> None:
        if now.done % 500 == 0 or isinstance(executor, Pool):
            memory_by_count[now.done] = _status(os.getpid(), "VmRSS")
            if isinstance(executor, Pool):
                for worker in executor.workers:
                    peaks[worker.process.pid] = _status(worker.process.pid, "VmHWM")

    with tempfile.TemporaryDirectory() as folder:
        play_missing(light(episodes), Path(folder) / "out", watch=look, on=executor)


def _status(pid: int, field: str) -> int:
    """Kilobytes, as the kernel counts them."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def main() -> None:
    parts = {"pool": pool, "ray": ray, "memory": memory, "simulate": simulate, "cores": cores}
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} at the beginning")
    for name in sys.argv[1:] or ("pool", "ray", "memory"):
        if name not in parts:
            sys.exit(f"There is no part {name!r}; the known parts are {', '.join(parts)}.")
        parts[name]()


if __name__ == "__main__":
    main()
