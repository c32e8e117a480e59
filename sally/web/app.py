"""The web application: who asks what under which address."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.runner.budget import Meter
from sally.web import experimenter, explorer, guard, people
from sally.web.book import SCHEMA, Book, Doubled, StorageFull, StorageLost
from sally.web.guard import Door, Guard, Rates, Refused, bearer, json_of, page, refusal
from sally.web.house import House, NoSuchSeat
from sally.web.lobby import Busy, Lobby
from sally.web.room import GivenUp, Room
from sally.web.sight import Sight, since

LOG = logging.getLogger("sally.web")
HERE = Path(__file__).parent
LONG_POLL = 25.0  # seconds; less than proxies wait
EXACT = 2**53  # whole numbers beyond this are not the same to every reader of JSON
KEY = 64  # characters of a client's key, at most
OWN = 43  # characters of a token of its own making, at least
NAME = 100  # characters of a name


class Settings(msgspec.Struct, frozen=True):
    """How a server is set up."""

    database: str = "sally-serve/book.sqlite"
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


def make_app(settings: Settings, meter: Meter | None = None) -> Starlette:
    """The application; the database is opened when it starts."""
    book = Book(settings.database, (*SCHEMA, *people.SCHEMA))
    house = House(book, settings.out, settings.patience, meter)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        book.open()
        await house.start()
        try:
            await people.start(app)
            # Building every bot once takes a second, which the first visitor need not wait for.
            ready = asyncio.create_task(asyncio.to_thread(app.state.lobby.offers))
            yield
            await asyncio.gather(ready, return_exceptions=True)
        finally:
            await house.close()
            book.close()

    app = Starlette(
        routes=[
            *ROUTES,
            *people.ROUTES,
            *experimenter.ROUTES,
            *explorer.ROUTES,
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        middleware=[Middleware(Guard, hosts=settings.hosts, a_second=settings.a_second)],
        exception_handlers=dict.fromkeys(FAILURES, _failed) | {Exception: _broken},
        lifespan=life,
    )
    app.state.settings, app.state.book, app.state.house = settings, book, house
    app.state.lobby = Lobby(house, settings.models, settings.most_open)
    app.state.door = Door(settings.secret or secrets.token_urlsafe(24))
    app.state.rates = Rates(20, 60)  # requests with one token
    # Tables from one address: nobody alone should be able to take all that there are.
    app.state.openings = Rates(settings.a_second / 100, 2 * settings.a_second)
    app.state.templates = Jinja2Templates(directory=HERE / "templates")
    return app


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
        StorageLost: "The database cannot be reached, so nothing was changed; try again later.",
    }.get(type(why), str(why))
    if isinstance(why, StorageFull | StorageLost):
        LOG.error("storage: %s", why)
    return refusal(Refused(status, said))


async def _broken(request: Request, why: Exception) -> Response:
    """Whatever we did not think of: the log has it, the world only hears that it happened."""
    response = refusal(Refused(500, "Something went wrong here; it has been noted."))
    response.raw_headers.extend(guard.HEADERS)  # this one does not pass the guard
    return response


# --- reading what was sent ----------------------------------------------------------------------


def text_of(sent: Mapping[str, Any], name: str, default: str | None = None, most: int = 200) -> str:
    """A text field of a request."""
    value = sent.get(name, default)
    if not isinstance(value, str) or len(value) > most:
        raise Refused(400, f"{name} must be a text of at most {most} characters.")
    return value


def mapping_of(sent: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = sent.get(name, {})
    if not isinstance(value, dict) or any(len(key) > NAME for key in value):
        raise Refused(400, f"{name} must be an object, with names of at most {NAME} characters.")
    return value


def only(sent: Mapping[str, Any], *names: str) -> None:
    """Refuse what nobody asked for: a misspelt field would be ignored in silence."""
    for name in sent:
        if name not in names:
            known = f"one of {', '.join(names)}" if names else "wanted here"
            raise Refused(400, f"{name[:60]!r} is not {known}.")


def key_of(sent: Mapping[str, Any]) -> str:
    """The client's own name for what it does, so that doing it twice does it once."""
    key = text_of(sent, "key", most=KEY)
    if not key or not key.isascii() or not key.isprintable():
        raise Refused(400, f"key must be 1 to {KEY} plain characters, unique to this answer.")
    return key


