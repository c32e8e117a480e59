"""Classification of provider errors by kind; messages never contain keys or headers."""

from __future__ import annotations

import re

from sally.core.prompt.model import FaultKind, ModelFailure
from sally.core.redaction import without_credentials, without_keys
from sally.models.chat_server import retry_after

# Providers raise their own types; only type names and status codes are comparable.
BY_NAME: tuple[tuple[str, FaultKind], ...] = (
    ("RateLimit", "rate_limit"),
    ("Timeout", "timeout"),
    ("Authentication", "auth"),
    ("PermissionDenied", "auth"),
    ("InternalServer", "server"),
    ("ServiceUnavailable", "server"),
    ("Overloaded", "server"),
    ("JSONDecode", "bad_reply"),
    ("UnicodeDecode", "bad_reply"),
    ("Validation", "bad_reply"),
    ("Connect", "connection"),
    ("RemoteProtocol", "connection"),
    ("ReadError", "connection"),
    ("BadRequest", "bad_request"),
    ("NotFound", "bad_request"),
    ("UnprocessableEntity", "bad_request"),
)
BY_STATUS: dict[int, FaultKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    429: "rate_limit",
}
# Messages of Python or of a client library that tell a user nothing about the server
INTERNAL = re.compile(
    r"'\w+' object|object (is|has|does|of type)\b|NoneType|<class |positional argument|"
    r"keyword argument|codec can't|list index|validation error|Expecting value|"
    r"(?:line|column) \d+|0x[0-9a-f]{6,}|^'?\w+'?$"
)
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")  # codes of OpenAI
LONGEST = 300  # characters of a detail
PLAIN: dict[FaultKind, str] = {
    "rate_limit": "The server asks to send fewer calls.",
    "server": "The server failed.",
    "timeout": "No answer came in time.",
    "connection": "No connection could be made.",
    "bad_reply": "The answer is not a chat completion.",
    "auth": "The key was refused.",
    "quota": "The quota is used up.",
    "bad_request": "The server refused the call.",
}


def failure_of(error: BaseException, address: str | None = None) -> ModelFailure:
    """Return the failure that an exception, with its causes, represents.

    The failure's detail is the server's message, or a standard sentence if the server sent none,
    followed by the address.
    """
    chain = causes(error)
    kinds = (k for cause in chain if (k := _kind(cause)) is not None)
    kind: FaultKind = next(kinds, "bad_reply")
    speaking = [c for c in chain if getattr(c, "last_attempt", None) is None]  # tenacity's is empty
    detail = next((text for cause in speaking if (text := " ".join(str(cause).split()))), "")
    if not detail or INTERNAL.search(detail):
        detail = PLAIN.get(kind, "The call failed.")
    detail = without_credentials(without_keys(detail))[:LONGEST]
    address_text = f" (at {address})" if address else ""
    return ModelFailure(kind, f"{detail.rstrip('.')}{address_text}.", _retry_after(chain))


def _kind(error: BaseException) -> FaultKind | None:
    status = getattr(error, "status_code", None)
    if getattr(error, "code", None) in NO_QUOTA:  # sent with 429, but no wait helps
        return "quota"
    if isinstance(status, int) and status >= 500:
        return "server"
    if status in BY_STATUS:
        return BY_STATUS[status]
    name = type(error).__name__
    return next((kind for part, kind in BY_NAME if part in name), None)


def _retry_after(errors: list[BaseException]) -> float | None:
    """Return the seconds to wait according to the first Retry-After header of these errors."""
    all_headers = (getattr(getattr(error, "response", None), "headers", None) for error in errors)
    values = (headers.get("retry-after") for headers in all_headers if headers is not None)
    return retry_after(next(filter(None, values), None))


def causes(error: BaseException | None) -> list[BaseException]:
    """Return an exception and its causes, outermost first."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        last = getattr(error, "last_attempt", None)  # tenacity stores the cause here
        inner = last.exception() if last is not None else None
        error = inner or error.__cause__ or error.__context__
    return chain
