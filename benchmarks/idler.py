"""Measure scheduling delays with a process that only sleeps.

A measured duration includes delays of the machine itself: other work on the same cores and, on a
virtual machine, time for which the host withdraws a core ("stolen" time). The idler sleeps for two
milliseconds at a time, with the priority of the process that started it, and records by how much
each waking is late; other processes are delayed by as much. A second process flushes a page to the
disk ten times a second, as a program does that must not lose data.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAKES = 0.002  # seconds
FLUSHES = 0.1  # seconds between two


def stolen() -> float:
    """Seconds for which cores of this machine were taken away, over all of them, since it began."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[8]) / 100 if len(fields) > 8 else 0.0


@contextmanager
def idler() -> Iterator[dict[str, Any]]:
    """What the machine added, in milliseconds, once the block is over."""
    figures: dict[str, Any] = {}
    stolen_before, began = stolen(), time.perf_counter()
    started = [
        subprocess.Popen([sys.executable, __file__, kind], stdout=subprocess.PIPE)
        for kind in ("wake", "flush")
    ]
    try:
        yield figures
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            output, _ = process.communicate(timeout=60)
            figures |= json.loads(output)
        seconds = time.perf_counter() - began
        figures["cores stolen"] = round((stolen() - stolen_before) / seconds, 3)


def _until_asked() -> Iterator[None]:
    """Yield until the process is asked for its figures by SIGTERM."""
    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    while not signals:
        yield


def _late() -> list[float]:
    """How late each waking was, in seconds."""
    late: list[float] = []
    for _ in _until_asked():
        began = time.perf_counter()
        time.sleep(WAKES)
        late.append(time.perf_counter() - began - WAKES)
    return late


def _time_flushes() -> list[float]:
    """How long each flush took, in seconds."""
    took: list[float] = []
    with tempfile.TemporaryFile() as file:
        for _ in _until_asked():
            time.sleep(FLUSHES)
            file.write(bytes(4096))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append(time.perf_counter() - began)
    return took


def longest_wait(late: Sequence[float], share: float) -> float:
    """Return the longest wait of a request that arrives at a random moment, in this share of cases.

    Counted by moments and not by wakings: one second in which nothing runs is one late waking.
    """
    total = sum(late) + WAKES * len(late)
    low, high = 0.0, max(late)
    while high - low > 1e-5:
        middle = (low + high) / 2
        longer = sum(wait - middle for wait in late if wait > middle)
        low, high = (middle, high) if longer > (1 - share) * total else (low, middle)
    return high


SHARES = {"p95": 0.95, "p99": 0.99, "worst": 1.0}


def main(kind: str) -> None:
    if kind == "wake":
        late = _late()
        figures = {f"idler {name} ms": longest_wait(late, share) for name, share in SHARES.items()}
    else:
        took = sorted(_time_flushes()) or [0.0]
        last = len(took) - 1
        figures = {f"flush {name} ms": took[int(share * last)] for name, share in SHARES.items()}
    print(json.dumps({name: round(1000 * seconds, 1) for name, seconds in figures.items()}))


if __name__ == "__main__":
    main(sys.argv[1])
