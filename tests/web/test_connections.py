"""Half a request does not keep a connection; too many are closed; a held database is said."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from sally.web import connections, database
from sally.web.app import Settings, make_app
from sally.web.connections import BoundedProtocol


async def answer(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def served(keep: int = 1) -> AsyncIterator[int]:
    config = uvicorn.Config(
        answer,
        port=0,
        lifespan="off",
        log_level="error",
        http=BoundedProtocol,
        timeout_keep_alive=keep,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
     b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo"],
    ids=["nothing", "half a line", "half a header", "half a second request"],
)  # fmt: skip
def test_incomplete_request_is_closed_soon(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)

    async def closed() -> bytes:
        async with served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            read = await asyncio.wait_for(reader.read(), 60)
            writer.close()
            return read

    assert (b"200 OK" in asyncio.run(closed())) == (b"\r\n\r\n" in sent)


def test_headers_without_end_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_HEAD", 1000)

    async def closed() -> bytes:
        async with served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for n in range(30):
                writer.write(f"X-{n}: {'long ' * 20}\r\n".encode() if n else b"GET / HTTP/1.1\r\n")
                await asyncio.sleep(0.001)
            try:
                return await asyncio.wait_for(reader.read(), 60)
            except ConnectionError:
                return b""
            finally:
                writer.close()

    assert b"200 OK" not in asyncio.run(closed())


def test_complete_requests_keep_the_connection_open_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)

    async def twice() -> list[bytes]:
        async with served(keep=60) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            read = []
            for pause in (0.0, 0.5):
                await asyncio.sleep(pause)
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                read.append(await asyncio.wait_for(reader.readuntil(b"ok\r\n0\r\n\r\n"), 60))
            writer.close()
            return read

    assert [read[:15] for read in asyncio.run(twice())] == [b"HTTP/1.1 200 OK"] * 2


def test_connection_above_the_limit_is_closed_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)

    async def third() -> bytes:
        async with served() as port:
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                return await asyncio.wait_for(reader.read(), 60)
            except ConnectionResetError:
                return b""
            finally:
                for _, item in (*held, (reader, writer)):
                    item.close()

    assert asyncio.run(third()) == b""


def test_locked_database_is_reported_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    settings = Settings(str(tmp_path / "database.sqlite"), tmp_path / "episodes")

    async def asked() -> list[tuple[int, str]]:
        app = make_app(settings)
        async with app.router.lifespan_context(app):
            holder = sqlite3.connect(settings.database, isolation_level=None)
            holder.execute("BEGIN IMMEDIATE")
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as web:
                opening = {"game": "ipd"}
                sent = [web.post("/api/tables", json=opening) for _ in range(10)]
                replies = await asyncio.gather(*sent, web.get("/healthy"))
                holder.execute("ROLLBACK")
                holder.close()
                replies.append(await web.get("/healthy"))
                return [(reply.status_code, reply.text) for reply in replies]

    began = time.monotonic()
    *held, free = asyncio.run(asked())
    *asked_for, health = held
    assert {status for status, _ in asked_for} == {503}
    assert "The database is locked" in asked_for[-1][1]
    assert health[0] == free[0] == 200
    assert '"database":false' in health[1] and '"database":true' in free[1]
    assert time.monotonic() - began < 30
