"""Processor time of a start: what commands and workers take that do next to nothing, the median.

    python benchmarks/start.py [TEXT...]    all lines, or those that contain a text

Aims: 0.3 s for `sally --help`, 0.5 s for `sally list games`, 0.3 s for a worker of a pool until it
has played its first episode. A bare `python -c pass` is printed too, because it is part of them
all. Bytecode is kept in a folder of the benchmark's own, as an installed package has it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import msgspec

from sally import store
from sally.adapters.executors.pool import START
from sally.api.studies import find_study
from sally.runner.local import manifest, orders
from sally.runner.sharding import cuts_of
from sally.runner.shards import Job, Shard

TIMES = 7
LIBRARIES = "python -c import numpy, polars, scipy, click, msgspec, rich.table"
AIMS: Mapping[str, float | None] = {
    "python -c pass": None,
    "sally --help": 0.3,
    "sally list games": 0.5,
    "sally play ipd": None,
    "sally run quickstart --limit 1 --out STORE": None,
    "python -m sally.adapters.inspect.run": None,  # what any model of a provider needs
    "sally score STORE": None,
    "sally show STORE": None,
    "sally replay STORE": None,
    "sally plan quickstart": None,
    "sally run quickstart --out SMALL": None,
    "sally score SMALL": None,
    LIBRARIES: None,  # what of it is no code of Sally
    "worker": 0.3,
}


def seconds(command: list[str], input_bytes: bytes, bytecode_folder: str) -> float:
    """Processor time of one run of a command, in this process's children."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode_folder}
    usage_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(input_bytes)
        process.stdin.flush()
        if input_bytes:
            process.stdout.readline()  # a worker goes when its input ends, even in mid-episode
        process.communicate()
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        usage_after.ru_utime - usage_before.ru_utime + usage_after.ru_stime - usage_before.ru_stime
    )


def command(line: str, folder: Path) -> list[str]:
    """What is called for a line above; stores lie in the folder."""
    if line == "worker":
        return [sys.executable, "-P", "-c", START, str(Path(store.__file__).parents[2])]
    if line == LIBRARIES:
        return [sys.executable, *line.split(maxsplit=2)[1:]]
    words = [str(folder / word) if word.isupper() else word for word in line.split()]
    return [sys.executable, *(words[1:] if words[0] == "python" else ["-m", *words])]


def for_a_worker(folder: Path) -> bytes:
    """The lines that a worker reads: a job, and a shard of one episode of two bots."""
    study = find_study("quickstart")
    store.claim(folder / "WORKED", manifest(study))
    planned = orders(study, 1)
    cut = next(cuts_of(planned))
    shard = Shard(cut.name, planned.pack(cut.numbers))
    job = Job(study.name, str(folder / "WORKED"))
    return b"\n".join((msgspec.json.encode(job), msgspec.json.encode(shard), b""))


def main() -> None:
    with tempfile.TemporaryDirectory() as bytecode_folder, tempfile.TemporaryDirectory() as folder:
        shard = for_a_worker(Path(folder))
        texts = sys.argv[1:] or [""]
        for line, aim in AIMS.items():
            if not any(text in line for text in texts):
                continue
            called, input_bytes = command(line, Path(folder)), shard if line == "worker" else b""
            seconds(
                called, input_bytes, bytecode_folder
            )  # once unmeasured: it writes the bytecode, and the store
            took = median(seconds(called, input_bytes, bytecode_folder) for _ in range(TIMES))
            print(f"{line:44} {took:.2f} s" + (f" (aim {aim} s)" if aim else ""))


if __name__ == "__main__":
    main()
