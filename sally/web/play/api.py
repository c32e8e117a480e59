"""The HTTP interface of the lobby and of a seat, under /api."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sally.web import security
from sally.web.database import DuplicateRow
from sally.web.live.match import LiveMatch
from sally.web.live.matches import NoSuchSeat
from sally.web.live.screen import Screen, since
from sally.web.play.lobby import Lobby
from sally.web.security import SMALL, Endpoint, RequestRefused, bearer, json_of

LONG_POLL = 25.0  # seconds; shorter than the time-outs of proxies
EXACT = 2**53  # larger integers are not exact in every JSON reader
KEY = 64  # most characters of an idempotency key
OWN = 43  # fewest characters of a token made by the client
NAME = 100  # most characters of a name


# --- request fields -----------------------------------------------------------------------------


def text_of(
    sent: Mapping[str, Any], name: str, default: str | None = None, longest: int = 200
) -> str:
    """Return a string field of a request."""
    value = sent.get(name, default)
    if not isinstance(value, str) or len(value) > longest:
        raise RequestRefused(400, f"{name} must be a string of at most {longest} characters.")
    return value


def mapping_of(sent: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = sent.get(name, {})
    if not isinstance(value, dict) or any(len(key) > NAME for key in value):
        raise RequestRefused(
            400, f"{name} must be an object with names of at most {NAME} characters."
        )
    return value


def only(sent: Mapping[str, Any], *names: str) -> None:
    """Raise Refused for unknown fields, because a misspelt field would be ignored silently."""
    for name in sent:
        if name not in names:
            known_fields = f"the fields are {', '.join(names)}" if names else "there are no fields"
            raise RequestRefused(400, f"Unknown field {name[:60]!r}; {known_fields}.")


def key_of(sent: Mapping[str, Any]) -> str:
    """Return the idempotency key of an answer; a key counts only once."""
    key = text_of(sent, "key", longest=KEY)
    if not key or not key.isascii() or not key.isprintable():
        raise RequestRefused(
            400, f"key must be 1 to {KEY} printable ASCII characters, unique to this answer."
        )
    return key


def numbers_of(request: Request, *names: str) -> list[int | None]:
    """Return integers from the query string, or None for those that are absent."""
    query = request.scope["query_string"].decode("latin-1").split("&")
    params = dict(part.partition("=")[::2] for part in query)
    return [_number(name, params.get(name)) for name in names]


def _number(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise RequestRefused(400, f"{name} must be a whole number.")
    return int(text)


def answer(value: Any, status: int = 200) -> Response:
    """Return a JSON response, encoded by msgspec."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


# --- the lobby ----------------------------------------------------------------------------------


async def games(request: Request) -> Response:
    return answer(request.app.state.lobby.offers())


def refuse_too_many(request: Request) -> None:
    """Raise Refused if an address opens too many tables, because each uses memory and disk
    space."""
    if wait := request.app.state.openings.take(security.address_of(request.scope)):
        raise RequestRefused(
            429, f"Too many tables were opened from this address; wait {wait:.1f} s."
        )


async def open_table(request: Request) -> Response:
    refuse_too_many(request)
    sent = await json_of(request)
    only(sent, "game", "seat", "others", "params", "probes", "problem")
    others, probes = mapping_of(sent, "others"), sent.get("probes", [])
    if not all(isinstance(player, str) for player in others.values()):
        raise RequestRefused(400, "others must map seats to names of players.")
    if not isinstance(probes, list) or not all(isinstance(p, str) for p in probes):
        raise RequestRefused(400, "probes must be a list of names.")
    seat = text_of(sent, "seat", "")
    lobby: Lobby = request.app.state.lobby
    opened = await lobby.open(
        text_of(sent, "game"),
        seat,
        others,
        mapping_of(sent, "params"),
        probes,
        text_of(sent, "problem", ""),
    )
    creator_seat = seat or next(iter(opened.tokens))
    invites = {s: token for s, token in opened.tokens.items() if s != creator_seat}
    return answer({"token": opened.tokens[creator_seat], "invites": invites}, 201)


async def get_in_line(request: Request) -> Response:
    refuse_too_many(request)
    sent = await json_of(request, SMALL)
    only(sent, "game")
    return answer({"ticket": await request.app.state.lobby.wait(text_of(sent, "game"))}, 201)


async def in_line(request: Request) -> Response:
    ticket = bearer(request)
    seconds = LONG_POLL if request.query_params.get("wait") == "1" else 0.0
    try:
        seated, waiting, needed = await request.app.state.lobby.queue_status(ticket, seconds)
    except LookupError:
        raise RequestRefused(401, "This ticket is unknown.") from None
    token = ticket if seated else None
    return answer({"token": token, "waiting": waiting, "needed": needed})


async def leave_line(request: Request) -> Response:
    ticket = bearer(request)
    only(await json_of(request, SMALL))
    return answer({"left": await request.app.state.lobby.leave(ticket)})


# --- a seat -------------------------------------------------------------------------------------


def token_of(request: Request) -> str:
    """Return the seat's token; raises Refused above the rate limit."""
    token = bearer(request)
    if wait := request.app.state.rates.take(token):
        raise RequestRefused(429, f"Too many requests; wait {wait:.1f} s.")
    return token


