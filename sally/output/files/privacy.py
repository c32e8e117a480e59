"""Detection of private data, API keys and local paths, before sharing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

KEY = re.compile(
    r"\bsk-[\w-]{16,}|\bAIza[\w-]{30,}|\bgh[pousr]_\w{30,}|\bhf_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bxox[abprs]-[\w-]{10,}|\bBearer [\w.~+/-]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|://[^/\s:@]+:[^/\s@]+@|://\S*[?&](?i:[\w-]*(?:key|token|secret|password|sig)[\w-]*)=[^&\s\"']+"
)
KEY_NAME = re.compile(r"(?i)(api[_-]?key|authorization|access[_-]?token)$")
PATH = re.compile(
    r"(?<![\w./])/(?:home|Users|root|tmp|var|mnt|media|opt|srv|usr|private|work|data|scratch)/[^\s\"']+"
    r"|(?<!\w)[A-Za-z]:\\[^\s\"']+|(?<![\w/])~/[^\s\"']+|\bfile://\S+"
)
# Quick check: every key and path contains one of these.
TRACE = re.compile(
    rb"sk-|AIza|gh[pousr]_|hf_|AKIA|xox[abprs]-|Bearer |PRIVATE KEY|://|:\\\\|~/"
    rb"|/(?:home|Users|root|tmp|var|mnt|media|opt|srv|usr|private|work|data|scratch)/"
    rb"|[aA][pP][iI][_-]?[kK][eE][yY]|uthorization|ccess[_-]?[tT]oken"
)
SPOKEN: Final = frozenset({"reply", "reasoning", "memory", "found"})  # words of players


def private_part(data: bytes) -> str | None:
    """Return where a record (JSON or plain text) contains an API key or a local path; None if
    nowhere.

    Paths in texts that players wrote are ignored; keys are not.
    """
    if not TRACE.search(data):
        return None
    try:
        plain = msgspec.json.decode(data)
    except msgspec.DecodeError:
        plain = data.decode("utf-8", "replace")
    for location, name, value, spoken in _texts(plain, "", "", False):
        if KEY.search(value) or (KEY_NAME.search(name) and value):
            return f"{location or 'it'} looks like a key or a password"
        if not spoken and (path := PATH.search(value)):
            return f"{location or 'it'} contains a local path, {path.group()!r}"
    return None


def _texts(
    plain: Any, location: str, name: str, spoken: bool
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield every text of a record: its path, field name, value, and whether a player said it."""
    if isinstance(plain, str):
        yield location, name, plain, spoken
    elif isinstance(plain, dict):
        for key, value in plain.items():
            yield f"{location}/{key}", "", key, spoken
            yield from _texts(value, f"{location}/{key}", key, spoken or key in SPOKEN)
    elif isinstance(plain, list):
        for n, value in enumerate(plain):
            yield from _texts(value, f"{location}/{n}", name, spoken)