def number_of(request: Request, name: str) -> int | None:
    given = request.query_params.get(name)
    if given is None:
        return None
    if not given.isascii() or not given.isdigit() or len(given) > 15:
        raise Refused(400, f"{name} must be a whole number.")
    return int(given)


def answer(value: Any, status: int = 200) -> Response:
    """JSON as msgspec writes it: structs included, and quickly."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


# --- the lobby ----------------------------------------------------------------------------------


async def games(request: Request) -> Response:
    return answer(request.app.state.lobby.offers())


def refuse_too_many(request: Request) -> None:
    """A table holds memory and disk for a while, so it costs more than a look."""
    if wait := request.app.state.openings.take(guard.address_of(request.scope)):
        raise Refused(429, f"Too many tables were opened from here; wait {wait:.1f} s.")


async def open_table(request: Request) -> Response:
    refuse_too_many(request)
    sent = await json_of(request)
    only(sent, "game", "seat", "others", "params", "probes")
    others, probes = mapping_of(sent, "others"), sent.get("probes", [])
    if not all(isinstance(who, str) for who in others.values()):
        raise Refused(400, "others must give a player's name for each seat.")
    if not isinstance(probes, list) or not all(isinstance(p, str) for p in probes):
        raise Refused(400, "probes must be a list of names.")
    seat = text_of(sent, "seat", "")
    lobby: Lobby = request.app.state.lobby
    opened = await lobby.open(
        text_of(sent, "game"), seat, others, mapping_of(sent, "params"), probes
    )
    mine = seat or next(iter(opened.tokens))
    invites = {s: token for s, token in opened.tokens.items() if s != mine}
    return answer({"token": opened.tokens[mine], "invites": invites}, 201)


async def get_in_line(request: Request) -> Response:
    refuse_too_many(request)
    sent = await json_of(request)
    only(sent, "game")
    return answer({"ticket": await request.app.state.lobby.wait(text_of(sent, "game"))}, 201)


async def in_line(request: Request) -> Response:
    ticket = bearer(request)
    seconds = LONG_POLL if request.query_params.get("wait") == "1" else 0.0
    try:
        seated, waiting, needed = await request.app.state.lobby.called(ticket, seconds)
    except LookupError:
        raise Refused(401, "This ticket is not known.") from None
    token = ticket if seated else None
    return answer({"token": token, "waiting": waiting, "needed": needed})


async def leave_line(request: Request) -> Response:
    ticket = bearer(request)
    only(await json_of(request))
    return answer({"left": await request.app.state.lobby.leave(ticket)})


# --- a seat -------------------------------------------------------------------------------------


def token_of(request: Request) -> str:
    """The seat's token, if it does not come too often."""
    token = bearer(request)
    if wait := request.app.state.rates.take(token):
        raise Refused(429, f"Too many requests; wait {wait:.1f} s.")
    return token


async def at_seat(request: Request, token: str, act: Callable[[Room, str], Awaitable[Any]]) -> Any:
    return await request.app.state.house.at(token, act)


async def take(request: Request) -> Response:
    """Whoever comes first by an invitation has the seat: who sent the link cannot look in."""
    token, sent = token_of(request), await json_of(request)
    only(sent, "token")
    own = text_of(sent, "token", most=KEY)
    if len(own) < OWN or not own.isascii() or not own.isalnum() or own == token:
        raise Refused(400, f"token must be {OWN} to {KEY} letters and digits of your own making.")
    try:
        await request.app.state.house.take(token, own)
    except (NoSuchSeat, Doubled):
        raise Refused(401, "This invitation was followed already, or it is not whole.") from None
    return answer({"token": own})


