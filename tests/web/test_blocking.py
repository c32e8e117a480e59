"""Nothing that a client sends may hold the event loop: every route, hostile bodies, 50 ms."""

from __future__ import annotations

import asyncio
import json
import time
from asyncio.events import Handle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from sally.web.app import Settings, make_app
from sally.web.security import MOST_BYTES, RateLimiter, depth
from tests.web.client import answered, scope_of

# Of processor time in one step of the event loop. On a quiet machine no step takes 0.05; one whose
# cores are lent to others at the same time counts up to three times as much. Quadratic work on such
# a request takes seconds.
MOST_SECONDS = 0.2
TRIES = (
    5  # the least counts: a collection of garbage, or a neighbour's cache, hits one try, not all
)
FULL = MOST_BYTES - 200
TABLE = b'{"game": "tradecraft"}'
Request = tuple[str, str, dict[str, str], bytes]  # method, path, headers, body
BODIES = {
    "escaped quotes": b'"' + b'\\"' * (FULL // 2),
    "quotes": b'"' * FULL,
    "backslashes": b'"' + b"\\" * FULL,
    "brackets": b"[" * FULL,
    "pairs": b"[" + b"[]," * (FULL // 3) + b"[]]",
    "keys": b"{" + b",".join(b'"k%d":0' % n for n in range(5000)) + b"}",
    "one long number": b'{"value":' + b"9" * FULL + b"}",
    "a small number": b'{"value":1e-' + b"9" * FULL + b"}",
    "marks": b'{"value":"' + "a\u0301\u0316".encode() * (FULL // 5) + b'"}',
    "newlines": b'{"game":"' + b"\\n" * (FULL // 2) + b'"}',
    "spaces": b" " * FULL + b"{}",
    "half a character": b'{"\\ud800":"' + b"\\ud800" * (FULL // 6) + b'"}',
    "not text": bytes(range(256)) * (FULL // 256),
    "ampersands": b"a=1&" * 150 + b"b=" + b"%41" * (FULL // 4),
    "percents": b"a=" + b"%" * FULL,
    "plus": b"+" * FULL,
}


@contextmanager
def longest_step() -> Iterator[list[float]]:
    """Measures each step of the event loop by the processor time of its thread."""
    steps, run = [0.0], Handle._run

    def measured(handle: Handle) -> None:
        began = time.thread_time()
        run(handle)
        steps[0] = max(steps[0], time.thread_time() - began)

    Handle._run = measured  # type: ignore[method-assign]
    try:
        yield steps
    finally:
        Handle._run = run  # type: ignore[method-assign]


def routes() -> list[tuple[str, str]]:
    app = make_app(Settings())
    return sorted(
        (method, route.path.replace("{name}", "s").replace("{rest:path}", "s"))
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or ())
        if method != "HEAD"
    )


async def ask_once(app: Any, sent: Request) -> tuple[int, bytes]:
    """Return the response to a prepared request, so that no client work is measured."""
    method, path, headers, body = sent
    header_fields = {"Host": "testserver", "Content-Length": str(len(body)), **headers}
    raw = [(name.lower().encode(), value.encode()) for name, value in header_fields.items()]
    status, _, told = await answered(app, scope_of(method, path.encode(), raw), body, False)
    return status, told


async def held(app: Any, sent: Request) -> float:
    """The longest step that one request takes."""
    with longest_step() as steps:
        await asyncio.sleep(0)  # a step of its own, though nothing in it may wait
        status, told = await ask_once(app, sent)
        await asyncio.sleep(0)
    assert status != 500, (sent[1], told)
    app.state.rates = RateLimiter(1e6, 1e6)  # so that all of it is tried
    return steps[0]


async def blocked(folder: Path, sent: list[Request]) -> float:
    """The longest step of a server that is sent all of this, each at its best of some tries."""
    longest = 0.0
    settings = Settings(str(folder / "database.sqlite"), folder / "episodes", a_second=1e6)
    app = make_app(settings)
    async with app.router.lifespan_context(app):
        await ask_once(app, ("GET", "/api/games", {}, b""))  # the shelf is made once
        table = ("POST", "/api/tables", {"Content-Type": "application/json"}, TABLE)
        token = json.loads((await ask_once(app, table))[1])["token"]
        for method, path, headers, body in sent:
            headers = {k: v.replace("SEAT", token) for k, v in headers.items()}
            least = await held(app, (method, path, headers, body))
            for _ in range(TRIES - 1):
                if MOST_SECONDS < least < 1:  # what takes a second is not tried again
                    least = min(least, await held(app, (method, path, headers, body)))
            longest = max(longest, least)
    return longest


@pytest.mark.parametrize("kind", list(BODIES))
def test_hostile_bodies_do_not_block_the_event_loop(kind: str, tmp_path: Path) -> None:
    sent = [
        (
            method,
            path,
            {"Authorization": f"Bearer {player_name}", "Content-Type": form},
            BODIES[kind],
        )
        for method, path in routes()
        if method == "POST"
        for player_name in ("nobody", "SEAT")
        for form in ("application/json", "application/x-www-form-urlencoded")
    ]
    assert len(sent) > 30
    assert asyncio.run(blocked(tmp_path, sent)) < MOST_SECONDS


def test_hostile_addresses_and_headers_do_not_block_the_event_loop(tmp_path: Path) -> None:
    long = 15_000
    percents = ("?" + "%" * long, "?" + "%25" * long)
    sent = [
        ("GET", f"{path}{query}", headers, b"")
        for method, path in routes()
        if method == "GET" and path not in ("/api/games",)
        for query in ("", "?" + "a=%C3%A9&" * 1500, "?since=" + "9" * 14, *percents)
        for headers in (
            {},
            {"Authorization": "Bearer " + "x" * 199},
            {"Cookie": "sally_participant=" + '"\\' * (long // 2)},
            {"Cookie": ";" * long, "Host": "[" * 1000},
        )
    ]
    assert asyncio.run(blocked(tmp_path, sent)) < MOST_SECONDS


def test_json_depth_takes_linear_time() -> None:
    began = time.thread_time()
    for body in BODIES.values():
        depth(body)
    assert time.thread_time() - began < 0.5  # quadratic: minutes
    assert depth(b'{"a":[1,"[[[",{"b":"\\"["}]}') == 3


def test_unauthorized_request_is_refused_before_its_body_is_read(tmp_path: Path) -> None:
    async def status(path: str, token: str) -> int:
        settings = Settings(str(tmp_path / "database.sqlite"), tmp_path / "episodes")
        app = make_app(settings)
        read: list[str] = []
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            read.append(path)
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        async with app.router.lifespan_context(app):
            scope = {
                "type": "http",
                "method": "POST",
                "path": path,
                "raw_path": path.encode(),
                "query_string": b"",
                "client": ("127.0.0.1", 1),
                "scheme": "http",
                "headers": [
                    (b"host", b"testserver"),
                    (b"content-type", b"application/json"),
                    (b"authorization", f"Bearer {token}".encode()),
                ],
            }
            await app(scope, receive, send)
        assert read == []
        return int(sent[0]["status"])

    for path in ("/api/seat/answer", "/api/seat/check", "/api/seat/look", "/api/seat/leave"):
        assert asyncio.run(status(path, "nobody")) == 401
