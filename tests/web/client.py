"""A client of an application in this process: one step into its event loop for a whole request.

Starlette's own takes eight, to hand on what is sent while it is sent. Here nobody reads half an
answer, and there are ten thousand requests.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from starlette import testclient

Answer = tuple[int, list[tuple[bytes, bytes]], bytes]  # status, headers, body


class Client(testclient.TestClient):
    """Starlette's client with a shorter way to the application."""

    def __init__(self, app: Any, raise_server_exceptions: bool = True, **how: Any) -> None:
        super().__init__(app, raise_server_exceptions=raise_server_exceptions, **how)
        self._transport = Straight(
            self.app,
            self._portal_factory,
            raise_server_exceptions,
            client=("testclient", 50000),
            app_state=self.app_state,
        )


class Straight(testclient._TestClientTransport):
    """Calls the application and hands over what it has answered, once that is whole."""

    def handle_request(self, request: testclient.httpx.Request) -> testclient.httpx.Response:
        """What the application says to a request."""
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
    """A request as servers hand it to an application."""
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
    """What an application says to a request with this body; who has it all goes away."""
    done, asked = asyncio.Event(), iter([{"type": "http.request", "body": sent}])
    told: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if (body := next(asked, None)) is not None:
            return body
        await done.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        told.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            done.set()

    try:
        await app(scope, receive, send)
    except Exception:
        if raises or not told:
            raise
    start, *rest = told
    body = b"".join(m.get("body", b"") for m in rest)
    return start["status"], start["headers"], b"" if scope["method"] == "HEAD" else body
