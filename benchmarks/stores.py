"""Big stores: what each command takes that reads one, for the first time and again.

    python -m benchmarks.stores 20000             so many episodes of 20 rounds, in a new folder
    python -m benchmarks.stores 100000 --in DIR   in this folder, which stays
    python -m benchmarks.stores 1000000 --copied  a thousand of them played (`copied.py`)
    python -m benchmarks.stores 1000000 --copied --only score --only profile    these commands alone
    python -m benchmarks.stores 20000 --paper     of a paper: 100 rounds, in a model's name, copied

Each command is a process of its own. Wall clock and processor seconds (those of its workers among
them), the peak of memory of one process, and the lines that it printed; the load says what else the
machine was doing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.copied import copy_out
from sally.core.registry.study import read_study
from sally.frames import cache

PAPER = "riemer2025"
COMMANDS = ("score", "profile", "score --crossplay", "report", "reproduce")
NOT_ITS_OWN = 2  # how `reproduce` ends where no episode is the paper's


def say(how_far: str) -> None:
    """On a terminal, one line that changes; a file would fill with it."""
    if sys.stdout.isatty():
        print(f"\r{how_far} ", end="", flush=True)


class Cost(msgspec.Struct, frozen=True):
    """What a command took."""

    wall: float
    seconds: float  # of processors, its workers' among them
    megabytes: float  # at most, in one process
    lines: int  # that it printed


# Two bots, many times: the cheapest episodes there are, so that reading weighs most.
BOTS = """
name = "big"
about = "many small episodes"

[[cells]]
name = "ipd"
repeats = {episodes}
instances = [{{ id = "ipd-20", game = "ipd", params = {{ rounds = 20 }} }}]
lineups = [{{ agent = {{ player = "random" }}, partner = {{ player = "tit_for_tat" }} }}]
"""
MODEL = """
name = "big"
about = "many episodes of a paper"

[[cells]]
name = "ipd"
repeats = {episodes}
instances = [{{ id = "ipd-J-F", game = "ipd", params = {{ rounds = 100, names = ["J", "F"] }} }}]

[[cells.lineups]]
agent = {{ player = "language", params = {{ model = "llama-3-70b-instruct", strategy = "cot" }} }}
partner = {{ player = "tit_for_tat", params = {{ first = 0 }} }}
"""


def cost(*command: str, may_end_with: int = 0) -> Cost:
    """Run the command line in a process of its own."""
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "sally", *command],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)],
        )
        _, status, used = os.wait4(pid, 0)
        wall = time.monotonic() - began
        if (code := os.waitstatus_to_exitcode(status)) not in (0, may_end_with):
            sys.exit(f"sally {' '.join(command)} ended with {code}.")
        out.seek(0)
        lines = out.read().count(b"\n")
        return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, lines)


def measure_commands(
    folder: Path, episodes: int, text: str, copied: bool, commands: Sequence[str]
) -> None:
    """Fill a folder, unless it was, and print what each command takes."""
    file, out = folder / "big.toml", folder / "out"
    file.write_text(text.format(episodes=episodes))
    print(f"{episodes:,} episodes; load {os.getloadavg()[0]:.1f}", flush=True)
    print(f"{'':32s} {'wall':>8s}   {'processor':>8s} {'peak':>9s}  lines")
    run = ("run", str(file), "--out", str(out))
    if copied and not out.exists():
        copy_out(read_study(file), out, say)
        print("written")
    elif not out.exists():
        show("run, and its summary", cost(*run, "--on", f"pool:{os.cpu_count()}"))
    command_options = {
        "report": ("--out", str(folder / "page.html")),
        "reproduce": ("--episodes", str(out)),
    }
    for name in commands:
        about = (PAPER,) if name == "reproduce" else (str(out),)
        for occasion in ("the first time", "again"):
            command_cost = cost(
                *name.split(), *about, *command_options.get(name, ()), may_end_with=NOT_ITS_OWN
            )
            show(f"{name}, {occasion}", command_cost)
    if commands == COMMANDS:
        show("run again: nothing is missing", cost(*run))
    lines = sum(path.stat().st_size for path in out.glob("*.jsonl"))
    size = sum(path.stat().st_size for path in cache.folder().rglob("*.parquet"))
    print(f"tables / lines {size / lines:.2f} ({lines / 1e6:.0f} MB of lines)")
    print(f"load {os.getloadavg()[0]:.1f}")


def show(title: str, command_cost: Cost) -> None:
    """One line of the table."""
    times = f"{command_cost.wall:8.1f} s {command_cost.seconds:8.1f} s"
    print(
        f"{title:32s} {times} {command_cost.megabytes:6.0f} MB {command_cost.lines:6d}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episodes", type=int)
    parser.add_argument("--in", dest="folder", type=Path)
    parser.add_argument("--copied", action="store_true")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--only", action="append", choices=COMMANDS)
    options = parser.parse_args()
    text, copied = MODEL if options.paper else BOTS, options.copied or options.paper
    commands = options.only or (("reproduce",) if options.paper else COMMANDS)
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        measure_commands(options.folder, options.episodes, text, copied, commands)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure_commands(Path(folder), options.episodes, text, copied, commands)


if __name__ == "__main__":
    main()
