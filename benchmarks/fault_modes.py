"""`sally evaluate` with a server in each of eleven modes: exit code, lines and first sentence.

    python -m benchmarks.fault_modes [--transport inspect] [--mode 401 ...] [--show] [OPTION ...]

Each mode is one run of the command in a process of its own, in an empty folder, against a server
on this machine; waits after failures are shortened. Printed is the table of
docs/discussion/testing.md. Other options are passed to `sally evaluate`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.adapters.inspect.server import MODES, Server, serving

TRANSPORTS = ("server", "inspect")
HEAD = "| mode | exit code | lines | calls | first sentence |\n|---|---|---|---|---|"


class FaultRow(msgspec.Struct, frozen=True):
    """What a user sees of one run of the command."""

    mode: str
    exit_code: int
    output: str  # standard output
    errors: str  # standard error
    calls: int  # at the server

    @property
    def lines(self) -> int:
        """Lines on the screen."""
        return len(self.output.splitlines()) + len(self.errors.splitlines())

    @property
    def first_sentence(self) -> str:
        """The first line of the result or, without a result, of the error message."""
        errors = [line for line in self.errors.splitlines() if line.startswith("sally: ")]
        first_line = (errors + self.output.splitlines() + [""])[0]
        return first_line.removeprefix("sally: ").partition(" The run was stopped.")[0]

    def __str__(self) -> str:
        cells = (self.mode, self.exit_code, self.lines, f"{self.calls:,}", self.first_sentence)
        return f"| {' | '.join(map(str, cells))} |"


def config_for(server: Server, transport: str) -> str:
    """Return a `sally.toml` with the server as the model `faulty`."""
    return (
        f'[models.faulty]\nname = "openai-api/lab/faulty"\nbase_url = "{server.address}"\n'
        f'api_key_env = "LAB_KEY"\nat_once = 8\ntransport = "{transport}"\n'
        "[limits]\nfirst_wait = 0.01\n"
        "[prices]\ndate = 2026-11-18\n[prices.per_million]\n"
        '"openai-api/lab/faulty" = { input = 1.0, output = 4.0 }\n'
    )


def walk(mode: str, transport: str, options: Sequence[str], folder: Path) -> FaultRow:
    """Run the command against a server in one mode; return what a user sees."""
    with serving(always=MODES[mode]) as server:
        (folder / "sally.toml").write_text(config_for(server, transport))
        command = [sys.executable, "-m", "sally", "evaluate", "--model", "faulty", *options]
        environment = {**os.environ, "LAB_KEY": "k"}
        run = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        errors = run.stderr.replace(server.address, "http://localhost:8000/v1")
        return FaultRow(mode, run.returncode, run.stdout, errors, server.calls)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--transport", choices=TRANSPORTS, default="server")
    parser.add_argument("--show", action="store_true", help="Also print the whole output.")
    chosen, options = parser.parse_known_args()
    print(HEAD, flush=True)
    for mode in chosen.mode or MODES:
        with tempfile.TemporaryDirectory() as folder:
            row = walk(mode, chosen.transport, options, Path(folder))
        print(row, flush=True)
        if chosen.show:
            print(row.output, row.errors, sep="\n", flush=True)


if __name__ == "__main__":
    main()
