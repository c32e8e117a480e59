"""Request limits, rate limits, origin checks, security headers and the experimenter's login."""

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

from sally.web.live.screen_text import shorten
from sally.web.texts import Texts

MOST_BYTES = 64 * 1024  # in a request's body
BODY_SECONDS = 10.0  # for a request's body to arrive
SMALL = 4 * 1024  # bytes of a body that holds only a token or two
MOST_DEPTH = 24  # nesting of JSON; the deepest form of a shipped game needs less than half
MOST_BRACKETS = 4000  # of JSON; ten thousand lists would trigger garbage collection
MOST_SESSIONS = 100  # concurrent experimenter logins
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
    # Not no-referrer: with it browsers send `Origin: null` for our own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
# A JSON string, terminated or not; possessive, so every byte is read once.
TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+[\\"]?', re.DOTALL)
NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")  # a percent sign that is not an escape
STEP = {byte: 1 if byte in b"[{" else -1 for byte in b"[]{}"}
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
Endpoint = Callable[[Request], Awaitable[Response]]


class RequestRefused(Exception):
    """A refused request: HTTP status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.why = status, reason


# --- reading a request --------------------------------------------------------------------------


def header(scope: Scope, name: bytes) -> str:
    """Return the first header of that name, or an empty string."""
    for header_name, value in scope["headers"]:
        if header_name == name:
            text: str = value.decode("latin-1")
            return text
    return ""


async def body_of(request: Request, max_bytes: int = MOST_BYTES) -> bytes:
    """Return the body; stops reading and raises Refused after `max_bytes` bytes."""
    declared = header(request.scope, b"content-length") or "0"
    digits = declared.isascii() and declared.isdigit() and len(declared) <= 12
    if not digits or int(declared) > max_bytes:
        raise RequestRefused(413, f"This request may have at most {max_bytes} bytes.")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > max_bytes:
                    raise RequestRefused(413, f"This request may have at most {max_bytes} bytes.")
    except TimeoutError:
        raise RequestRefused(408, "The request took too long to arrive.") from None
    except ClientDisconnect:
        raise RequestRefused(
            400, "The connection was lost before the request was complete."
        ) from None
    return bytes(body)


async def json_of(request: Request, max_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Return the JSON object of a request; nesting is checked before decoding."""
    kind = header(request.scope, b"content-type").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestRefused(400, "Send JSON, with the content type application/json.")
    body = await body_of(request, max_bytes)
    if body.count(b"[") + body.count(b"{") > MOST_DEPTH:  # most bodies have two or three
        if depth(body) > MOST_DEPTH:
            raise RequestRefused(400, f"The JSON is nested deeper than {MOST_DEPTH}.")
        if len(brackets_of(body)) > MOST_BRACKETS:
            raise RequestRefused(400, f"The JSON has more than {MOST_BRACKETS} brackets.")
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise RequestRefused(400, f"The request is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise RequestRefused(400, "Send one JSON object.")
    return content


def depth(body: bytes) -> int:
    """Return the maximum nesting depth outside strings, in linear time."""
    return max(accumulate(map(STEP.__getitem__, brackets_of(body))), default=0)


def brackets_of(body: bytes) -> bytes:
    """Return the brackets outside strings."""
    return TEXTS.sub(b"", body).translate(None, delete=NO_BRACKETS)


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a URL-encoded form; if a name occurs more than once, the last value
    counts."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise RequestRefused(
            400, "Send a form, with the content type application/x-www-form-urlencoded."
        )
    try:
        text = (await body_of(request)).decode("ascii")
        if NO_ESCAPE.search(text):  # parse_qsl would take 0.1 s for 64 KB of these
            raise ValueError
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200, errors="strict"))
    except (UnicodeDecodeError, ValueError):
        raise RequestRefused(400, "The form cannot be read.") from None


def bearer(request: Request) -> str:
    """Return the bearer token of a request."""
    scheme, _, token = header(request.scope, b"authorization").partition(" ")
    if scheme.lower() != "bearer" or not token or len(token) > 200:
        raise RequestRefused(401, "A seat token is needed: `Authorization: Bearer TOKEN`.")
    return token.strip()


# --- rates --------------------------------------------------------------------------------------


class RateLimiter:
    """Token buckets by client, which allow `burst` requests at once and `a_second` per second after
    that."""

    def __init__(self, a_second: float, burst: float, max_clients: int = 20_000) -> None:
        self._rate, self._size, self._most = a_second, burst, max_clients
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str, now: float | None = None) -> float:
        """Count a request; return 0 if it is allowed, else the seconds to wait."""
        now = time.monotonic() if now is None else now
        tokens, last_time = self._buckets.get(client, (self._size, now))
        tokens = min(self._size, tokens + (now - last_time) * self._rate)
        if tokens < 1:
            self._buckets[client] = (tokens, now)
            return (1 - tokens) / self._rate
        if len(self._buckets) >= self._most:
            self._forget_full(now)
        self._buckets[client] = (tokens - 1, now)
        return 0.0

    def give_back(self, client: str) -> None:
        """Undo the last `take` of a client whose request turned out to be harmless."""
        if client in self._buckets:
            tokens, last_time = self._buckets[client]
            self._buckets[client] = (min(self._size, tokens + 1), last_time)

    def _forget_full(self, now: float) -> None:
        """Forget the clients whose token buckets have filled up again; if there are still too many,
        forget all."""
        full = self._size / self._rate
        self._buckets = {client: b for client, b in self._buckets.items() if now - b[1] < full}
        if len(self._buckets) >= self._most:
            self._buckets.clear()  # a distributed flood; bound the memory


