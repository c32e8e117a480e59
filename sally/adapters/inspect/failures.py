"""What providers raise, by our kinds of failure. No key and no header ever enters the text."""

from __future__ import annotations

import re

from sally.core.model import FaultKind, ModelFailure

# Providers raise their own types; their names and status codes are what they have in common.
BY_NAME: tuple[tuple[str, FaultKind], ...] = (
    ("RateLimit", "rate_limit"),
    ("Timeout", "timeout"),
    ("Authentication", "auth"),
    ("PermissionDenied", "auth"),
    ("InternalServer", "server"),
    ("ServiceUnavailable", "server"),
    ("Overloaded", "server"),
    ("Connect", "connection"),
    ("RemoteProtocol", "connection"),
    ("ReadError", "connection"),
    ("JSONDecode", "bad_reply"),
    ("UnicodeDecode", "bad_reply"),
    ("Validation", "bad_reply"),
    ("BadRequest", "bad_request"),
    ("NotFound", "bad_request"),
)
SECRET = re.compile(r"(?i)(sk-|key[=: ]+|bearer )[\w.*-]{6,}")


def failure_of(error: BaseException) -> ModelFailure:
    """The failure that an exception stands for, through its causes."""
    detail = SECRET.sub(r"\1[removed]", " ".join(str(error).split()))[:300]
    for cause in _chain(error):
        kind = _kind(cause)
        if kind is not None:
            return ModelFailure(kind, detail or type(cause).__name__)
    return ModelFailure("bad_reply", detail or type(error).__name__)


def _kind(error: BaseException) -> FaultKind | None:
    status = getattr(error, "status_code", None)
    if status == 429:
        return "rate_limit"
    if isinstance(status, int) and status >= 500:
        return "server"
    name = type(error).__name__
    return next((kind for part, kind in BY_NAME if part in name), None)


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        last = getattr(error, "last_attempt", None)  # tenacity hides the cause in here
        inner = last.exception() if last is not None else None
        error = inner or error.__cause__ or error.__context__
    return found
