"""How runs grow: two processes against one, Ray against the pool, and memory over many episodes.

    python benchmarks/scaling.py              all of them
    python benchmarks/scaling.py pool ray     only these
    python benchmarks/scaling.py simulate     sixteen workers, by shards played one after another

Needs a machine with at least two idle cores: the ratios are of wall time. Beside them stands the
processor time, which a busy machine changes less.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import msgspec

from sally import store
from sally.core.study import Cell, Study, grid, instance, sitter
from sally.runner.executors import Executor, Local
from sally.runner.local import manifest, orders
from sally.runner.pool import Pool
from sally.runner.run import LAST, Progress, play_missing
from sally.runner.shards import Job, cuts_of, work

ROUNDS = 3  # each measurement, in turns
EPISODES = 1500


def heavy(episodes: int) -> Study:
    """Learners in long games: some 20 ms an episode, a second for a shard of 50."""
    players = grid(agent=sitter("tabular"), partner=sitter("tit_for_tat"))
    cell = Cell("rps", (instance("rps", rounds=400),), players, repeats=episodes)
    return Study("heavy", "processor-bound", (cell,))


def light(episodes: int) -> Study:
    players = grid(agent=sitter("random"), partner=sitter("tit_for_tat"))
    cell = Cell("ipd", (instance("ipd", rounds=20),), players, repeats=episodes)
    return Study("light", "many small episodes", (cell,))


class Cost(msgspec.Struct, frozen=True):
    """What a run took: wall time, and processor time of it and its workers."""

    wall: float
    cpu: float


def cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def cost(study: Study, on: Executor) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), cpu_seconds()
        play_missing(study, Path(folder) / "out", on=on)
        return Cost(time.perf_counter() - wall, cpu_seconds() - cpu)


def in_turns(ons: dict[str, Executor], study: Study) -> dict[str, list[Cost]]:
    found: dict[str, list[Cost]] = {name: [] for name in ons}
    for _ in range(ROUNDS):
        for name, on in ons.items():
            found[name].append(cost(study, on))
    return found


def wall(costs: list[Cost]) -> float:
    return median(c.wall for c in costs)


def pool() -> None:
    """Two processes against one."""
    found = in_turns({"pool:1": Pool(1), "pool:2": Pool(2)}, heavy(EPISODES))
    for name, costs in found.items():
        cpu = median(c.cpu for c in costs)
        print(f"{name}: {EPISODES} episodes in {wall(costs):6.2f} s, {cpu:6.2f} s of processors")
    one, two = found["pool:1"], found["pool:2"]
    # What either process can gain is bounded by the processor time that sharing adds.
    bound = 2 * median(c.cpu for c in one) / median(c.cpu for c in two)
    print(f"two processes are {wall(one) / wall(two):.2f} times one  (aim 1.8)")
    print(f"  by processor time they could be {bound:.2f} times one on two idle cores")


def ray() -> None:
    """Ray on two cores of this machine against a pool of two."""
    # Before the import, which reads it: without, Ray leaves a token in the home folder.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    import ray as engine

    from sally.adapters.ray import Cluster

    engine.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=80_000_000,
        log_to_driver=False,
        logging_level="error",
    )
    try:
        found = in_turns({"pool:2": Pool(2), "ray": Cluster()}, heavy(EPISODES))
    finally:
        engine.shutdown()
    for name, costs in found.items():
        print(f"{name}: {EPISODES} episodes in {wall(costs):6.2f} s")
    print(f"ray / pool {wall(found['ray']) / wall(found['pool:2']):.2f}  (at most 1.10)")


def simulate(light_ones: int = 20_000, heavy_ones: int = 1_000) -> None:
    """What sixteen workers would take, by the processor time of every shard and of the driver."""
    for study in (light(60), heavy(60)):  # what is loaded and worked out once
        cost(study, Local())
    for name, study in {
        "light episodes": light(light_ones),
        "light ones, then heavy ones": Study(
            "both", "", (*light(light_ones).cells, *heavy(heavy_ones).cells)
        ),
    }.items():
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            wanted = orders(study)
            cuts = list(cuts_of(wanted))
            before = time.process_time() - start
            out = Path(folder) / "out"
            store.claim(store.place(out), manifest(study))
            each, given = list[float](), 0.0
            for cut in cuts:
                start = time.process_time()
                shard = cut.shard(wanted)
                msgspec.json.encode(shard)
                given += time.process_time() - start
                start = time.process_time()
                work(Job(study.name, str(out)), shard)
                each.append(time.process_time() - start)
        print(f"{name}: {len(wanted)} episodes, {len(cuts)} shards, {sum(each):.1f} s of work")
        print(
            f"  driver {1e6 * (before + given) / len(wanted):.1f} us an episode, "
            f"{1e6 * before / len(wanted):.1f} of them before the first worker begins"
        )
        for workers in (2, 16):
            for how, last in (("as the study has them", 0), ("the longest last ones first", LAST)):
                took = before + _makespan(each, workers, last)
                print(f"  {workers:2d} workers, shards {how:27s} {sum(each) / took / workers:.2f}")


def _makespan(each: list[float], workers: int, last: int) -> float:
    """When the last shard is over, if a free worker takes the next one."""
    free, waiting = [0.0] * workers, list(each)
    while waiting:
        at = 0
        if len(waiting) <= last * workers:
            at = max(range(len(waiting)), key=waiting.__getitem__)
        free.sort()
        free[0] += waiting.pop(at)
    return max(free)


def memory(episodes: int = 10_000) -> None:
    """What a process holds after a tenth of the episodes, and after all of them."""
    for name, on in {"local": Local(), "pool:1": Pool(1)}.items():
        seen: dict[int, int] = {}
        peaks: dict[int, int] = {}
        _watched(on, episodes, seen, peaks)
        tenth = min(n for n in seen if n >= episodes // 10)
        first, last = seen[tenth], seen[max(seen)]
        print(
            f"{name}: run {first / 1e3:.0f} MB after {tenth} episodes, {last / 1e3:.0f} MB after "
            f"{max(seen)} ({(last - first) / (max(seen) - tenth) * 1e3:.0f} bytes an episode)"
        )
        if peaks:
            print(f"  its worker: at most {max(peaks.values()) / 1e3:.0f} MB")


def _watched(on: Executor, episodes: int, seen: dict[int, int], peaks: dict[int, int]) -> None:
    def look(now: Progress) -> None:
        if now.done % 500 == 0 or isinstance(on, Pool):
            seen[now.done] = _status(os.getpid(), "VmRSS")
            if isinstance(on, Pool):
                for worker in on.workers:
                    peaks[worker.process.pid] = _status(worker.process.pid, "VmHWM")

    with tempfile.TemporaryDirectory() as folder:
        play_missing(light(episodes), Path(folder) / "out", watch=look, on=on)


def _status(pid: int, what: str) -> int:
    """Kilobytes, as the kernel counts them."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


def main() -> None:
    parts = {"pool": pool, "ray": ray, "memory": memory, "simulate": simulate}
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} at the beginning")
    for name in sys.argv[1:] or parts:
        if name not in parts:
            sys.exit(f"There is no part {name!r}; known are {', '.join(parts)}.")
        parts[name]()


if __name__ == "__main__":
    main()
