"""Tables of large stores, built by several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Protocol

import msgspec

from sally.core.errors import BadInput
from sally.core.registry import registry

# Workers import Sally from where this process did, even if it is not installed.
START = "import sys; sys.path.append(sys.argv[1]); from sally.frames.worker import work; work()"
BATCHES = 4  # processes started one after another on each core, so that all end about together
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Job(msgspec.Struct, frozen=True):
    """A table to build for one file of a store."""

    store: str
    files: tuple[str, ...]
    digest: str
    table: str
    columns: tuple[str, ...]
    uses: tuple[str, ...]  # users' files to register


class Measurable(Protocol):
    """A file of lines whose tables can be built elsewhere."""

    def job(self, name: str, columns: Sequence[str], uses: tuple[str, ...]) -> Job | None: ...


def fill_in_parallel(
    files: Sequence[Measurable],
    table: str,
    columns: Sequence[str],
    watch: Callable[[int, int], None] | None,
) -> None:
    """Build a table for several files, one process per core; files that have to be read in this
    process are left out.

    Raises:
        BadInput: If a table cannot be built.
    """
    if registry.added_in_memory() or registry.added_objects():
        return  # other processes do not know these entries
    uses = tuple(str(path) for path in registry.added_files())
    jobs = [job for file in files if (job := file.job(table, columns, uses)) is not None]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processes = max(1, min(cores or 1, len(jobs)))
    batch_count = BATCHES * processes
    with ThreadPoolExecutor(processes) as threads:
        batches = [jobs[n::batch_count] for n in range(batch_count)]
        running = {threads.submit(_run, batch): len(batch) for batch in batches if batch}
        done = 0
        for future in as_completed(running):
            if error := future.result():
                raise BadInput(error)
            done += running[future]
            if watch is not None:
                watch(done, len(files))


def _run(jobs: Sequence[Job]) -> str:
    """Build tables in another process; return the sentence of an error."""
    process = subprocess.run(
        [sys.executable, "-P", "-c", START, str(Path(__file__).parents[2])],
        input=msgspec.json.encode(jobs),
        capture_output=True,
        env={**os.environ, **ONE_THREAD},
        check=False,
    )
    if process.returncode == 0:
        return process.stdout.decode()
    raise RuntimeError(f"A process that builds tables failed:\n{process.stderr.decode()}")
