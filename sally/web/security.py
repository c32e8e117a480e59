"""What stands between the world and the table: sizes, rates, origins, headers, tokens."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache, wraps
from ipaddress import IPv6Address, IPv6Network
from itertools import accumulate
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64 * 1024  # of a request's body
BODY_SECONDS = 10.0  # in which a request's body has to arrive
SMALL = 4 * 1024  # of a body that holds no more than a token or two
MOST_DEPTH = 24  # of JSON within JSON; no form on the shelf needs half of it
MOST_BRACKETS = 4000  # of JSON; ten thousand lists wake the collector of garbage
MOST_SESSIONS = 100  # experimenters who are logged in at the same time
SESSION = "sally_experimenter"
SESSION_SECONDS = 12 * 3600
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Not no-referrer: under that a browser says `Origin: null` for our own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
# A text of JSON, or what begins like one and never ends: every byte is looked at once.
TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+[\\"]?', re.DOTALL)
NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")  # a sign of per cent that escapes nothing
STEP = {byte: 1 if byte in b"[{" else -1 for byte in b"[]{}"}
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
Endpoint = Callable[[Request], Awaitable[Response]]


class Refused(Exception):
    """A request that is not served, and why, in one sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


# --- reading a request --------------------------------------------------------------------------


def header(scope: Scope, name: bytes) -> str:
    """A header of a request, or nothing; of two the first counts."""
    for found, value in scope["headers"]:
        if found == name:
            text: str = value.decode("latin-1")
            return text
    return ""


async def body_of(request: Request, most: int = MOST_BYTES) -> bytes:
    """The body, if it is not too large; it is not read further than that."""
    declared = header(request.scope, b"content-length") or "0"
    digits = declared.isascii() and declared.isdigit() and len(declared) <= 12
    if not digits or int(declared) > most:
        raise Refused(413, f"This request may have at most {most} bytes.")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise Refused(413, f"This request may have at most {most} bytes.")
    except TimeoutError:
        raise Refused(408, "The request took too long to arrive.") from None
    except ClientDisconnect:
        raise Refused(400, "The connection was lost before the request was whole.") from None
    return bytes(body)


async def json_of(request: Request, most: int = MOST_BYTES) -> dict[str, Any]:
    """The JSON object of a request; depth is bounded before anything is decoded."""
    kind = header(request.scope, b"content-type").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(400, "Send JSON, with the content type application/json.")
    body = await body_of(request, most)
    if body.count(b"[") + body.count(b"{") > MOST_DEPTH:  # most bodies have two or three
        if depth(body) > MOST_DEPTH:
            raise Refused(400, f"The JSON is nested deeper than {MOST_DEPTH}.")
        if len(brackets_of(body)) > MOST_BRACKETS:
            raise Refused(400, f"The JSON has more than {MOST_BRACKETS} brackets.")
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError) as why:
        raise Refused(400, f"The request is not JSON: {why}.") from None
    if not isinstance(found, dict):
        raise Refused(400, "Send one JSON object.")
    return found


def depth(body: bytes) -> int:
    """How deep brackets stand within brackets outside of texts, at most; linear in the bytes."""
    return max(accumulate(map(STEP.__getitem__, brackets_of(body))), default=0)


def brackets_of(body: bytes) -> bytes:
    """The brackets outside of texts."""
    return TEXTS.sub(b"", body).translate(None, delete=NO_BRACKETS)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a plain HTML form; the last of two with one name counts."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused(400, "Send a form.")
    try:
        text = (await body_of(request)).decode("ascii")
        if NO_ESCAPE.search(text):  # of such, parse_qsl takes a tenth of a second for 64 KB
            raise ValueError
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200, errors="strict"))
    except (UnicodeDecodeError, ValueError):
        raise Refused(400, "The form cannot be read.") from None


def bearer(request: Request) -> str:
    """The token that a request carries."""
    scheme, _, token = header(request.scope, b"authorization").partition(" ")
    if scheme.lower() != "bearer" or not token or len(token) > 200:
        raise Refused(401, "This needs the token of a seat.")
    return token.strip()


# --- rates --------------------------------------------------------------------------------------


class RateLimiter:
    """Buckets that fill again: so many at once, so many a second."""

    def __init__(self, a_second: float, at_once: float, most: int = 20_000) -> None:
        self._rate, self._size, self._most = a_second, at_once, most
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, who: str, now: float | None = None) -> float:
        """0 when somebody may go on; else the seconds that they have to wait."""
        now = time.monotonic() if now is None else now
        left, then = self._buckets.get(who, (self._size, now))
        left = min(self._size, left + (now - then) * self._rate)
        if left < 1:
            self._buckets[who] = (left, now)
            return (1 - left) / self._rate
        if len(self._buckets) >= self._most:
            self._forget_full(now)
        self._buckets[who] = (left - 1, now)
        return 0.0

    def unlimited(self) -> RateLimiter:
        """One that lets everybody through, for rehearsals."""
        return RateLimiter(1e9, 1e9)

    def _forget_full(self, now: float) -> None:
        """Whoever has waited long enough is as good as new."""
        full = self._size / self._rate
        self._buckets = {who: b for who, b in self._buckets.items() if now - b[1] < full}
        if len(self._buckets) >= self._most:
            self._buckets.clear()  # a flood from everywhere; memory comes first


