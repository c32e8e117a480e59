"""Studies over HTTP with a server that fails: one command each, stopped, resumed, nothing lost.

    python -m benchmarks.hostile.servers --limit 1

For each of kang2026, moore2025 and controls: the command is run against a server that answers some
calls with 429 or 500 and rambles in others, and is stopped with Ctrl-C; then against an address
where no server is; then again until it is through. Each run is a process of its own. Counted are
exit codes, lines on the screen, and episodes that are missing, doubled or changed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Lock

from sally import store
from sally.core.log.events import to_line
from sally.runner.progress import look
from tests.adapters.inspect.server import Fault, Handler, serving

STUDIES = ("kang2026", "moore2025", "controls")
SCREEN = 50  # lines of a terminal
RAMBLE = "Well, on the one hand this, on the other hand that. " * 2000
NAMES = re.compile(r"(?:one of|either|from) ([A-Z0-9][\w-]*)(?:, | or )")


def unsteady(seed: int) -> Fault:
    """Answer most calls, some with 429, 500 or a ramble."""
    luck, lock = random.Random(seed), Lock()

    def say(handler: Handler) -> None:
        with lock:
            chance = luck.random()
        if chance < 0.05:
            handler.send(429, b'{"error": {"message": "slow down"}}', {"retry-after": "0.05"})
        elif chance < 0.10:
            handler.send(500, b'{"error": {"message": "oops"}}')
        elif chance < 0.15:
            handler.say(RAMBLE)
        else:
            handler.say(answer(str(handler.asked["messages"][-1]["content"])))

    return say


def answer(page: str) -> str:
    """Return an answer in the label that the page names last, or a short text."""
    labels = re.findall(r"`(\w+): <", page)
    names = NAMES.findall(page)
    return f"{labels[-1] if labels else 'Answer'}: {names[-1] if names else '1'}"


def command(study: str, folder: Path, *arguments: str) -> list[str]:
    return [
        *(sys.executable, "-m", "sally", "run", study, "--model", "weak"),
        *("--config", str(folder / "sally.toml"), "--out", str(folder / study), *arguments),
    ]


def write_config(folder: Path, address: str) -> None:
    (folder / "sally.toml").write_text(
        f'[models.weak]\nname = "openai-api/lab/weak"\nbase_url = "{address}"\n'
        'api_key_env = "LAB_KEY"\n[limits]\nfirst_wait = 0.01\n'
    )


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def lines_of(out: Path) -> dict[str, bytes]:
    stored = store.load(out)
    return {id: to_line(e) for id, e in stored.episodes.items() if id in stored.finished_ids}


def campaign(study: str, folder: Path, arguments: list[str], seed: int) -> dict[str, object]:
    """Stop, starve and finish one study; return what was counted."""
    out, command_line = folder / study, command(study, folder, *arguments)
    env = {**os.environ, "LAB_KEY": "lab-0123456789abcdef"}
    codes: dict[str, int] = {}
    with serving(always=unsteady(seed), latency=0.2) as server:
        write_config(folder, server.address)
        first = subprocess.Popen(
            command_line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while first.poll() is None and len(_finished_ids(out)) < 3:
            time.sleep(0.2)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=120)
        codes["stopped"] = first.returncode
        lines_before = lines_of(out)
        write_config(folder, f"http://127.0.0.1:{closed_port()}/v1")
        dead = subprocess.run(command_line, env=env, capture_output=True, text=True, timeout=300)
        codes["dead server"] = dead.returncode
        planned = subprocess.run(
            [*command_line[:3], "plan", *command_line[4:], "--json"],
            env=env,
            capture_output=True,
            timeout=300,
        )
        n_stored = json.loads(planned.stdout)["there"]
        agree = look(out).done == n_stored
        write_config(folder, server.address)
        for _ in range(5):
            resumed = subprocess.run(
                command_line, env=env, capture_output=True, text=True, timeout=580
            )
            codes["finished"] = resumed.returncode
            if resumed.returncode != 3:
                break
    summary, lines_after = store.survey(out), lines_of(out)
    screen_lines = [*resumed.stdout.splitlines(), *resumed.stderr.splitlines()]
    return {
        "study": study,
        "episodes": summary.episodes,
        "exit codes": codes,
        "lines on the screen": max(len(screen_lines), len(dead.stdout.splitlines())),
        "fits a screen": len(screen_lines) <= SCREEN,
        "tracebacks": sum("Traceback" in text for text in (resumed.stderr, dead.stderr)),
        "watch agrees with plan": agree,
        "stored before the stop": len(lines_before),
        "lost": len(lines_before.keys() - lines_after.keys()),
        "changed": sum(lines_after.get(id) != line for id, line in lines_before.items()),
        "doubled": summary.doubled,
        "cut": len(summary.cut),
        "void": len(summary.blank),
        "calls": server.calls,
    }


def _finished_ids(out: Path) -> set[str]:
    return set(store.survey(out).finished) if (out / store.MANIFEST).exists() else set()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--limit", type=int, default=1, help="episodes of each cell")
    options.add_argument("--study", choices=sorted(STUDIES), action="append")
    options.add_argument("--seed", type=int, default=36)
    chosen = options.parse_args()
    # a shell starts background jobs with SIGINT ignored, and the runs would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in chosen.study or STUDIES:
        with tempfile.TemporaryDirectory() as place:
            size = ["--limit", str(chosen.limit)]
            print(campaign(name, Path(place), size, chosen.seed), flush=True)
