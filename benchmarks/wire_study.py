"""Whole studies against a server on this machine that answers at once: time and memory.

    python -m benchmarks.wire_study riemer2025 --limit 1 --without lm --without social_lm
    python -m benchmarks.wire_study ipd --episodes 20000 --on pool:2

The second form plays as many episodes of one round. The server is a process of its own; it answers
with an option of the page. Printed are calls, seconds, processor time of the run with its workers,
and the memory of all its processes after each tenth of the episodes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.wire import ANSWER, Instant
from sally.runner.progress import look

STUDY = """
name = "many"
about = "as many short episodes"
[[cells]]
name = "all"
instances = [{{id = "short", game = "{game}", params = {{rounds = 1}}}}]
repeats = {repeats}
lineups = [{{agent = {{player = "language", params = {{}}}}, partner = {{player = "random"}}}}]
"""
PAGE = 4096  # bytes of memory
FORM = re.compile(r"^(\w[\w ]*): <([^,>]+?)(?: or [^>]*|, [^>]*)?>", re.M)  # `Option: <J or F>`


def answer(page: str) -> str:
    """Return the first option in every form that the page asks for."""
    forms = FORM.findall(page.rpartition("Answer with")[2])
    return "\n".join(f"{label}: {name}" for label, name in forms) or "Answer: 1"


class Answering(Instant):
    """Answers with an option of the page."""

    calls = 0

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._read[:end]).lower()
            position = head.find(b"content-length:")
            length = int(head[position + 15 :].split(b"\r\n")[0])
            if len(self._read) < end + 4 + length:
                return
            request = json.loads(self._read[end + 4 : end + 4 + length])
            del self._read[: end + 4 + length]
            Answering.calls += 1
            message = {"role": "assistant", "content": answer(request["messages"][-1]["content"])}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({**ANSWER, "choices": [choice]}).encode()
            start = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            self._out.write(start.encode() + body)  # type: ignore[attr-defined]


def serve(results: multiprocessing.Queue[int], calls: multiprocessing.Queue[int]) -> None:
    """Answer until the queue of calls is asked for, by an item in it."""

    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=2048)
        results.put(server.sockets[0].getsockname()[1])
        await loop.run_in_executor(None, calls.get)
        results.put(Answering.calls)

    asyncio.run(forever())


def memory(pid: int) -> int:
    """Return the bytes that a process and its children hold."""
    try:
        own_bytes = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return own_bytes + sum(memory(int(child)) for child in children)


def measure(study: str, episodes: int | None, arguments: list[str]) -> None:
    results: multiprocessing.Queue[int] = multiprocessing.Queue()
    calls: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(results, calls), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        address = f"http://127.0.0.1:{results.get()}/v1"
        (folder / "sally.toml").write_text(
            f'[models.near]\nname = "server/near"\nbase_url = "{address}"\nat_once = 200\n'
        )
        if episodes is not None:
            (folder / "many.toml").write_text(STUDY.format(game=study, repeats=episodes))
            study = "many.toml"
        command = [sys.executable, "-m", "sally", "run", study, "--model", "near", "--out", "out"]
        root = str(Path(__file__).resolve().parent.parent)
        begun, usage_before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.Popen(
            [*command, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": root}
        )
        printed_tenths = 0
        while run.poll() is None:
            time.sleep(1 if episodes is None else 5)
            if (folder / "out").exists():
                now = look(folder / "out")
                tenth = 10 * now.done // max(now.wanted or 1, 1)
                if tenth > printed_tenths:
                    printed_tenths = tenth
                    mib = memory(run.pid) / 2**20
                    print(f"{now.done} episodes: {mib:.0f} MiB", flush=True)
        seconds, usage_after = (
            time.perf_counter() - begun,
            resource.getrusage(resource.RUSAGE_CHILDREN),
        )
        calls.put(0)
        n_calls = results.get()
        busy = (
            usage_after.ru_utime
            + usage_after.ru_stime
            - usage_before.ru_utime
            - usage_before.ru_stime
        )
        load = os.getloadavg()[1]
        print(
            f"exit code {run.returncode}; {n_calls:,} calls in {seconds:.0f} s, "
            f"{busy:.0f} s of processor time, {1000 * busy / max(n_calls, 1):.2f} ms a call; "
            f"load of the machine {load:.0f} on {os.cpu_count()} cores"
        )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("study", help="a study, or a game with --episodes")
    options.add_argument("--episodes", type=int)
    chosen, other_arguments = options.parse_known_args()
    measure(chosen.study, chosen.episodes, other_arguments)
