"""Scripted guests: they see what a browser sees, and answer what a form lets them."""

from __future__ import annotations

import random
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sally.web.app import Settings, make_app
from sally.web.rehearsal import value_for
from tests.fixtures.warm import SALLY, Forked, warm
from tests.web.client import Client

Json = dict[str, Any]


@contextmanager
def web_server(folder: Path, **more: Any) -> Iterator[Client]:
    """A server in this process, with its database and store in a folder."""
    fields = {"database": str(folder / "database.sqlite"), "out": folder / "episodes", **more}
    fields.setdefault("a_second", 1e6)
    with Client(make_app(Settings(**fields)), raise_server_exceptions=False) as client:
        yield client


@contextmanager
def serving(data: Path, port: int = 0, *more: str) -> Iterator[tuple[Forked, int]]:
    """`sally serve` in a process of its own, killed in the end if it still runs."""
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    command = [sys.executable, "-m", "sally", "serve", "--port", str(port), "--data", str(data)]
    process = warm(*SALLY).start([*command, "--rate", "10000", *more])
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        yield process, port
    finally:
        process.kill()
        process.wait()


@dataclass
class Guest:
    """A client with a seat token; keeps everything that the server sent."""

    web: Any  # a `Client`, or an httpx client
    token: str
    draw: random.Random = field(default_factory=lambda: random.Random(1))
    received: list[str] = field(default_factory=list)
    keys: int = 0

    def call(self, method: str, path: str, sent: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        reply = self.web.request(method, path, headers=headers, json=sent)
        self.received += [reply.text, repr(sorted(reply.headers.items()))]
        return reply

    def see(self, query: str = "") -> Json:
        reply = self.call("GET", f"/api/seat{query}")
        while reply.status_code == 429:  # a guest who is told to wait, waits
            time.sleep(0.05)
            reply = self.call("GET", f"/api/seat{query}")
        assert reply.status_code == 200, reply.text
        screen: Json = reply.json()
        return screen

    def say(self, ask: str, value: Any, key: str | None = None) -> Any:
        self.keys += 1
        sent = {"ask": ask, "value": value, "key": key or f"{id(self)}-{self.keys}"}
        return self.call("POST", "/api/seat/answer", sent)

    def answer(self, ask: Json) -> None:
        """Give a legal answer; a game may refuse a well-formed one, so try several."""
        said = None
        for _ in range(60):
            said = self.say(ask["id"], value_for(ask, self.draw))
            if said.status_code == 200:
                return
            if said.status_code == 429:
                time.sleep(0.05)
                continue
            assert said.status_code == 422, said.text
        raise AssertionError(f"no legal answer found for {ask}: {said.text if said else ''}")


def sit(web: Any, game: str, seat: str = "", **wish: Any) -> tuple[Guest, dict[str, Guest]]:
    """Open a table; return its guest and the invited guests by seat."""
    reply = web.post("/api/tables", json={"game": game, "seat": seat, **wish})
    assert reply.status_code == 201, reply.text
    opened = reply.json()
    return Guest(web, opened["token"]), {s: taken(web, t, s) for s, t in opened["invites"].items()}


def taken(web: Any, invitation: str, seed: str = "") -> Guest:
    """Claim an invited seat with a token of its own."""
    # equal draws could tie forever
    own_guest = Guest(web, secrets.token_hex(32), random.Random(seed))
    reply = Guest(web, invitation).call("POST", "/api/seat/take", {"token": own_guest.token})
    assert reply.status_code == 200, reply.text
    return own_guest


def play(guests: list[Guest], turns: int = 400) -> list[Json]:
    """Let all guests answer until the match is over; return their last screens."""
    screens: list[Json] = []
    for _ in range(turns):
        screens = [guest.see() for guest in guests]
        asked_pairs = [(g, ask) for g, s in zip(guests, screens, strict=True) for ask in s["asks"]]
        if not asked_pairs:
            break
        for guest, ask in asked_pairs:
            guest.answer(ask)
    return screens
