"""The web application: who asks what under which address."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.templating import Jinja2Templates

from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.runner.budget import Meter
from sally.web import kept_files, security
from sally.web.database import SCHEMA, Database, StorageBusy, StorageFull, StorageLost
from sally.web.explorer import pages as explorer
from sally.web.kept_files import KeptFiles
from sally.web.live.match import GivenUp
from sally.web.live.matches import LiveMatches
from sally.web.live.seats import NoSuchSeat
from sally.web.play import api
from sally.web.play.lobby import Busy, Lobby
from sally.web.security import (
    ExperimenterLogin,
    RateLimiter,
    Refused,
    SecurityMiddleware,
    page,
    refusal,
)
from sally.web.shortcut import Shortcut
from sally.web.study import dashboard as experimenter
from sally.web.study import pages as people
from sally.web.texts import ENGLISH, texts_of

LOG = logging.getLogger("sally.web")
HERE = Path(__file__).parent
RARELY = 200  # searches of middle-aged objects for garbage before all are searched; Python: 10
HEALTHY_SECONDS = 5.0  # in which the database has to answer whoever watches the server


class Settings(msgspec.Struct, frozen=True):
    """How a server is set up."""

    database: str = "sally-serve/database.sqlite"
    out: Path | None = Path("sally-serve/episodes")  # the store of finished episodes
    models: tuple[str, ...] = ()  # models that visitors may play with
    hosts: tuple[str, ...] = ()  # names under which this server is reached; none: any
    secret: str = ""  # the experimenter's; made anew unless given
    patience: float = 900.0  # seconds without an answer after which a person has left
    a_second: float = 100.0  # requests from one address
    most_open: int = 2000  # matches at the same time
    secure: bool = False  # whether browsers reach this over https
    stores: tuple[Path, ...] = ()  # more stores for the explorer
    study: Path | None = None  # the file of a study with people
    own_process: bool = False  # whether nothing else runs in this process


def make_app(settings: Settings, meter: Meter | None = None) -> Starlette:
    """The application; the database is opened when it starts."""
    database = Database(settings.database, (*SCHEMA, *people.SCHEMA))
    live_matches = LiveMatches(database, settings.out, settings.patience, meter)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        database.open()
        await live_matches.start()
        try:
            await people.start(app)
            # Building every bot once takes a second, which the first visitor need not wait for.
            ready = asyncio.create_task(asyncio.to_thread(make_ready, app))
            yield
            await asyncio.gather(ready, return_exceptions=True)
        finally:
            await live_matches.close()
            database.close()

    app = Starlette(
        routes=[
            *ROUTES,
            *people.ROUTES,
            *experimenter.ROUTES,
            *explorer.ROUTES,
            Mount("/static", KeptFiles()),
        ],
        middleware=[
            Middleware(SecurityMiddleware, hosts=settings.hosts, a_second=settings.a_second),
            Middleware(Shortcut, endpoints=api.OFTEN, failures=tuple(FAILURES), failed=_failed),
        ],
        exception_handlers=dict.fromkeys(FAILURES, _failed) | {Exception: _broken},
        lifespan=life,
    )
    app.state.settings, app.state.database, app.state.live_matches = (
        settings,
        database,
        live_matches,
    )
    app.state.lobby = Lobby(live_matches, settings.models, settings.most_open)
    app.state.login = ExperimenterLogin(settings.secret or secrets.token_urlsafe(24))
    app.state.rates = RateLimiter(20, 60)  # requests with one token
    # Tables from one address: nobody alone should be able to take all that there are.
    app.state.openings = RateLimiter(settings.a_second / 100, 2 * settings.a_second)
    app.state.texts = texts_of(ENGLISH)  # a study brings its own
    app.state.templates = templates()
    return app


@cache
def templates() -> Jinja2Templates:
    """The pages of every server of this process, each compiled once and not looked at again."""
    found = Jinja2Templates(directory=HERE / "templates")
    found.env.auto_reload = False
    found.env.globals["static"] = kept_files.address()
    return found


def make_ready(app: Starlette) -> None:
    """Load every game once; a process of its own need not look for garbage among them again.

    Else each long search goes through half a million objects that stay, while everybody waits.
    With a thousand matches open a search among those takes a tenth of a second too, so it is rare.
    """
    app.state.lobby.offers()
    if app.state.settings.own_process:
        gc.collect()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, RARELY)


# --- failures -----------------------------------------------------------------------------------

FAILURES: Mapping[type[Exception], int] = {
    Refused: 400,
    HTTPException: 400,
    NoSuchSeat: 401,
    NotAsked: 409,
    GivenUp: 409,
    IllegalMove: 422,
    BadInput: 422,
    Busy: 503,
    StorageFull: 507,
    StorageLost: 503,
}


async def _failed(request: Request, why: Exception) -> Response:
    if isinstance(why, Refused):
        return refusal(why)
    if isinstance(why, HTTPException):
        known = {404: "There is nothing here.", 405: "This cannot be done here."}
        return refusal(Refused(why.status_code, known.get(why.status_code, why.detail)))
    status = next(code for kind, code in FAILURES.items() if isinstance(why, kind))
    said = {
        NoSuchSeat: "This token opens no seat.",
        GivenUp: "The match had to be loaded again; try once more.",
        StorageFull: "The disk is full, so nothing was changed; try again later.",
        StorageBusy: "Somebody else holds the database, so nothing was changed; try again later.",
        StorageLost: "The database cannot be reached, so nothing was changed; try again later.",
    }.get(type(why), str(why))
    if isinstance(why, StorageFull | StorageLost):
        LOG.error("storage: %s", why)
    return refusal(Refused(status, said))


async def _broken(request: Request, why: Exception) -> Response:
    """Whatever we did not think of: the log has it, the world only hears that it happened."""
    response = refusal(Refused(500, "Something went wrong here; it has been noted."))
    response.raw_headers.extend(security.HEADERS)  # this one does not pass the middleware
    return response


# --- pages --------------------------------------------------------------------------------------


async def lobby_page(request: Request) -> Response:
    return page(request, "play/lobby.html")


async def table_page(request: Request) -> Response:
    return page(request, "play/table.html")


async def healthy(request: Request) -> Response:
    """For whoever watches the server: it always answers, and says whether the database does."""
    try:
        async with asyncio.timeout(HEALTHY_SECONDS):
            await request.app.state.database.run(lambda tx: tx.one("SELECT 1"))
    except (TimeoutError, StorageLost):
        return JSONResponse({"ok": True, "database": False})
    return JSONResponse({"ok": True, "database": True})


async def login_page(request: Request) -> Response:
    return page(request, "login.html", next=request.query_params.get("next", ""), wrong=False)


async def log_in(request: Request) -> Response:
    login: ExperimenterLogin = request.app.state.login
    if wait := login.tries.take(security.address_of(request.scope)):
        raise Refused(429, f"Too many tries; wait {math.ceil(wait)} s.")
    sent = await security.form_of(request)
    wanted = sent.get("next", "")
    cookie = login.enter(sent.get("secret", ""))
    if cookie is None:
        return page(request, "login.html", 403, next=wanted, wrong=True)
    response = RedirectResponse(security.next_page(wanted), 303)
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


ROUTES: list[BaseRoute] = [
    Route("/", lobby_page),
    Route("/table", table_page),
    Route("/healthy", healthy),
    *api.ROUTES,
    Route("/experimenter/login", login_page),
    Route("/experimenter/login", log_in, methods=["POST"]),
    Route("/experimenter/logout", security.experimenter_required(log_out), methods=["POST"]),
]
