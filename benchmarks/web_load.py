"""Two hundred people at once: how long an answer takes, and whether a move is lost or doubled.

A real server process, real HTTP over the loopback, scripted participants that think for two
seconds between a screen and an answer. Half of them play against a bot, half against each other,
invited. One answer in ten is sent twice at the same time, as a double click
does. Afterwards every acknowledged move is looked up in the database and in the stored episodes.

    python -m benchmarks.web_load [--people 200] [--rounds 12] [--on sqlite,postgresql] [--json]

Figures are printed, nothing is judged by a clock; a lost or doubled move ends with exit code 1.
Times follow whatever else the machine does; the server's processor time for each answer, with the
look at the screen that follows it, does so far less. A process that does nothing runs beside all
of this (`idler.py`): what it waits for, the machine adds to every answer, and what the scripted
people send late they wait for in their own process. Memory is what the server holds when
everybody has answered a third of the rounds, and when the last one has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import resource
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.idler import idler
from benchmarks.local_postgres import local_postgres
from benchmarks.web_client import Connection
from sally import store
from sally.core.log.events import Moved
from sally.web.database import Database

THINK = 2.0
ARRIVE = 100  # people sit down in a second
TWICE = 0.1  # of the answers are sent twice at once


@dataclass
class Figures:
    """What was measured, in seconds."""

    answers: list[float] = field(default_factory=list)
    screens: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)  # with which answers were sent
    refused: Counter[str] = field(default_factory=Counter)
    server_cpu: float = 0.0  # from when everybody had seen a first screen
    load_cpu: float = 0.0  # of the scripted people, from then on
    seconds: float = 0.0  # from then on
    answers_then: int = 0  # that had been given by then
    memory: list[float] = field(default_factory=list)  # in MB, after a third and in the end
    moves: dict[str, list[Any]] = field(default_factory=dict)  # hashed token -> what was played


class Participant:
    """Sits down, looks, thinks, answers, until the game is over."""

    def __init__(self, port: int, number: int, rounds: int, figures: Figures) -> None:
        self._draw = random.Random(number)
        self._web, self._other = Connection(port), Connection(port)
        self._number, self._rounds, self._figures = number, rounds, figures

    async def play(self, begin: float, invite: asyncio.Future[str] | None, invited: bool) -> None:
        """Play one game; with an invite, against the guest or the host."""
        await asyncio.sleep(begin)
        if invited and invite is not None:
            token = await self._take(await invite)
        else:
            others = {} if invite is None else {"partner": "person"}
            token, invites = await self._open(others)
            if invite is not None:
                invite.set_result(invites["partner"])
        moves = self._figures.moves.setdefault(sha256(token.encode()).hexdigest(), [])
        screen, lines, turn = None, 0, 0
        while screen is None or not screen["over"]:
            if screen is None or not screen["asks"]:
                screen = await self._look(token, screen, lines) or screen
            else:
                await self._think(THINK * self._draw.uniform(0.75, 1.25))
                (ask,) = screen["asks"]
                value = self._draw.choice(ask["options"])["value"]
                turn += 1
                screen = await self._answer(token, ask["id"], value, f"{turn}", lines)
                moves += [value] if screen is not None else []
            if screen is not None:
                lines = screen["lines_from"] + len(screen["lines"])
        self._web.close()
        self._other.close()

    async def _think(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        await asyncio.sleep(seconds)
        self._figures.late.append(time.perf_counter() - until)

    async def _look(self, token: str, last_screen: Any, lines: int) -> Any:
        """A first look, or news; none when it is refused."""
        since = f"&since={last_screen['version']}" if last_screen is not None else ""
        began = time.perf_counter()
        status, screen = await self._web.call("GET", f"/api/seat?lines={lines}{since}", token)
        if last_screen is None:  # later ones wait for news on purpose
            self._figures.screens.append(time.perf_counter() - began)
        if status == 200:
            return screen
        self._figures.refused[f"screen {status}"] += 1
        await asyncio.sleep(1)
        return None

    async def _take(self, invitation: str) -> str:
        """Take the seat of an invitation: it opens by a token of one's own from now on."""
        own_token = secrets.token_hex(24)
        status, reply = await self._web.call(
            "POST", "/api/seat/take", token=invitation, body={"token": own_token}
        )
        assert status == 200, reply
        return own_token

    async def _open(self, others: dict[str, str]) -> tuple[str, dict[str, str]]:
        params = {"rounds": self._rounds}
        wish = {"game": "rps", "params": params, "seat": "agent", "others": others}
        status, opened = await self._web.call("POST", "/api/tables", body=wish)
        assert status == 201, opened
        return opened["token"], opened["invites"]

    async def _answer(self, token: str, ask: str, value: Any, key: str, lines: int) -> Any:
        """What is seen when the answer has been taken; none when it was refused."""
        sent = {"ask": ask, "value": value, "key": key, "lines": lines}
        calls = [self._web] + [self._other] * (self._draw.random() < TWICE)
        began = time.perf_counter()
        done = await asyncio.gather(
            *(c.call("POST", "/api/seat/answer", token, sent) for c in calls)
        )
        self._figures.answers.append(time.perf_counter() - began)
        for status, reply in done:
            if status != 200:
                self._figures.refused[f"answer {status} {reply['error'][:40]}"] += 1
        screens = [reply["screen"] for status, reply in done if status == 200]
        return screens[0] if screens else None


