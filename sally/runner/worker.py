"""A worker process of a pool: reads a job and then shards, writes results, a line each."""

from __future__ import annotations

import os
import sys
from queue import SimpleQueue
from threading import Thread

from sally.runner.shards import worked


def main() -> None:
    """Play shards until the run closes our input, by its end or by its death."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a user's file prints is no result
    lines: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    job = lines.get()
    while True:
        result = worked(job, lines.get()) + b"\n"
        try:
            results.write(result)
            results.flush()
        except BrokenPipeError:  # the run that handed it out is dead
            os._exit(0)


def _read(lines: SimpleQueue[bytes]) -> None:
    """Pass on what comes; when nobody is there to hand out shards, go, even in mid-episode."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)
