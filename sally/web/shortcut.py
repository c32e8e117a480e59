"""The shortest way to what is asked again and again while people play."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sally.web.security import Endpoint

Failed = Callable[[Request, Exception], Awaitable[Response]]


class Shortcut:
    """ASGI middleware: a few endpoints by method and path, past routing; all others go on."""

    def __init__(
        self,
        app: ASGIApp,
        endpoints: Mapping[tuple[str, str], Endpoint],
        failures: tuple[type[Exception], ...],
        failed: Failed,
    ) -> None:
        self._app, self._endpoints = app, endpoints
        self._failures, self._failed = failures, failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the routes would; what else goes wrong goes wrong further out."""
        endpoint = None
        if scope["type"] == "http":
            endpoint = self._endpoints.get((scope["method"], scope["path"]))
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await endpoint(request)
        except self._failures as why:
            response = await self._failed(request, why)
        await response(scope, receive, send)
