"""A client of an application in this process: one step into its event loop for a whole request.

Starlette's own takes eight, to hand on what is sent while it is sent. Here nobody reads half an
answer, and there are ten thousand requests.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from starlette import testclient


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
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": unquote(url.path),
            "raw_path": url.raw_path.split(b"?", 1)[0],
            "root_path": self.root_path,
            "scheme": url.scheme,
            "query_string": url.query,
            "headers": [(k.lower().encode(), v.encode()) for k, v in request.headers.multi_items()],
            "client": self.client,
            "server": [url.host, url.port or 80],
            "extensions": {},
            "state": self.app_state.copy(),
        }
        with self.portal_factory() as portal:
            status, headers, body = portal.call(self._answered, scope, sent)
        return testclient.httpx.Response(status, headers=headers, content=body, request=request)

    async def _answered(self, scope: dict[str, Any], sent: bytes) -> tuple[int, Any, bytes]:
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
            await self.app(scope, receive, send)
        except Exception:
            if self.raise_server_exceptions:
                raise
        start, *rest = told
        body = b"".join(m.get("body", b"") for m in rest)
        return start["status"], start["headers"], b"" if scope["method"] == "HEAD" else body