@contextmanager
def server(database: str, folder: Path) -> Iterator[tuple[int, int]]:
    """A server's port and process; it is asked to stop in the end, and waited for."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "sally", "serve", "--port", str(port), "--rate", "100000"]
    command += ["--data", str(folder), *(["--database", database] if database else [])]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **quiet)  # type: ignore[call-overload]
    try:
        asyncio.run(_wait_until_up(port, process))
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


async def _wait_until_up(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            web = Connection(port)
            await web.call("GET", "/api/games")  # the first one builds every bot once
            web.close()
            return
        except OSError:
            await asyncio.sleep(0.1)
    raise RuntimeError("the server did not start")


def spent(process: int) -> float:
    """Processor seconds of a running process, all of its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process: int) -> float:
    """Megabytes of memory that a running process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def watch(process: int, figures: Figures, people: int, rounds: int) -> None:
    """Note when all play what the server has used, and what memory it holds on the way."""
    while len(figures.screens) < people:
        await asyncio.sleep(0.2)
    cpu_before, figures.answers_then = spent(process), len(figures.answers)
    own_cpu, began = cpu(resource.RUSAGE_SELF), time.perf_counter()
    try:
        while len(figures.answers) < people * rounds / 3:
            await asyncio.sleep(0.2)
        figures.memory.append(memory_of(process))
        await asyncio.sleep(math.inf)
    finally:
        figures.server_cpu = spent(process) - cpu_before
        figures.load_cpu = cpu(resource.RUSAGE_SELF) - own_cpu
        figures.seconds = time.perf_counter() - began
        figures.memory.append(memory_of(process))


async def crowd(port: int, process: int, people: int, rounds: int) -> Figures:
    """Let all players play at once; a hundred arrive per second."""
    figures, loop = Figures(), asyncio.get_running_loop()
    playing = []
    invite: asyncio.Future[str] | None = None
    for number in range(people):
        if number >= people // 2 and (number - people // 2) % 2 == 0:
            invite = loop.create_future() if number + 1 < people else None
        participant = Participant(port, number, rounds, figures)
        invited = number > people // 2 and (number - people // 2) % 2 == 1
        playing.append(participant.play(number / ARRIVE, invite, invited))
    watching = asyncio.create_task(watch(process, figures, people, rounds))
    await asyncio.gather(*playing)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    return figures


def lost_and_doubled(figures: Figures, database: str, folder: Path) -> dict[str, int]:
    """Acknowledged moves against what the database and the store hold."""
    records = Database(database or str(folder / "database.sqlite"))
    records.open()
    try:
        seats, entries = asyncio.run(_rows(records))
    finally:
        records.close()
    played: dict[tuple[str, str], list[Any]] = {}
    for match, seat, text in entries:
        entry = json.loads(text)
        if entry["what"] == "move":
            played.setdefault((match, seat), []).append((entry["ask"][0], entry["action"]))
    n_lost = doubled = n_different = 0
    for token, match, seat in seats:
        acknowledged, actions = figures.moves[token], played.get((match, seat), [])
        turns = Counter(turn for turn, _ in actions)
        doubled += sum(n - 1 for n in turns.values())
        n_lost += max(0, len(acknowledged) - len(actions))
        n_different += [action for _, action in actions] != acknowledged
    stored = store.load(folder / "episodes")
    moves = sum(isinstance(e, Moved) for ep in stored.episodes.values() for e in ep.events)
    return {
        "acknowledged": sum(map(len, figures.moves.values())),
        "lost": n_lost,
        "doubled": doubled,
        "otherwise": n_different,
        "episodes": len(stored.episodes),
        "episodes doubled": stored.doubled,
        "moves in episodes": moves,
    }


async def _rows(database: Database) -> tuple[list[Any], list[Any]]:
    return await database.run(
        lambda tx: (
            tx.all("SELECT token, match, seat FROM seats"),
            tx.all("SELECT match, seat, entry FROM answers ORDER BY match, n"),
        )
    )


def cpu(whose: int) -> float:
    """Processor time used so far, which other work on the machine does not stretch."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def share_costs(figures: Figures) -> dict[str, float]:
    """What an answer costs the server and the load, and how busy each of them was.

    Whoever is busy for nearly all of the time is what everybody waits for; both share the cores.
    """
    answers = len(figures.answers) - figures.answers_then
    cpu_by_process = {"server": figures.server_cpu, "load": figures.load_cpu}
    costs = {
        f"{process} cpu ms an answer": round(1000 * s / answers, 2)
        for process, s in cpu_by_process.items()
    }
    busy = {
        f"{process} busy": round(s / figures.seconds, 2) for process, s in cpu_by_process.items()
    }
    return {**costs, **busy}


