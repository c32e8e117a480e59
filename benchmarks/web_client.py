"""A browser's connection for load tests: HTTP/1.1 with no more than is needed, so that it is light.

The load runs on the cores that the server needs, so a call must cost far less here than there.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

HEAD_ENDS = b"\r\n\r\n"


class _Lost(Exception):
    """The server closed the connection before it had answered."""


class _Protocol(asyncio.Protocol):
    """One request at a time, and its whole answer."""

    def __init__(self) -> None:
        self._got = bytearray()
        self._end = 0  # of the answer, once its head has been read
        self._waiting: asyncio.Future[bytes] | None = None
        self._transport: Any = None
        self.lost = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        if not self._end:
            head = self._got.find(HEAD_ENDS)
            if head < 0:
                return
            start = self._got.lower().index(b"content-length:", 0, head) + 15
            length = int(self._got[start : self._got.index(b"\r\n", start)])
            self._end = head + len(HEAD_ENDS) + length
        if len(self._got) >= self._end and self._waiting is not None:
            answer, self._end = bytes(self._got), 0
            self._got.clear()
            self._waiting.set_result(answer)
            self._waiting = None

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(_Lost())
            self._waiting = None

    async def exchange(self, request: bytes) -> bytes:
        """Send a request; the answer, with its head."""
        if self.lost:
            raise _Lost
        self._waiting = waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await waiting

    def close(self) -> None:
        self._transport.close()


class Connection:
    """One browser's connection, opened when it is needed."""

    reopened = 0  # connections that the server had closed, over all of them

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: _Protocol | None = None

    async def call(
        self, method: str, path: str, token: str = "", body: Any = None
    ) -> tuple[int, Any]:
        """Ask once more on a new connection where the server closed an idle one, as pages do."""
        data = b"" if body is None else msgspec.json.encode(body)
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        if token:
            head += f"Authorization: Bearer {token}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        request = f"{head}\r\n".encode() + data
        try:
            answer = await self._exchange(request)
        except _Lost:
            self._open = None
            Connection.reopened += 1
            answer = await self._exchange(request)
        return int(answer[9:12]), msgspec.json.decode(answer[answer.index(HEAD_ENDS) + 4 :])

    async def _exchange(self, request: bytes) -> bytes:
        if self._open is None:
            loop = asyncio.get_running_loop()
            _, self._open = await loop.create_connection(_Protocol, "127.0.0.1", self._port)
        return await self._open.exchange(request)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
