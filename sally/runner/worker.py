"""Worker process of a pool: reads a job and shards, writes results, one JSON line each."""

from __future__ import annotations

import os
import sys
from queue import SimpleQueue
from threading import Thread

from sally.runner.shards import worked


def main() -> None:
    """Play shards until the run closes standard input."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of users' files must not mix with results
    lines: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    job = lines.get()
    while True:
        result = worked(job, lines.get()) + b"\n"
        try:
            results.write(result)
            results.flush()
        except BrokenPipeError:  # the run has ended
            os._exit(0)


def _read(lines: SimpleQueue[bytes]) -> None:
    """Yield input lines; exit when the run is gone, even during an episode."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)
