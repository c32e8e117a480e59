"""Big stores: playing, then scoring, profiling and resuming, for the first time and again.

    python benchmarks/stores.py 20000             so many episodes of 20 rounds, in a new folder
    python benchmarks/stores.py 100000 --in DIR   in this folder, which stays

Each command is a process of its own; its processor seconds and its peak of memory are printed, and
how much sooner the second time is over, when the index beside the lines has the columns.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import msgspec

ROUNDS = 20


class Cost(msgspec.Struct, frozen=True):
    """What a command took."""

    seconds: float  # of processors, its workers' among them
    megabytes: float  # at most, in one process
    lines: int  # that it printed


# Two bots, many times: the cheapest episodes there are, so that reading weighs most.
STUDY = """
name = "big"
about = "many small episodes"

[[cells]]
name = "ipd"
repeats = {episodes}
instances = [{{ id = "ipd-{rounds}", game = "ipd", params = {{ rounds = {rounds} }} }}]
lineups = [{{ agent = {{ player = "random" }}, partner = {{ player = "tit_for_tat" }} }}]
"""


def cost(*command: str) -> Cost:
    """Run the command line in a process of its own."""
    with tempfile.TemporaryFile() as out:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "sally", *command],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)],
        )
        _, status, used = os.wait4(pid, 0)
        if status:
            sys.exit(f"sally {' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}.")
        out.seek(0)
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, out.read().count(b"\n"))


def measured(folder: Path, episodes: int) -> None:
    file, out = folder / "big.toml", str(folder / "out")
    file.write_text(STUDY.format(episodes=episodes, rounds=ROUNDS))
    print(f"{episodes:,} episodes of {ROUNDS} rounds; processor time, peak memory, lines printed")
    run = ("run", str(file), "--out", out)
    show("run, and its summary", cost(*run))
    for name in ("score", "profile"):
        first, again = cost(name, out), cost(name, out)
        show(f"{name}, the first time", first)
        show(f"{name}, again", again)
        print(f"  again / first {again.seconds / first.seconds:.2f}")
    show("run again: nothing is missing", cost(*run))
    lines = sum(path.stat().st_size for path in Path(out).glob("*.jsonl"))
    index = (Path(out) / "index.sqlite").stat().st_size if lines > 4e6 else 0
    print(f"index / lines {index / lines:.2f} ({lines / 1e6:.0f} MB of lines)")


def show(what: str, found: Cost) -> None:
    print(f"{what:32s} {found.seconds:8.1f} s {found.megabytes:7.0f} MB {found.lines:5d}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episodes", type=int)
    parser.add_argument("--in", dest="folder", type=Path)
    given = parser.parse_args()
    if given.folder is not None:
        given.folder.mkdir(parents=True, exist_ok=True)
        measured(given.folder, given.episodes)
        return
    with tempfile.TemporaryDirectory() as folder:
        measured(Path(folder), given.episodes)


if __name__ == "__main__":
    main()
