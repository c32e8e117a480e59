"""Timing side by side: peers take turns in one run, and only ratios are compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median


def time_in_turns(
    jobs: Mapping[str, Callable[[], object]],
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The median seconds of each job, measured in turns so that a busy machine hits all alike."""
    for job in jobs.values():
        job()  # warm up: imports, caches
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            start = clock()
            job()
            seconds[name].append(clock() - start)
    return {name: median(times) for name, times in seconds.items()}
