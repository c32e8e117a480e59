"""Limits on open connections and on the time until a request's headers are complete."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0  # from the connection, or the first byte of a request, to complete headers
MOST_HEAD = 64 * 1024  # bytes received before the headers are complete
MOST_CONNECTIONS = 10_000  # open connections; further ones are closed immediately


class BatchedTransport:
    """A transport that sends everything written in one iteration of the event loop together.

    uvicorn writes the head and the body of a response separately, which would cost two system calls
    and wake the client twice.
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Queue data; it is sent with everything else written in this loop iteration."""
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)

    def close(self) -> None:
        """Send queued data and close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._held:
            data, self._held = b"".join(self._held), []
            self._transport.write(data)


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """uvicorn's HTTP protocol, which closes connections that send incomplete requests."""

    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0  # bytes since the last complete head

    def connection_made(self, transport: Any) -> None:
        """Accept a connection unless the limit is reached."""
        super().connection_made(BatchedTransport(transport, self.loop))
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Parse data; an incomplete head starts the timer, and an oversized head closes the
        connection."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_bytes = 0
            self._stop_timer()
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD:
            self.transport.close()
        elif self._timer is None:
            self._start_timer()

    def on_response_complete(self) -> None:
        """Stop the timer; between requests uvicorn's keep-alive limit applies."""
        self._head_bytes = 0
        self._stop_timer()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(HEADER_SECONDS, self._close_late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_late(self) -> None:
        self._timer = None
        self.transport.close()
