"""A whole study with drop-outs, late answers, withdrawals and a killed server, checked in the end.

`python -m benchmarks.people_campaign` runs 60 pairs and 60 single players in four conditions
against `sally serve` in a process of its own, kills that process with SIGKILL and starts it again.
Scripted participants use the study's own pages over HTTP. New ones arrive until the study is full.
Then it checks:

- every payment, recomputed from the points that the participant's own screens have shown;
- every payment of a finished episode once more, from the moves in the exported episodes;
- conditions: equally many single players, and equally many pairs, within one;
- pairs: nobody played with two partners, and no two members are in different conditions;
- nothing lost: every acknowledged move of a participant who stayed is in the export.

`--postgres` uses a PostgreSQL server of its own; `--pairs` and `--singles` set the size, `--kills`
how often the server is killed.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import json
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from benchmarks.local_postgres import local_postgres
from sally.core.log.events import Episode, Moved, from_line
from sally.core.registry import registry
from sally.web.rehearsal import Browser, ScriptedParticipant
from sally.web.study.definition import HumanStudy, read_human_study

SECRET = "the secret of this campaign"
WON = re.compile(r"You won (-?[\d.]+) points")
LATE = 10.0  # seconds for an answer
STUDY = """
name = "campaign"
title = "Campaign"
participants = {people}
option_order = "balanced"
instructions = ["One page."]
[consent]
text = "Consent."
[[instances]]
id = "ipd-3"
game = "ipd"
params = {{ rounds = 3 }}
[[instances]]
id = "ibs-3"
game = "ibs"
params = {{ rounds = 3 }}
[[conditions]]
name = "single, asked"
people = ["agent"]
others = {{ partner = {{ player = "tit_for_tat" }} }}
arms = {{ agent = ["their_move"] }}
wanted = {singles}
[[conditions]]
name = "single"
people = ["agent"]
others = {{ partner = {{ player = "tit_for_tat" }} }}
wanted = {singles}
[[conditions]]
name = "pair, asked"
people = ["agent", "partner"]
arms = {{ agent = ["their_move"] }}
wanted = {paired}
[[conditions]]
name = "pair"
people = ["agent", "partner"]
wanted = {paired}
[bonus]
base = 1.00
per_point = 0.01
most = 1.60
partner_left = 0.25
currency = "EUR"
[platform]
participant = "PROLIFIC_PID"
[limits]
idle_minutes = 0.6
answer_seconds = {late}
pair_minutes = 0.5
"""


@dataclass
class OverHttp(Browser):
    """A browser that speaks to a server process, and waits while it is down."""

    client: Any = None
    base_url: str = ""

    async def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        request_headers = {
            **(headers or {}),
            "cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()),
        }
        for _ in range(600):
            try:
                reply = await self.client.request(
                    method, self.base_url + path, content=body, headers=request_headers
                )
                break
            except httpx.TransportError:
                await asyncio.sleep(0.1)
        else:
            raise AssertionError("the server did not come back")
        for name, value in reply.headers.multi_items():
            if name == "set-cookie":
                key, _, cookie = value.partition("=")
                self.cookies[key] = cookie.partition(";")[0]
        if reply.status_code == 303:
            return await self.send("GET", reply.headers["location"])
        if reply.status_code >= 500:
            self.faults.append(f"{reply.status_code} for {method} {path}")
        return reply.status_code, reply.content


@dataclass
class Person(ScriptedParticipant):
    """A scripted participant who may leave, be late or withdraw, and keeps what was seen."""

    fate: str = "stays"  # or: leaves, is late, withdraws
    fate_at: int = 99  # the action at which it happens
    acts: int = 0
    points: dict[str, Decimal] = field(default_factory=dict)  # by seat token
    acknowledged: dict[str, int] = field(default_factory=Counter)  # moves by seat token
    gone: bool = False
    asleep: float = 0.0  # until when a late person does nothing

    async def enter_study(self) -> bool:
        """Open the link and consent; return False if the study is full."""
        await self.browser.get(f"{self.address}?PROLIFIC_PID={self.name}")
        token = self.browser.field("token")
        if not token:
            return False
        sent = {"token": token, "given": self.name, "agree": "yes"}
        await self.browser.post(f"{self.address}/consent", **sent)
        return "is full" not in self.browser.text

    async def act(self, others: list[Person]) -> None:
        """Do one thing: a page, or all answers that are wanted now."""
        if time.monotonic() < self.asleep:
            return
        self.acts += 1
        if self.acts == self.fate_at and self.fate == "leaves":
            self.gone = True
            return
        if self.acts >= self.fate_at and self.fate == "withdraws":
            for other_person in others:
                await other_person.look()  # what is deleted with this person's games is seen first
            await self.browser.get(f"{self.address}/withdraw")
            token = self.browser.field("token")
            if token:
                await self.browser.post(f"{self.address}/withdraw", token=token)
                self.gone = True
                return
        self.gone = not await self.step()

    async def look(self) -> None:
        """Read the screens of one's own games for the points so far."""
        for token in list(self.points):
            status, screen = await self.browser.api("/api/seat", token)
            if status == 200:
                won = WON.findall("\n".join(screen["lines"]))
                self.points[token] = sum(map(Decimal, won), Decimal(0))

    async def play(self, token: str) -> None:
        """Answer what is wanted; once, a late person lets the time run out."""
        self.points.setdefault(token, Decimal(0))
        for n in range(50):
            status, screen = await self.browser.api("/api/seat", token)
            if status != 200:
                return
            won = WON.findall("\n".join(screen["lines"]))
            self.points[token] = sum(map(Decimal, won), Decimal(0))
            if screen["over"] or not screen["asks"]:
                return
            if self.fate == "is late" and self.acts >= self.fate_at:
                self.fate, self.asleep = "was late", time.monotonic() + LATE + 3
                return
            ask = screen["asks"][0]
            value = self.draw.choice(ask["items"] or ask["options"])["value"]
            sent = {"ask": ask["id"], "value": value, "key": f"{self.acts}-{n}"}
            status, _ = await self.browser.api("/api/seat/answer", token, sent)
            self.acknowledged[token] += status == 200 and ask["kind"] == "move"