def milliseconds(values: list[float], share: float) -> float:
    """A quantile of times."""
    return round(1000 * sorted(values)[min(len(values) - 1, int(share * len(values)))], 1)


def measure(kind: str, people: int, rounds: int, database: str = "") -> dict[str, Any]:
    """One run on one kind of database."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        children = cpu(resource.RUSAGE_CHILDREN)
        with server(database, folder) as (port, process), idler() as machine:
            began = time.perf_counter()
            figures = uvloop.run(crowd(port, process, people, rounds))
            seconds = time.perf_counter() - began
        children = cpu(resource.RUSAGE_CHILDREN) - children
        counts = lost_and_doubled(figures, database, folder)
    shares = {"p50 ms": 0.5, "p95 ms": 0.95, "p99 ms": 0.99, "worst ms": 1.0}
    return {
        "database": kind,
        "people": people,
        "seconds": round(seconds, 1),
        "answers": len(figures.answers),
        **{name: milliseconds(figures.answers, share) for name, share in shares.items()},
        "first screen p95 ms": milliseconds(figures.screens, 0.95),
        "sent late p95 ms": milliseconds(figures.late, 0.95),
        **machine,
        "server cpu s": round(children, 1),  # its start included
        **share_costs(figures),
        "server memory MB": [round(megabytes) for megabytes in figures.memory],
        **counts,
        "refused": dict(figures.refused),
        "connections reopened": Connection.reopened,
    }


def main() -> None:
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("--people", type=int, default=200)
    parse.add_argument("--rounds", type=int, default=12)
    parse.add_argument("--on", default="sqlite,postgresql")
    parse.add_argument("--json", action="store_true")
    options = parse.parse_args()
    results = []
    for kind in options.on.split(","):
        if kind == "postgresql":
            with local_postgres() as address:
                results.append(measure(kind, options.people, options.rounds, address))
        else:
            results.append(measure(kind, options.people, options.rounds))
    load = os.getloadavg()[0]
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "load": load, "runs": results}, indent=2))
    else:
        print(f"{os.cpu_count()} cores for server and load, load average {load:.1f} in the end")
        for result in results:
            print(*(f"{name:>20}  {value}" for name, value in result.items()), sep="\n")
            print()
    sys.exit(any(r["lost"] or r["doubled"] or r["otherwise"] for r in results))


if __name__ == "__main__":
    main()
