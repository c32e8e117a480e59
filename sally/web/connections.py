"""Connections are bounded, and whoever opens one has to say soon what they want."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0  # from the first byte of a request, or from the connection, to its headers
MOST_HEAD = 64 * 1024  # bytes of a request that is not yet past its headers
MOST_CONNECTIONS = 10_000  # open at the same time; one more is closed at once


class Together:
    """A transport that sends what is written within one turn of the loop in one go.

    An answer's head and body are written apart; sent apart they cost two calls of the system,
    and whoever reads them wakes up twice.
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this with all else that is written before the loop goes on."""
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)

    def close(self) -> None:
        """Send what is left, and close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._held:
            data, self._held = b"".join(self._held), []
            self._transport.write(data)


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """HTTP as uvicorn speaks it, for people who do not keep a connection open with half a word."""

    _waiting: asyncio.TimerHandle | None = None
    _of_head = 0  # bytes since the last whole head

    def connection_made(self, transport: Any) -> None:
        """Take a connection, if there are not too many."""
        super().connection_made(Together(transport, self.loop))
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; what is no whole head of a request yet has to become one soon."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._of_head = 0
            self._wait_no_more()
            return
        self._of_head += len(data)
        if self._of_head > MOST_HEAD:
            self.transport.close()
        elif self._waiting is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Between two requests, the time to keep a connection alive is uvicorn's affair."""
        self._of_head = 0
        self._wait_no_more()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEADER_SECONDS, self._too_late)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_late(self) -> None:
        self._waiting = None
        self.transport.close()
