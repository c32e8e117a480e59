"""Processor time of a start: `sally --help` and `sally list games`, the median of several.

Aims: 0.3 s and 0.5 s. A bare `python -c pass` is printed too, because it is part of both.
Bytecode is kept in a folder of the benchmark's own, as an installed package has it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from statistics import median

TIMES = 7
AIMS = {"python -c pass": None, "sally --help": 0.3, "sally list games": 0.5}


def seconds(command: list[str], kept: str) -> float:
    """Processor time of one run of a command, in this process's children."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": kept}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as kept:
        for line, aim in AIMS.items():
            words = line.split()
            rest = words[1:] if words[0] == "python" else ["-m", *words]
            seconds([sys.executable, *rest], kept)  # once unmeasured: it writes the bytecode
            took = median(seconds([sys.executable, *rest], kept) for _ in range(TIMES))
            print(f"{line:18} {took:.2f} s" + (f" (aim {aim} s)" if aim else ""))


if __name__ == "__main__":
    main()
