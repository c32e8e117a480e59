"""Requests that no browser sends, to every route: answered, soon, and never with a trace.

    python -m benchmarks.hostile.requests --requests 20000 --seed 18

They come from strangers, from somebody who holds a seat, and from an experimenter's browser
without its secret; bodies, addresses and headers are made of what has broken servers before.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.routing import Route

from benchmarks.hostile.mutations import mutate
from sally.web.app import Settings, make_app
from sally.web.security import RateLimiter

METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW")
BODIES = (
    b'{"game":"ipd"}',
    b'{"game":"tradecraft","seat":"p1","others":{},"params":{},"probes":[]}',
    b'{"ask":"x","value":0,"key":"k"}',
    b'{"ask":"x","value":{"kind":"pass"},"key":"k"}',
    b'{"token":"t"}',
    b'{"key":"k"}',
    b"form_token=x&secret=y&next=%2Fexperimenter",
    b"[[]]",
    b"",
)
PARTS = ("..", "%2e%2e", "%00", "%ff", "s", "1", "é", "{id}", "a" * 300, "null", "-1", "%0d%0a")
QUERIES = ("", "?since=9" * 3, "?since=-1", "?turn=1e9", "?eyes=%F0%9F", "?live", "?" + "a=&" * 400)
TYPES = ("application/json", "application/x-www-form-urlencoded", "text/plain", "", "a/b;" * 50)
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"Origin": "https://elsewhere.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Cookie": "sally_participant=" + "x" * 3000},
    {"Cookie": "sally_experimenter=\x80; ;;==; a"},
    {"Content-Length": "-5"},
    {"Host": "[::1"},
    {"Accept-Language": "x" * 4000},
)


def routes(app: Starlette) -> list[str]:
    """The address of every route."""
    return sorted({route.path for route in app.routes if isinstance(route, Route)})


def make_request(
    draw: random.Random, paths: list[str], token: str
) -> tuple[str, str, dict[str, str], bytes]:
    """One request."""
    path = draw.choice(paths)
    for slot in ("{name}", "{rest:path}", "{shelf}", "{id}"):
        path = path.replace(slot, draw.choice(PARTS))
    if draw.random() < 0.1:
        path += "/" + draw.choice(PARTS)
    headers = {**draw.choice(HEADERS), "Content-Type": draw.choice(TYPES)}
    if draw.random() < 0.6:
        headers["Authorization"] = f"Bearer {draw.choice((token, 'nobody', '', 'é'))}"
    method = draw.choice(METHODS[:2] if draw.random() < 0.9 else METHODS)
    body = mutate(draw.choice(BODIES), draw) if draw.random() < 0.8 else draw.choice(BODIES)
    return method, path + draw.choice(QUERIES), headers, body


async def send_requests(requests: int, draw: random.Random, folder: Path) -> dict[str, Any]:
    """Send them, one after another, and count the answers."""
    app = make_app(Settings(str(folder / "db.sqlite"), folder / "episodes", a_second=1e9))
    outcomes, broken = Counter[str](), Counter[str]()
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as web:
            token = (await web.post("/api/tables", json={"game": "ipd"})).json()["token"]
            for _ in range(requests):
                app.state.rates = app.state.openings = RateLimiter(1e9, 1e9)
                method, path, headers, body = make_request(draw, routes(app), token)
                raw = [(k.encode(), v.encode("latin-1", "replace")) for k, v in headers.items()]
                try:
                    request = web.build_request(method, path, headers=raw, content=body)
                    request.extensions["timeout"] = {"read": 5}
                    async with asyncio.timeout(30):
                        reply = await web.send(request)
                except httpx.InvalidURL:
                    outcomes["not sent: no address"] += 1
                    continue
                except TimeoutError:
                    broken[f"{method} {path[:40]}: no answer in 30 s"] += 1
                    continue
                outcomes[f"{reply.status_code // 100}xx"] += 1
                if reply.status_code == 500 or b"Traceback" in reply.content:
                    broken[f"{method} {path[:60]}: {reply.status_code}"] += 1
    return {"requests": requests, **outcomes, "broken": dict(broken)}


def campaign(requests: int, seed: int) -> dict[str, Any]:
    """A server of its own, and all of it."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(send_requests(requests, random.Random(seed), Path(folder)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    logging.disable()
    print(campaign(options.requests, options.seed))
