"""The web application: routes, middleware, error responses and static files."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import logging
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path, PurePath

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import ASGIApp, Receive, Scope, Send

from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.runner.budget import Meter
from sally.web import security
from sally.web.database import SCHEMA, Database, StorageBusy, StorageFull, StorageLost
from sally.web.explorer import pages as explorer
from sally.web.live.match import MatchDiscarded
from sally.web.live.matches import LiveMatches, NoSuchSeat
from sally.web.live.screen_text import shorten
from sally.web.play import api
from sally.web.play.lobby import Busy, Lobby
from sally.web.security import (
    Endpoint,
    ExperimenterLogin,
    RateLimiter,
    RequestRefused,
    SecurityMiddleware,
    page,
    refusal,
)
from sally.web.study import dashboard as experimenter
from sally.web.study import pages as people
from sally.web.study.markdown import render_markdown
from sally.web.texts import ENGLISH, texts_of

LOG = logging.getLogger("sally.web")
HERE = Path(__file__).parent
RARELY = 200  # middle-generation collections per full collection; Python's default is 10
HEALTHY_SECONDS = 5.0  # time limit for the database check of /healthy


class Settings(msgspec.Struct, frozen=True):
    """Configuration of a server."""

    database: str = "sally-serve/database.sqlite"
    out: Path | None = Path("sally-serve/episodes")  # the store of finished episodes
    models: tuple[str, ...] = ()  # models that visitors may play with
    hosts: tuple[str, ...] = ()  # accepted host names; empty accepts any
    secret: str = ""  # the experimenter's password; generated if empty
    patience: float = 900.0  # seconds without an answer before a person counts as having left
    a_second: float = 100.0  # requests per second allowed from one address
    most_open: int = 2000  # concurrent matches
    secure: bool = False  # whether browsers use https, so cookies are marked secure
    stores: tuple[Path, ...] = ()  # further stores shown in the explorer
    studies: tuple[Path, ...] = ()  # files of studies with people
    own_process: bool = False  # whether the server has the process to itself
    test: bool = False  # whether the experimenter may play as any participant
    lobby: bool = True  # whether visitors may open tables


def make_app(settings: Settings, meter: Meter | None = None) -> Starlette:
    """Build the application; the database is opened at startup."""
    database = Database(settings.database, (*SCHEMA, *people.SCHEMA))
    live_matches = LiveMatches(database, settings.out, settings.patience, meter)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        database.open()
        await live_matches.start()
        try:
            await people.start(app)
            # Building every bot once takes a second; do it before the first visitor comes.
            ready = asyncio.create_task(asyncio.to_thread(preload, app))
            yield
            await asyncio.gather(ready, return_exceptions=True)
        finally:
            await live_matches.close()
            database.close()

    app = Starlette(
        routes=[
            *ROUTES,
            *(LOBBY if settings.lobby else [Route("/", to_study)]),
            *people.ROUTES,
            *experimenter.ROUTES,
            *explorer.ROUTES,
            Mount("/static", VersionedFiles()),
        ],
        middleware=[
            Middleware(SecurityMiddleware, hosts=settings.hosts, a_second=settings.a_second),
            Middleware(
                FastPath, endpoints=api.OFTEN, failures=tuple(FAILURES), failed=_error_response
            ),
        ],
        exception_handlers=dict.fromkeys(FAILURES, _error_response) | {Exception: _broken},
        lifespan=life,
    )
    app.state.settings, app.state.database = settings, database
    app.state.live_matches = live_matches
    app.state.lobby = Lobby(live_matches, settings.models, settings.most_open)
    app.state.login = ExperimenterLogin(settings.secret or secrets.token_urlsafe(24))
    app.state.rates = RateLimiter(20, 60)  # requests per seat token
    # Limits tables opened per address, so that one client cannot take all of them.
    app.state.openings = RateLimiter(settings.a_second / 100, 2 * settings.a_second)
    app.state.texts = texts_of(ENGLISH)  # replaced by the study's texts if there is one
    app.state.templates = templates()
    return app


@cache
def templates() -> Jinja2Templates:
    """Return the page templates, compiled once per process and never reloaded."""
    page_templates = Jinja2Templates(directory=HERE / "templates")
    page_templates.env.auto_reload = False
    page_templates.env.globals["static"] = static_address()
    page_templates.env.filters["markdown"] = render_markdown
    return page_templates


def preload(app: Starlette) -> None:
    """Load every game; in a dedicated process, exempt the loaded objects from garbage collection.

    Otherwise every full collection traverses half a million permanent objects while all requests
    wait. With a thousand open matches a full collection still takes 0.1 s, so collections are also
    made rare.
    """
    app.state.lobby.offers()
    if app.state.settings.own_process:
        gc.collect()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, RARELY)


# --- static files -------------------------------------------------------------------------------

STATIC = HERE / "static"
FOREVER = "public, max-age=31536000, immutable"


@cache
def static_version() -> str:
    """Return a hash of all static files, computed once per process."""
    digest = hashlib.sha256()
    for file in sorted(STATIC.iterdir()):
        digest.update(f"{file.name} {file.stat().st_size} ".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def static_address() -> str:
    """Return the URL prefix of the current static files."""
    return f"/static/{static_version()}"


class VersionedFiles(StaticFiles):
    """Static files; a file requested under the current version may be cached forever.

    The URL changes with the content, so browsers fetch each file once. Without versions, every page
    of a study would load fifteen files again. A page loaded before the server was upgraded requests
    an old version and gets the current file, which is then not cached.
    """

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, marked as cacheable only if the URL has the current version."""
        version, *file_parts = PurePath(path).parts or ("",)
        response = await super().get_response("/".join(file_parts), scope)
        if version == static_version():
            response.headers["cache-control"] = FOREVER
        return response


