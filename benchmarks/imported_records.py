"""A table of published records: games, processor time, memory, refusals, a second import, replay.

    python -m benchmarks.imported_records FOLDER [NAME...]

FOLDER has a checkout of each record, or a store imported from it, under the importer's name. A
checkout is imported into a temporary store, imported again, and replayed; a store is only replayed.
Each command runs in its own process; Linux counts the memory of the process that starts it too, so
this one imports little. The exit status is 1 if a second import adds anything or a
replay has a mismatch.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from sally.store import MANIFEST

NAMES = ("pact", "step_game", "zhu2024", "hcss2025", "eger2017", "akata2025", "gamabench",
         "alsobay2025", "brockbank2024")  # fmt: skip
HEADINGS = ("record", "command", "episodes", "processor s", "MB", "result")


class CommandResult(NamedTuple):
    """What a command printed as JSON, and what it took."""

    output: dict[str, Any]
    seconds: float  # of processor time
    megabytes: float  # at most


def run_command(*arguments: str) -> CommandResult:
    """Run a command of Sally in its own process.

    Raises:
        SystemExit: The command failed.
    """
    with tempfile.TemporaryFile() as stdout:
        command = [sys.executable, "-m", "sally", *arguments, "--json"]
        process = subprocess.Popen(command, stdout=stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}.")
        stdout.seek(0)
        return CommandResult(
            json.loads(stdout.read()), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        )


def print_row(name: str, command: str, episodes: int, done: CommandResult, result: str) -> None:
    """Print a row of the table."""
    print(f"| {name} | {command} | {episodes:,} | {done.seconds:.1f} | {done.megabytes:.0f} | "
          f"{result} |", flush=True)  # fmt: skip


def refusals(output: dict[str, Any]) -> str:
    """Return what was not stored, by reason."""
    reasons = Counter(oddity["why"] for oddity in output.get("oddities", ())
                      if oddity["what"] == "not imported")  # fmt: skip
    if copies := output.get("copies", ()):
        reasons["on record twice"] = len(copies)
    return (
        "; ".join(f"{count} refused: {reason}" for reason, count in reasons.items()) or "0 refused"
    )


def measure_record(name: str, path: Path, folder: Path) -> int:
    """Print the rows of a record and return the number of failures."""
    failures = 0
    if not (path / MANIFEST).exists():
        place = str(folder / name)
        first = run_command("import", name, str(path), "--out", place)
        stored = first.output["counts"]["stored"]
        print_row(name, "import", stored, first, refusals(first.output))
        second = run_command("import", name, str(path), "--out", place)
        added = second.output["counts"]["stored"]
        print_row(name, "import again", second.output["counts"]["already there"], second,
                  f"{added} added")  # fmt: skip
        failures += added
        path = Path(place)
    replay = run_command("replay", str(path))
    mismatches = len(replay.output["mismatches"])
    print_row(name, "replay", replay.output["replayed"], replay,
              f"{mismatches} mismatches of {replay.output['episodes']:,} episodes")  # fmt: skip
    return failures + mismatches


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    options = parser.parse_args()
    if unknown_names := set(options.names) - set(NAMES):
        parser.error(f"no such record: {', '.join(sorted(unknown_names))}")
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}", flush=True)
    failures = 0
    for name in options.names or NAMES:
        if not (options.folder / name).exists():
            print(f"| {name} | not there | | | | |")
            continue
        with tempfile.TemporaryDirectory() as folder:
            failures += measure_record(name, options.folder / name, Path(folder))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
