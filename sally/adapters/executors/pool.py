"""A pool of worker processes on this machine; a worker that dies loses only unstored episodes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from selectors import EVENT_READ, DefaultSelector
from threading import Thread
from typing import IO

import msgspec

from sally.adapters.executors.services import SERVICES
from sally.core.errors import BadInput
from sally.runner.executors import TELL_SECONDS, Take
from sally.runner.shards import EpisodeCounts, Job, Result, Shard, Tell, play_encoded_shard

# One worker uses one core: numpy's own threads would compete.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# Workers import Sally from where this process did, even if it is not installed.
START = f"import sys; sys.path.append(sys.argv[1]); from {__name__} import main; main()"


@dataclass
class Worker:
    """A process that reads shards and writes results, one JSON line each."""

    process: subprocess.Popen[bytes]
    shard: str = ""

    @property
    def results(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return  # its exit is noticed when results are read

    def end(self) -> None:
        """Kill the process; stored episodes are kept."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


class Pool:
    """An executor with a fixed number of worker processes."""

    together = False
    rates = False

    def __init__(self, size: int) -> None:
        if size < 1:
            raise BadInput(f"A pool needs at least one process, as in pool:2, not {size}.")
        self.name, self._size = f"pool:{size}", size
        self.workers: list[Worker] = []

    def slots(self) -> int:
        return self._size

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        idle: list[Worker] = []
        with DefaultSelector() as busy:
            try:
                while True:
                    while len(busy.get_map()) < self._size and (shard := take()) is not None:
                        worker = idle.pop() if idle else self._start_worker(job)
                        self._give(worker, shard)
                        busy.register(worker.results, EVENT_READ, worker)
                    if not busy.get_map():
                        return
                    while not (ready := busy.select(TELL_SECONDS)):
                        tell(EpisodeCounts())
                    for key, _ in ready:
                        worker = key.data
                        busy.unregister(worker.results)
                        result = self._result(worker)
                        if not result.lost:
                            idle.append(worker)
                        yield result
            finally:
                for worker in self.workers:
                    worker.end()
                self.workers.clear()

    def _start_worker(self, job: Job) -> Worker:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", START, str(Path(__file__).parents[3])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**ONE_THREAD, **os.environ},
            start_new_session=True,  # Ctrl-C reaches the run, which then ends its workers
        )
        worker = Worker(process)
        self.workers.append(worker)
        worker.send(msgspec.json.encode(job))
        return worker

    def _give(self, worker: Worker, shard: Shard) -> None:
        worker.shard = shard.label
        worker.send(msgspec.json.encode(shard))

    def _result(self, worker: Worker) -> Result:
        line = worker.results.readline()
        if line.endswith(b"\n"):
            return msgspec.json.decode(line, type=Result)
        worker.end()
        self.workers.remove(worker)
        return Result(worker.shard, lost=f"its process ended with {worker.process.returncode}")


# --- the worker process -------------------------------------------------------------------------


def main() -> None:
    """Run a worker: read a job and then shards, and write results, one JSON line each, until the
    input is closed."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of users' files must not mix with results
    lines: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    job = lines.get()
    while True:
        result = play_encoded_shard(job, lines.get(), SERVICES) + b"\n"
        try:
            results.write(result)
            results.flush()
        except BrokenPipeError:  # the run has ended
            os._exit(0)


def _read(lines: SimpleQueue[bytes]) -> None:
    """Queue input lines; exit when the parent run has ended, even during an episode."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)