async def checked_token(request: Request) -> str:
    """Return the seat token after checking it, so that the body of an invalid request is not
    read."""
    token = token_of(request)
    await request.app.state.live_matches.resolve_token(token)
    return token


async def take(request: Request) -> Response:
    """Claim the seat of an invitation, so that the sender of the link can no longer open it."""
    token, sent = token_of(request), await json_of(request, SMALL)
    only(sent, "token")
    client_token = text_of(sent, "token", longest=KEY)
    if (
        len(client_token) < OWN
        or not client_token.isascii()
        or not client_token.isalnum()
        or client_token == token
    ):
        raise RequestRefused(
            400, f"token must be {OWN} to {KEY} letters and digits, generated by the client."
        )
    try:
        await request.app.state.live_matches.take(token, client_token)
    except (NoSuchSeat, DuplicateRow):
        raise RequestRefused(
            401, "This invitation was used already, or the link is incomplete."
        ) from None
    return answer({"token": client_token})


async def see(request: Request) -> Response:
    token = token_of(request)
    known_version, lines = numbers_of(request, "since", "lines")

    async def look(live: LiveMatch, seat: str) -> Screen:
        return await (
            live.screen(seat)
            if known_version is None
            else live.news(seat, known_version, LONG_POLL)
        )

    screen = await request.app.state.live_matches.act_on(token, look)
    # The token may have been replaced meanwhile.
    await request.app.state.live_matches.resolve_token(token)
    return answer(since(screen, lines or 0))


async def say(request: Request) -> Response:
    token = await checked_token(request)
    sent = await json_of(request)
    only(sent, "ask", "value", "key", "lines", "shown_seconds")
    ask, key = text_of(sent, "ask"), key_of(sent)
    if "value" not in sent:
        raise RequestRefused(400, "The field value (the answer) is missing.")
    value = sent["value"]
    if not is_plain(value):
        raise RequestRefused(400, "value contains a number that is not finite or is beyond 2**53.")
    lines = sent.get("lines")
    if lines is not None and (type(lines) is not int or not 0 <= lines <= EXACT):
        raise RequestRefused(400, "lines must be a whole number.")
    shown_seconds = sent.get("shown_seconds")
    if shown_seconds is not None and not (
        type(shown_seconds) in (int, float) and 0 <= shown_seconds <= EXACT
    ):
        raise RequestRefused(
            400, "shown_seconds must be 0 or more: the seconds since the question was shown."
        )
    screen = await request.app.state.live_matches.act_on(
        token, lambda live, seat: live.answer(seat, ask, value, key, shown_seconds)
    )
    if lines is None:
        return answer({"version": screen.version})
    return answer({"version": screen.version, "screen": since(screen, lines)})


async def check(request: Request) -> Response:
    token = await checked_token(request)
    sent = await json_of(request)
    only(sent, "ask", "value")
    ask, value = text_of(sent, "ask"), sent.get("value")
    if not is_plain(value):
        raise RequestRefused(400, "value contains a number that is not finite or is beyond 2**53.")
    problem = await request.app.state.live_matches.act_on(
        token, lambda live, seat: live.check(seat, ask, value)
    )
    return answer({"problem": problem})


async def look_up(request: Request) -> Response:
    token = await checked_token(request)
    sent = await json_of(request)
    only(sent, "ask", "tool", "arguments")
    ask, tool, arguments = (
        text_of(sent, "ask"),
        text_of(sent, "tool"),
        mapping_of(sent, "arguments"),
    )
    if not all(isinstance(v, str) and len(v) <= 200 for v in arguments.values()):
        raise RequestRefused(400, "arguments must be strings of at most 200 characters.")
    result = await request.app.state.live_matches.act_on(
        token, lambda live, seat: live.look(seat, ask, tool, arguments)
    )
    return answer({"found": result})


async def leave(request: Request) -> Response:
    token = await checked_token(request)
    sent = await json_of(request)
    only(sent, "key")
    version = await request.app.state.live_matches.act_on(
        token, lambda live, seat: live.leave(seat, "the person left the table")
    )
    return answer({"version": version})


def is_plain(value: Any) -> bool:
    """Return whether JSON represents a value exactly."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= EXACT
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return all(map(is_plain, value)) if isinstance(value, list) else True


# The most frequent requests; see `sally.web.app.FastPath`.
OFTEN: Mapping[tuple[str, str], Endpoint] = {
    ("GET", "/api/seat"): see,
    ("POST", "/api/seat/answer"): say,
}
LOBBY: list[BaseRoute] = [
    Route("/api/games", games),
    Route("/api/tables", open_table, methods=["POST"]),
    Route("/api/lobby", get_in_line, methods=["POST"]),
    Route("/api/lobby", in_line),
    Route("/api/lobby/leave", leave_line, methods=["POST"]),
]
ROUTES: list[BaseRoute] = [
    Route("/api/seat", see),
    Route("/api/seat/take", take, methods=["POST"]),
    Route("/api/seat/answer", say, methods=["POST"]),
    Route("/api/seat/check", check, methods=["POST"]),
    Route("/api/seat/look", look_up, methods=["POST"]),
    Route("/api/seat/leave", leave, methods=["POST"]),
]