# --- endpoints on the fast path -----------------------------------------------------------------

Failed = Callable[[Request, Exception], Awaitable[Response]]


class FastPath:
    """ASGI middleware that serves the most frequent endpoints without Starlette's routing."""

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
        """Respond as Starlette's routes would; unexpected errors propagate to the outer
        handler."""
        endpoint = None
        if scope["type"] == "http":
            endpoint = self._endpoints.get((scope["method"], scope["path"]))
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await endpoint(request)
        except self._failures as error:
            response = await self._failed(request, error)
        await response(scope, receive, send)


# --- failures -----------------------------------------------------------------------------------

FAILURES: Mapping[type[Exception], int] = {
    RequestRefused: 400,
    HTTPException: 400,
    NoSuchSeat: 401,
    NotAsked: 409,
    MatchDiscarded: 409,
    IllegalMove: 422,
    BadInput: 422,
    Busy: 503,
    StorageFull: 507,
    StorageLost: 503,
}


async def _error_response(request: Request, error: Exception) -> Response:
    """Return a page for a browser that opens an address, else JSON; both have the same sentence."""
    refused = _refusal_of(error)
    response = refusal(refused)
    if "text/html" not in request.headers.get("accept", ""):
        return response
    heading = security.texts_for(request)("notice.failed")
    document = people.notice(request, heading, shorten(refused.why), status=refused.status)
    if (retry_after := response.headers.get("retry-after")) is not None:
        document.headers["retry-after"] = retry_after
    return document


def _refusal_of(error: Exception) -> RequestRefused:
    """Return the refusal, with its status and sentence, that an exception stands for."""
    if isinstance(error, RequestRefused):
        return error
    if isinstance(error, HTTPException):
        messages = {404: "There is no such page.", 405: "This method is not allowed here."}
        return RequestRefused(error.status_code, messages.get(error.status_code, error.detail))
    status = next(code for kind, code in FAILURES.items() if isinstance(error, kind))
    message = {
        NoSuchSeat: "This token does not open any seat.",
        MatchDiscarded: "The match had to be reloaded; please try again.",
        StorageFull: "The server's disk is full, so nothing was changed; try again later.",
        StorageBusy: "The database is locked, so nothing was changed; try again later.",
        StorageLost: "The database cannot be reached, so nothing was changed; try again later.",
    }.get(type(error), str(error))
    if isinstance(error, StorageFull | StorageLost):
        LOG.error("storage: %s", error)
    return RequestRefused(status, message)


async def _broken(request: Request, error: Exception) -> Response:
    """Return status 500 for an unexpected error; details go only to the log."""
    response = refusal(RequestRefused(500, "Internal server error; it has been logged."))
    response.raw_headers.extend(security.HEADERS)  # not passed through the middleware
    return response


# --- pages --------------------------------------------------------------------------------------


async def lobby_page(request: Request) -> Response:
    return page(request, "play/lobby.html")


async def to_study(request: Request) -> Response:
    """Redirect the front page of a server without a lobby to its study, if there is only one."""
    links = {
        running_study.study.room or name
        for name, running_study in request.app.state.studies.items()
    }
    if len(links) != 1:
        raise RequestRefused(404, "There is no such page.")
    return RedirectResponse(f"/study/{links.pop()}", 303)


async def table_page(request: Request) -> Response:
    return page(request, "play/table.html")


async def healthy(request: Request) -> Response:
    """Health check: always status 200; `database` says whether the database answers."""
    try:
        async with asyncio.timeout(HEALTHY_SECONDS):
            await request.app.state.database.run(lambda tx: tx.first("SELECT 1"))
    except (TimeoutError, StorageLost):
        return JSONResponse({"ok": True, "database": False})
    return JSONResponse({"ok": True, "database": True})


async def login_page(request: Request) -> Response:
    return page(request, "login.html", next=request.query_params.get("next", ""), wrong=False)


async def log_in(request: Request) -> Response:
    login: ExperimenterLogin = request.app.state.login
    if wait := login.tries.take(security.address_of(request.scope)):
        raise RequestRefused(429, f"Too many login attempts; wait {math.ceil(wait)} s.")
    sent = await security.form_of(request)
    next_address = sent.get("next", "")
    cookie = login.enter(sent.get("secret", ""))
    if cookie is None:
        return page(request, "login.html", 403, next=next_address, wrong=True)
    login.tries.give_back(security.address_of(request.scope))
    response = RedirectResponse(security.next_page(next_address), 303)
    response.set_cookie(
        security.SESSION,
        cookie,
        max_age=security.SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.app.state.settings.secure,
    )
    return response


async def log_out(request: Request) -> Response:
    request.app.state.login.leave(request)
    response = RedirectResponse("/", 303)
    response.delete_cookie(security.SESSION, httponly=True, samesite="strict")
    return response


LOBBY: list[BaseRoute] = [
    Route("/", lobby_page),
    Route("/table", table_page),
    *api.LOBBY,
]
ROUTES: list[BaseRoute] = [
    Route("/healthy", healthy),
    *api.ROUTES,
    Route("/experimenter/login", login_page),
    Route("/experimenter/login", log_in, methods=["POST"]),
    Route("/experimenter/logout", security.experimenter_required(log_out), methods=["POST"]),
]