def address_of(scope: Scope) -> str:
    """Where a request comes from: under IPv6 the network, because a home has 2**64 addresses."""
    host: str = (scope.get("client") or ("", 0))[0]
    if ":" not in host:
        return host
    try:
        found = IPv6Address(host)
    except ValueError:
        return host
    return str(found.ipv4_mapped or IPv6Network((found, 64), strict=False))


# --- every request ------------------------------------------------------------------------------


class SecurityMiddleware:
    """ASGI middleware: hosts, origins and rates before, headers after."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] = (), a_second: float = 100.0) -> None:
        self._app, self._hosts = app, hosts
        self._rates = RateLimiter(a_second, 10 * a_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                set_already = {name.lower() for name, _ in message["headers"]}
                more = [h for h in HEADERS if h[0] not in set_already]
                if b"cache-control" not in set_already:
                    more.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *more]
            await send(message)

        try:
            self._check(scope)
        except Refused as why:
            await refusal(why)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _check(self, scope: Scope) -> None:
        if self._hosts or scope["method"] not in ("GET", "HEAD"):
            self._check_place(scope)
        if wait := self._rates.take(address_of(scope)):
            raise Refused(429, f"Too many requests; wait {wait:.1f} s.")

    def _check_place(self, scope: Scope) -> None:
        host = header(scope, b"host")
        if self._hosts and _place(f"//{host}")[0] not in self._hosts:
            raise Refused(400, "This server does not go by that name.")
        if scope["method"] not in ("GET", "HEAD"):
            refuse_other_sites(scope, host)


def refuse_other_sites(scope: Scope, host: str) -> None:
    """A page of another site may not act here, whatever its visitor is logged in to."""
    if header(scope, b"sec-fetch-site") not in ("", "same-origin", "none"):
        raise Refused(403, "Another site may not do this.")
    origin = header(scope, b"origin")
    if origin and _place(origin)[1] != host:
        raise Refused(403, "Another site may not do this.")


@lru_cache(1000)  # every move comes with an origin, and most have the same
def _place(address: str) -> tuple[str | None, str | None]:
    """The name, and the name with its port, that an address has."""
    try:
        parts = urlsplit(address)
        return parts.hostname, parts.netloc
    except ValueError:
        return None, None


def refusal(why: Refused) -> Response:
    """An error as everybody gets it: a status and one sentence."""
    headers = {"retry-after": "1"} if why.status in (429, 503, 507) else None
    return JSONResponse({"error": why.why}, why.status, headers)


def page(request: Request, name: str, status: int = 200, **facts: Any) -> Response:
    """A page from its template; everything in it is escaped, and `t` has its sentences."""
    facts = {"t": request.app.state.texts, "study": None, **facts}
    found: Response = request.app.state.templates.TemplateResponse(request, name, facts, status)
    return found


# --- the experimenter ---------------------------------------------------------------------------


class ExperimenterLogin:
    """The experimenter's secret, and who has shown it."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._sessions: dict[str, tuple[str, float]] = {}  # cookie -> form token, until when
        self.tries = RateLimiter(1 / 10, 5)  # guesses at the secret from one address

    def enter(self, given: str) -> str | None:
        """A session's cookie for whoever knows the secret."""
        if not secrets.compare_digest(given.encode(), self._secret.encode()):
            return None
        now = time.time()
        live = {c: s for c, s in self._sessions.items() if s[1] > now}
        self._sessions = dict(list(live.items())[-MOST_SESSIONS + 1 :])
        cookie = secrets.token_urlsafe(32)
        self._sessions[cookie] = (secrets.token_urlsafe(32), now + SESSION_SECONDS)
        return cookie

    def form_token(self, request: Request) -> str | None:
        """What every form of this session carries; None without a session."""
        found = self._sessions.get(request.cookies.get(SESSION, ""))
        return found[0] if found is not None and found[1] > time.time() else None

    def leave(self, request: Request) -> None:
        self._sessions.pop(request.cookies.get(SESSION, ""), None)


def form_token(request: Request) -> str:
    """The hidden field `form_token` of a form on an experimenter's page."""
    return request.app.state.login.form_token(request) or ""


def experimenter_required(endpoint: Endpoint) -> Endpoint:
    """An endpoint for experimenters only: GET leads to the login, POST needs the form token.

    On POST the form's fields stand in `request.state.form`.
    """

    @wraps(endpoint)
    async def guarded(request: Request) -> Response:
        expected = request.app.state.login.form_token(request)
        if expected is None:
            if request.method in ("GET", "HEAD"):
                url = request.url  # with its query: a link to one turn leads there
                wanted = quote(f"{url.path}?{url.query}" if url.query else url.path, safe="/")
                return RedirectResponse(f"/experimenter/login?next={wanted}", 303)
            raise Refused(401, "Log in as the experimenter first.")
        if request.method not in ("GET", "HEAD"):
            form = await form_of(request)
            if not secrets.compare_digest(form.get("form_token", "").encode(), expected.encode()):
                raise Refused(403, "The form is too old; load the page again.")
            request.state.form = form
        return await endpoint(request)

    return guarded


def next_page(given: str) -> str:
    """Where to go after the login: a path of ours, or the study pages."""
    safe = given.startswith("/") and not given.startswith("//") and "\\" not in given
    return given if safe else "/experimenter"