def address_of(scope: Scope) -> str:
    """Return the client's address; for IPv6 its /64 network, because one household may have 2**64
    addresses."""
    host: str = (scope.get("client") or ("", 0))[0]
    if ":" not in host:
        return host
    try:
        ip_address = IPv6Address(host)
    except ValueError:
        return host
    return str(ip_address.ipv4_mapped or IPv6Network((ip_address, 64), strict=False))


# --- every request ------------------------------------------------------------------------------


class SecurityMiddleware:
    """ASGI middleware: checks host, origin and rate, and adds security headers."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] = (), a_second: float = 100.0) -> None:
        self._app, self._hosts = app, hosts
        self._rates = RateLimiter(a_second, 10 * a_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                set_already = {name.lower() for name, _ in message["headers"]}
                extra_headers = [h for h in HEADERS if h[0] not in set_already]
                if b"cache-control" not in set_already:
                    extra_headers.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *extra_headers]
            await send(message)

        try:
            self._check(scope)
        except RequestRefused as error:
            await refusal(error)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> None:
        if self._hosts or scope["method"] not in ("GET", "HEAD"):
            self._check_place(scope)
        if wait := self._rates.take(address_of(scope)):
            raise RequestRefused(429, f"Too many requests; wait {wait:.1f} s.")

    def _check_place(self, scope: Scope) -> None:
        host = header(scope, b"host")
        if self._hosts and _place(f"//{host}")[0] not in self._hosts:
            raise RequestRefused(400, "The host name is not one of this server's.")
        if scope["method"] not in ("GET", "HEAD"):
            refuse_other_sites(scope, host)


def refuse_other_sites(scope: Scope, host: str) -> None:
    """Refuse requests made by pages of other sites (cross-site request forgery)."""
    if header(scope, b"sec-fetch-site") not in ("", "same-origin", "none"):
        raise RequestRefused(403, "Requests from other sites are not allowed.")
    origin = header(scope, b"origin")
    if origin and _place(origin)[1] != host:
        raise RequestRefused(403, "Requests from other sites are not allowed.")


@lru_cache(1000)  # every move carries an origin, mostly the same one
def _place(address: str) -> tuple[str | None, str | None]:
    """Return the host name of an address, and the host name with its port."""
    try:
        parts = urlsplit(address)
        return parts.hostname, parts.netloc
    except ValueError:
        return None, None


def refusal(error: RequestRefused) -> Response:
    """Return the JSON response of a refused request."""
    headers = {"retry-after": "1"} if error.status in (429, 503, 507) else None
    return JSONResponse({"error": shorten(error.why)}, error.status, headers)


def texts_for(request: Request) -> Texts:
    """Return the texts of the study that a page belongs to, or the server's texts."""
    texts: Texts = getattr(request.state, "texts", request.app.state.texts)
    return texts


def page(request: Request, name: str, status: int = 200, **facts: Any) -> Response:
    """Render a page template with autoescaping; `t` holds the texts."""
    facts = {"t": texts_for(request), "study": None, **facts}
    response: Response = request.app.state.templates.TemplateResponse(request, name, facts, status)
    return response


# --- the experimenter ---------------------------------------------------------------------------


class ExperimenterLogin:
    """The login of the experimenter: the secret and the open sessions."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._sessions: dict[str, tuple[str, float]] = {}  # cookie -> form token, expiry
        self.tries = RateLimiter(1 / 10, 5)  # login attempts per address

    def enter(self, secret: str) -> str | None:
        """Return a new session cookie, or None if the secret is wrong."""
        if not secrets.compare_digest(secret.encode(), self._secret.encode()):
            return None
        now = time.time()
        live = {c: s for c, s in self._sessions.items() if s[1] > now}
        self._sessions = dict(list(live.items())[-MOST_SESSIONS + 1 :])
        cookie = secrets.token_urlsafe(32)
        self._sessions[cookie] = (secrets.token_urlsafe(32), now + SESSION_SECONDS)
        return cookie

    def form_token(self, request: Request) -> str | None:
        """Return the form token of the request's session, or None without a session."""
        session = self._sessions.get(request.cookies.get(SESSION, ""))
        return session[0] if session is not None and session[1] > time.time() else None

    def leave(self, request: Request) -> None:
        self._sessions.pop(request.cookies.get(SESSION, ""), None)


def form_token(request: Request) -> str:
    """Return the value of the hidden field `form_token` on experimenter pages."""
    return request.app.state.login.form_token(request) or ""


def experimenter_required(endpoint: Endpoint) -> Endpoint:
    """Restrict an endpoint to experimenters: GET redirects to the login, POST needs the form token.

    On POST the form's fields are in `request.state.form`.
    """

    @wraps(endpoint)
    async def check_login(request: Request) -> Response:
        expected = request.app.state.login.form_token(request)
        if expected is None:
            if request.method in ("GET", "HEAD"):
                url = request.url  # including the query, so links to a turn work
                next_address = quote(f"{url.path}?{url.query}" if url.query else url.path, safe="/")
                return RedirectResponse(f"/experimenter/login?next={next_address}", 303)
            raise RequestRefused(401, "Log in as the experimenter first.")
        if request.method not in ("GET", "HEAD"):
            form = await form_of(request)
            if not secrets.compare_digest(form.get("form_token", "").encode(), expected.encode()):
                raise RequestRefused(403, "The form has expired; reload the page.")
            request.state.form = form
        return await endpoint(request)

    return check_login


def next_page(address: str) -> str:
    """Return the page after the login: `address` if it is a local path, else the overview."""
    safe = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return address if safe else "/experimenter"
