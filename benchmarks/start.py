"""Processor time of a start: `sally --help` and `sally list games`, the median of several.

Aims: 0.3 s and 0.5 s. A bare `python -c pass` is printed too, because it is part of both.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from statistics import median

TIMES = 7
AIMS = {"python -c pass": None, "sally --help": 0.3, "sally list games": 0.5}


def seconds(command: list[str]) -> float:
    """Processor time of one run of a command, in this process's children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    for line, aim in AIMS.items():
        words = line.split()
        rest = words[1:] if words[0] == "python" else ["-m", *words]
        seconds([sys.executable, *rest])  # once unmeasured: it writes bytecode where it may
        took = median(seconds([sys.executable, *rest]) for _ in range(TIMES))
        print(f"{line:18} {took:.2f} s" + (f" (aim {aim} s)" if aim else ""))


if __name__ == "__main__":
    main()
