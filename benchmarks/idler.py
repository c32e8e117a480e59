"""A process that does nothing, and how late the machine lets it do it.

Whoever measures how long something takes has to know what the machine itself adds: other work on
the same cores, and, where cores are lent by a larger machine, the time for which they are taken
back ("stolen"). The idler wants to wake every two milliseconds, with the priority of whoever
started it; what it is late by, everybody else on the machine was late by as well.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAKES = 0.002  # seconds


def stolen() -> float:
    """Seconds for which cores of this machine were taken away, over all of them, since it began."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[8]) / 100 if len(fields) > 8 else 0.0


@contextmanager
def idler() -> Iterator[dict[str, Any]]:
    """What the machine added, in milliseconds, once the block is over."""
    found: dict[str, Any] = {}
    before, began = stolen(), time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE)
    try:
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        seconds = time.perf_counter() - began
        found |= json.loads(said)
        found["cores stolen"] = round((stolen() - before) / seconds, 3)


def _idle() -> list[float]:
    """How late each waking was, in seconds, until somebody asks for it."""
    late: list[float] = []
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    while not asked:
        began = time.perf_counter()
        time.sleep(WAKES)
        late.append(time.perf_counter() - began - WAKES)
    return late


def waited(late: Sequence[float], share: float) -> float:
    """What somebody who comes at any moment waits at most, in this share of the moments.

    Counted by moments and not by wakings: one second in which nothing runs is one late waking.
    """
    total = sum(late) + WAKES * len(late)
    low, high = 0.0, max(late)
    while high - low > 1e-5:
        middle = (low + high) / 2
        longer = sum(each - middle for each in late if each > middle)
        low, high = (middle, high) if longer > (1 - share) * total else (low, middle)
    return high


def main() -> None:
    late = _idle()
    shares = {"p95": 0.95, "p99": 0.99, "worst": 1.0}
    figures = {f"idler {name} ms": 1000 * waited(late, share) for name, share in shares.items()}
    print(json.dumps({name: round(ms, 1) for name, ms in figures.items()}))


if __name__ == "__main__":
    main()