class Server:
    """`sally serve` in a process of its own."""

    def __init__(self, study: Path, data: Path, database: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = ("--port", str(self.port), "--data", str(data), "--study", str(study))
        database_options = ("--database", database) if database else ()
        self.command = [
            sys.executable,
            "-m",
            "sally",
            "serve",
            *options,
            *database_options,
            "--rate",
            "100000",
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        import os

        environment = {**os.environ, "SALLY_EXPERIMENTER_SECRET": SECRET}
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, env=environment)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("the server did not start") from None
                time.sleep(0.1)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def arrival(study: HumanStudy, client: Any, base_url: str, n: int) -> Person:
    draw = random.Random(n)
    fates = ("leaves", "is late", "withdraws", "stays")
    fate = draw.choices(fates, (0.06, 0.06, 0.05, 0.83))[0]
    browser = OverHttp(None, client=client, base_url=base_url)  # type: ignore[arg-type]
    return Person(study, browser, draw, 0.0, f"person{n}", fate=fate, fate_at=draw.randint(2, 9))


async def take_part(study: HumanStudy, server: Server, kill_at: list[int]) -> list[Person]:
    """Let people arrive and act in turn until the study is full and nobody acts any more.

    The server is killed after each of these numbers of actions.
    """
    base_url = f"http://127.0.0.1:{server.port}"
    everybody: list[Person] = []
    quiet, texts, last_report = 0, "", time.monotonic()
    limits = httpx.Limits(max_connections=20)
    async with httpx.AsyncClient(timeout=60, limits=limits, trust_env=False) as client:
        full = False
        while quiet < 400:
            present = [p for p in everybody if not p.gone]
            if len(present) < 60 and not full:  # a wave of arrivals
                for _ in range(20):
                    newcomer = arrival(study, client, base_url, len(everybody))
                    if full := not await newcomer.enter_study():
                        break
                    everybody.append(newcomer)
                present = [p for p in everybody if not p.gone]
            if not present and full:
                latecomer = arrival(
                    study, client, base_url, len(everybody)
                )  # places of those who lapsed
                full = not await latecomer.enter_study()
                if full:
                    states = await progress(client, base_url)
                    if states.get("active", 0) == 0:
                        break
                    await asyncio.sleep(2)
                    quiet += 20
                else:
                    everybody.append(latecomer)
                continue
            for person in present:
                await person.act(present)
            if kill_at and sum(p.acts for p in everybody) > kill_at[0]:
                server.kill()
                kill_at = kill_at[1:]
                await asyncio.sleep(0.5)
                server.start()
            now = "".join(p.browser.text for p in present)
            quiet = quiet + 1 if now == texts else 0
            texts = now
            if time.monotonic() > last_report + 10:
                last_report = time.monotonic()
                waiting = sum("data-waiting" in p.browser.text for p in present)
                print(
                    f"{len(everybody)} arrived, {len(present)} here, {waiting} wait",
                    file=sys.stderr,
                )
            if quiet:
                await asyncio.sleep(0.3)  # somebody waits for a partner or lets the time run out
    assert not kill_at, f"there were too few actions for {len(kill_at)} of the kills"
    return everybody


async def log_in(client: Any, base_url: str) -> None:
    await client.post(f"{base_url}/experimenter/login", data={"secret": SECRET})


async def progress(client: Any, base_url: str) -> dict[str, int]:
    await log_in(client, base_url)
    people = (await client.get(f"{base_url}/experimenter/study/people.json")).json()
    return dict(Counter(row["state"] for row in people))


def download(server: Server) -> tuple[list[Any], dict[str, Any], list[Episode]]:
    base_url = f"http://127.0.0.1:{server.port}"
    with httpx.Client(timeout=120, trust_env=False) as client:
        client.post(f"{base_url}/experimenter/login", data={"secret": SECRET})
        people = client.get(f"{base_url}/experimenter/study/people.json").json()
        paid = client.get(f"{base_url}/experimenter/study/payments.csv").text
        lines = client.get(f"{base_url}/experimenter/study/episodes.jsonl").content.splitlines()
    payments = {row["participant_id"]: row for row in csv.DictReader(io.StringIO(paid))}
    return people, payments, [from_line(line) for line in lines]


def points_of(episodes: list[Episode]) -> dict[str, Decimal]:
    """Points by participant code, from complete rounds of moves and the payoff matrices alone."""
    points_by_code: dict[str, Decimal] = defaultdict(Decimal)
    for episode in episodes:
        matrix: Any = registry.game(episode.setup.instance.game).build().matrix  # type: ignore[attr-defined]
        moves: dict[int, dict[str, int]] = defaultdict(dict)
        for event in episode.events:
            if isinstance(event, Moved):
                moves[event.turn][event.seat] = int(event.action)
        for round_moves in moves.values():
            if len(round_moves) == 2:
                pay = matrix[round_moves["agent"]][round_moves["partner"]]
                for seat, points in zip(("agent", "partner"), pay, strict=True):
                    code = episode.setup.lineup[seat].params.get("participant", "a bot")
                    points_by_code[str(code)] += Decimal(str(points))
    return points_by_code


def verify(study: HumanStudy, server: Server, everybody: list[Person]) -> dict[str, Any]:
    """Check everything and return the figures; raises AssertionError at the first difference."""
    people, payments, episodes = download(server)
    by_pay = {p.name: p for p in everybody}
    bonus = study.bonus
    wrong = []
    moved = points_of(episodes)
    alone_by_code = {
        row["participant"]: any(r["how"] in ("partner left", "no partner") for r in row["rounds"])
        for row in people
    }
    paid_states = ("done", "incomplete", "excluded")
    for row in people:  # from the moves, where all of a person's games are still there
        if row["state"] not in paid_states:
            continue
        played = [r for r in row["rounds"] if r.get("payoff") is not None]
        if len(row["episodes"]) >= len(played):
            right = bonus.of([float(moved[row["participant"]])], alone_by_code[row["participant"]])
            if str(right) != row["bonus"]:
                wrong.append(("moves", row["participant"], str(right), row["bonus"]))
    checked = 0
    rows_by_pay = Counter(row["bonus"] for row in people if row["state"] in paid_states)
    for name, paid in payments.items():  # from what the person has seen
        if paid["state"] not in paid_states:
            continue
        person = by_pay[name]
        amount = Decimal(paid["base"]) + Decimal(paid["bonus"])
        points = sum(person.points.values(), Decimal(0))
        ways = {bonus.of([float(points)], alone) for alone in (False, True)}
        checked += 1
        if amount not in ways:
            wrong.append(("screens", name, ", ".join(map(str, ways)), str(amount)))
        rows_by_pay[str(amount)] -= 1
    assert not wrong, wrong[:5]
    assert not +rows_by_pay and not -rows_by_pay, rows_by_pay  # the two lists pay the same sums
    done = Counter(row["condition"] for row in people if row["state"] == "done")
    for kind, size in (("single", 1), ("pair", 2)):
        counts = [done[c.name] / size for c in study.conditions if c.name.startswith(kind)]
        assert max(counts) - min(counts) <= 1, done
    pairs: dict[str, set[str]] = defaultdict(set)
    members: Counter[str] = Counter()
    for row in people:
        if row["pair"]:
            pairs[row["pair"]].add(row["condition"])
            members[row["pair"]] += 1
    assert all(len(conditions) == 1 for conditions in pairs.values()), "a pair was split"
    assert max(members.values()) <= 2
    partners: dict[str, set[str]] = defaultdict(set)
    for episode in episodes:
        names = [
            str(player.params["participant"])
            for player in episode.setup.lineup.values()
            if player.player == "person"
        ]
        for name in names:
            partners[name] |= set(names) - {name}
    assert all(len(others) <= 1 for others in partners.values())
    stored = Counter(
        str(episode.setup.lineup[event.seat].params["participant"])
        for episode in episodes
        for event in episode.events
        if isinstance(event, Moved) and episode.setup.lineup[event.seat].player == "person"
    )
    # The games of people whose partner withdrew are deleted with the partner's data.
    finished = [row for row in people if row["state"] == "done"]
    complete = [row for row in finished if len(row["episodes"]) == len(row["rounds"])]
    names = [name for name, paid in payments.items() if paid["state"] == "done"]
    sent = Counter(sum(by_pay[name].acknowledged.values()) for name in names)
    stored_moves = Counter(stored[row["participant"]] for row in complete)
    # Every acknowledged move, and no other.
    assert not stored_moves - sent and (sent - stored_moves).total() == len(finished) - len(
        complete
    ), (sent, stored_moves)
    faults = [fault for p in everybody for fault in p.browser.faults]
    return {
        "arrived": len(everybody),
        "states": dict(Counter(row["state"] for row in people)),
        "withdrew": sum(
            p.fate == "withdraws" and p.gone and p.name not in payments for p in everybody
        ),
        "late": sum(p.fate == "was late" for p in everybody),
        "done": dict(done),
        "pairs": len(pairs),
        "payments_from_screens": checked,
        "payments_paid": len(payments),
        "episodes": len(episodes),
        "moves_of_finished": sum(n * k for n, k in stored_moves.items()),
        "server_errors": faults[:5],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--singles", type=int, default=60)
    parser.add_argument("--database", default="")
    parser.add_argument("--postgres", action="store_true", help="start a PostgreSQL of its own")
    parser.add_argument("--kills", type=int, default=1)
    options = parser.parse_args()
    people = options.singles + 2 * options.pairs
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        if options.postgres:
            options.database = running.enter_context(local_postgres(durable=True))
        file = Path(folder) / "study.toml"
        file.write_text(
            STUDY.format(
                people=people, singles=options.singles // 2, paired=options.pairs, late=LATE
            )
        )
        study = read_human_study(file)
        server = Server(file, Path(folder) / "data", options.database)
        server.start()
        try:
            began = time.monotonic()
            interval = 6 * people // (options.kills + 1)  # actions
            kill_at = [interval * (number + 1) for number in range(options.kills)]
            everybody = asyncio.run(take_part(study, server, kill_at))
            figures = verify(study, server, everybody)
            figures["kills"] = options.kills
            figures["seconds"] = round(time.monotonic() - began)
            figures["database"] = "PostgreSQL" if options.database else "SQLite"
            print(json.dumps(figures, indent=2))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
