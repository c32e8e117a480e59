"""`sally evaluate` over HTTP with a server that fails, stopped once and resumed.

    python -m benchmarks.evaluate_faults --out out/faulty [--stop 60]

The server answers one call in ten with 429, 500 or a ramble, as in `benchmarks.hostile.servers`.
Each run of the command is a process of its own; the first one is stopped with Ctrl-C.
Printed are exit codes, calls at the server, episodes, and what the replay says.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock

from sally import store
from sally.runner.check import check
from tests.adapters.inspect.server import RAMBLE, Fault, Handler, choose_option, serving


def unsteady(seed: int) -> Fault:
    """Answer most calls with one of the options on the page, some with 429, 500 or a ramble."""
    luck, lock = random.Random(seed), Lock()

    def say(handler: Handler) -> None:
        with lock:
            fault_chance, option_chance = luck.random(), luck.random()
        if fault_chance < 0.03:
            handler.send(429, b'{"error": {"message": "slow down"}}', {"retry-after": "0.05"})
        elif fault_chance < 0.06:
            handler.send(500, b'{"error": {"message": "oops"}}')
        elif fault_chance < 0.10:
            handler.say(RAMBLE)
        else:
            handler.say(choose_option(str(handler.asked["messages"][-1]["content"]), option_chance))

    return say


def count_stored(out: Path) -> int:
    """Return how many lines the files of a store have."""
    files = [file for file in out.glob("*") if file.suffix in (".jsonl", ".open")]
    return sum(file.read_bytes().count(b"\n") for file in files)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", default="S")
    parser.add_argument("--stop", type=int, default=60, help="episodes before Ctrl-C")
    options = parser.parse_args()
    # a shell starts background jobs deaf to Ctrl-C, and children inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with serving(always=unsteady(5)) as server:
        config = options.out.parent / "faulty.toml"
        config.write_text(
            f'[models.faulty]\nname = "openai-api/lab/faulty"\nbase_url = "{server.address}"\n'
            'api_key_env = "LAB_KEY"\nat_once = 32\n[limits]\nfirst_wait = 0.05\n'
        )
        command = [sys.executable, "-m", "sally", "evaluate", "--model", "faulty", "--size",
                   options.size, "--config", str(config), "--out", str(options.out)]  # fmt: skip
        for stop in (options.stop, None):
            began = time.monotonic()
            run = subprocess.Popen(command, env={**os.environ, "LAB_KEY": "abcdefgh"})
            while run.poll() is None and (stop is None or count_stored(options.out) < stop):
                time.sleep(0.5)
            if run.poll() is None:
                run.send_signal(signal.SIGINT)
                run.wait()
            summary = store.survey(options.out)
            print(f"exit {run.returncode} after {time.monotonic() - began:.0f} s, "
                  f"{server.calls:,} calls at the server, {summary.episodes} episodes",
                  flush=True)  # fmt: skip
    checked = check(store.load(options.out).episodes.values())
    print(checked)


if __name__ == "__main__":
    main()
