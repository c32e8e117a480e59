"""A client of an application in this process that enters its event loop once per request.

Starlette's own client enters it eight times, in order to stream. Tests read whole responses only
and send ten thousand requests.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from starlette import testclient

Answer = tuple[int, list[tuple[bytes, bytes]], bytes]  # status, headers, body


class Client(testclient.TestClient):
    """Starlette's test client with a faster transport."""

    def __init__(self, app: Any, raise_server_exceptions: bool = True, **options: Any) -> None:
        super().__init__(app, raise_server_exceptions=raise_server_exceptions, **options)
        self._transport = Straight(
            self.app,
            self._portal_factory,
            raise_server_exceptions,
            client=("testclient", 50000),
            app_state=self.app_state,
        )


class Straight(testclient._TestClientTransport):
    """A transport that calls the application and returns the complete response."""

    def handle_request(self, request: testclient.httpx.Request) -> testclient.httpx.Response:
        """Return the application's response."""
        url, sent = request.url, request.read()
        headers = [(k.lower().encode(), v.encode()) for k, v in request.headers.multi_items()]
        scope = scope_of(request.method, url.raw_path, headers) | {
            "root_path": self.root_path,
            "scheme": url.scheme,
            "client": self.client,
            "server": [url.host, url.port or 80],
            "state": self.app_state.copy(),
        }
        with self.portal_factory() as portal:
            answer = portal.call(answered, self.app, scope, sent, self.raise_server_exceptions)
        status, told, body = answer
        return testclient.httpx.Response(status, headers=told, content=body, request=request)


def scope_of(method: str, target: bytes, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    """Return the ASGI scope of a request."""
    path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": unquote(path.decode("ascii")),
        "raw_path": path,
        "query_string": query,
        "headers": headers,
        "client": ("testclient", 50000),
        "server": ["testserver", 80],
        "scheme": "http",
        "root_path": "",
        "extensions": {},
    }


async def answered(app: Any, scope: dict[str, Any], sent: bytes, raises: bool) -> Answer:
    """Return an application's response; the client disconnects when it is complete."""
    done, request_fields = asyncio.Event(), iter([{"type": "http.request", "body": sent}])
    records: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if (body := next(request_fields, None)) is not None:
            return body
        await done.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        records.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            done.set()

    try:
        await app(scope, receive, send)
    except Exception:
        if raises or not records:
            raise
    start, *other_records = records
    body = b"".join(m.get("body", b"") for m in other_records)
    return start["status"], start["headers"], b"" if scope["method"] == "HEAD" else body