async def see(request: Request) -> Response:
    token = token_of(request)
    known, lines = number_of(request, "since"), number_of(request, "lines") or 0

    async def look(room: Room, seat: str) -> Sight:
        return await (room.sight(seat) if known is None else room.news(seat, known, LONG_POLL))

    return answer(since(await at_seat(request, token, look), lines))


async def say(request: Request) -> Response:
    token, sent = token_of(request), await json_of(request)
    only(sent, "ask", "value", "key")
    ask, key = text_of(sent, "ask"), key_of(sent)
    if "value" not in sent:
        raise Refused(400, "value is missing: the answer itself.")
    value = sent["value"]
    if not is_plain(value):
        raise Refused(400, "value holds a number that cannot be written down.")
    version = await at_seat(request, token, lambda room, seat: room.answer(seat, ask, value, key))
    return answer({"version": version})


async def look_up(request: Request) -> Response:
    token, sent = token_of(request), await json_of(request)
    only(sent, "ask", "tool", "arguments")
    ask, tool, given = text_of(sent, "ask"), text_of(sent, "tool"), mapping_of(sent, "arguments")
    if not all(isinstance(v, str) and len(v) <= 200 for v in given.values()):
        raise Refused(400, "arguments must be texts of at most 200 characters.")
    found = await at_seat(request, token, lambda room, seat: room.look(seat, ask, tool, given))
    return answer({"found": found})


async def leave(request: Request) -> Response:
    token, sent = token_of(request), await json_of(request)
    only(sent, "key")
    version = await at_seat(
        request, token, lambda room, seat: room.leave(seat, "the person left the table")
    )
    return answer({"version": version})


def is_plain(value: Any) -> bool:
    """Whether a value can be written down again as it was sent."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= EXACT
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return all(map(is_plain, value)) if isinstance(value, list) else True


# --- pages --------------------------------------------------------------------------------------


async def lobby_page(request: Request) -> Response:
    return page(request, "lobby.html")


async def table_page(request: Request) -> Response:
    return page(request, "table.html")


async def healthy(request: Request) -> Response:
    """For whoever watches the server: whether the database answers."""
    await request.app.state.book.run(lambda hand: hand.one("SELECT 1"))
    return answer({"ok": True})


async def login_page(request: Request) -> Response:
    return page(request, "login.html", next=request.query_params.get("next", ""), wrong=False)


async def log_in(request: Request) -> Response:
    door: Door = request.app.state.door
    sent = await guard.form_of(request)
    if wait := door.tries.take(guard.address_of(request.scope)):
        raise Refused(429, f"Too many tries; wait {math.ceil(wait)} s.")
    wanted = sent.get("next", "")
    cookie = door.enter(sent.get("secret", ""))
    if cookie is None:
        return page(request, "login.html", 403, next=wanted, wrong=True)
    response = RedirectResponse(guard.next_page(wanted), 303)
    response.set_cookie(
        guard.SESSION,
        cookie,
        max_age=guard.SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.app.state.settings.secure,
    )
    return response


async def log_out(request: Request) -> Response:
    request.app.state.door.leave(request)
    response = RedirectResponse("/", 303)
    response.delete_cookie(guard.SESSION, httponly=True, samesite="strict")
    return response


ROUTES: list[BaseRoute] = [
    Route("/", lobby_page),
    Route("/table", table_page),
    Route("/healthy", healthy),
    Route("/api/games", games),
    Route("/api/tables", open_table, methods=["POST"]),
    Route("/api/lobby", get_in_line, methods=["POST"]),
    Route("/api/lobby", in_line),
    Route("/api/lobby/leave", leave_line, methods=["POST"]),
    Route("/api/seat", see),
    Route("/api/seat/take", take, methods=["POST"]),
    Route("/api/seat/answer", say, methods=["POST"]),
    Route("/api/seat/look", look_up, methods=["POST"]),
    Route("/api/seat/leave", leave, methods=["POST"]),
    Route("/experimenter/login", login_page),
    Route("/experimenter/login", log_in, methods=["POST"]),
    Route("/experimenter/logout", guard.experimenter_required(log_out), methods=["POST"]),
]
