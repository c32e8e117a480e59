"""Redact API keys: what a provider sends, errors and addresses are stored and printed without them.

A record is changed only where it quotes a provider: in a reply, its reasoning, its tool calls and
the detail of a failure. There, a key that was sent to a provider is replaced; in the detail of a
failure, so are the keys in the environment, because a client library may quote them. A key of fewer
than `SHORTEST_KEY` characters is never searched for: it would be found in ordinary words.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from urllib.parse import urlsplit, urlunsplit

from sally.core.errors import BadInput

SHORTEST_KEY = 8  # characters of a key that is redacted
SHORTEST = 12  # characters of a part of a key, or of an encoded key, that is redacted
HIDDEN = "[key]"
_NAMED = re.compile(r"(?i).*(apikey|_key|secret|token|password)(_.*)?")  # variables that hold keys
_TOKEN = re.compile(r"[\w.+/=~:-]+")  # keys have no spaces; texts with spaces are matched whole
_STEP = SHORTEST // 2  # every part of SHORTEST characters holds an aligned block of this length
_LIKE_A_KEY = re.compile(r"(?i)(sk-|key[=:] *|bearer )[\w.*-]{6,}")
_used_keys: set[str] = set()  # keys that were used in this process


def remember(key: str) -> str:
    """Register a key that is about to be sent to a provider, and return it."""
    if len(key) >= SHORTEST_KEY and key not in _used_keys:
        _used_keys.add(key)
        known_keys.cache_clear()
    return key


def scrub(text: str) -> str:
    """Return an error message without the keys of this process: those that were sent to a provider
    and those in the environment.

    A part of a key is removed if it has at least `SHORTEST` characters. Keys in base64 or
    hexadecimal digits are removed as well.
    """
    return _without(text, known_keys())


def reply_without_keys(text: str) -> str:
    """Return a text of a model without the keys that were sent to a provider, as `scrubbed` does.

    A model can repeat a key only if it was sent to its provider, so other secrets of the
    environment, which may be ordinary words, are left alone.
    """
    return _without(text, sent_keys())


def _without(text: str, keys: tuple[str, ...]) -> str:
    for key in keys:
        if key in text:
            text = text.replace(key, HIDDEN)
    for needle, blocks in _needles(keys):
        if any(block in text for block in blocks):
            text = _without_parts(text, needle)
    return text


def without_keys(text: str) -> str:
    """Return the text with all keys of this process, and everything that looks like a key,
    removed."""
    return _LIKE_A_KEY.sub(r"\1[removed]", scrub(text))


@cache
def known_keys() -> tuple[str, ...]:
    """Return the keys that were sent or are in the environment, the longest first."""
    return tuple(sorted({*_used_keys, *_in_environment()}, key=len, reverse=True))


def sent_keys() -> tuple[str, ...]:
    """Return the keys that were sent to a provider, the longest first."""
    return tuple(sorted(_used_keys, key=len, reverse=True))


def _in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if len(value) >= SHORTEST_KEY and not value.startswith("/") and _NAMED.fullmatch(name):
            yield value


@lru_cache(maxsize=8)
def _needles(keys: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return each key and each of its encodings, together with the consecutive short blocks of its
    characters."""
    forms = dict.fromkeys(
        form
        for key in keys
        if _TOKEN.fullmatch(key) and "://" not in key
        for form in (key, *_encode_key(key))
    )
    return tuple(
        (form, tuple(form[i : i + _STEP] for i in range(0, len(form) - _STEP + 1, _STEP)))
        for form in forms
    )


def _encode_key(key: str) -> Iterator[str]:
    """Yield a key in base64, at each of its three alignments, and in hexadecimal digits."""
    plain = key.encode()
    for padding in range(3):
        text = base64.b64encode(bytes(padding) + plain).decode()
        # the first and last characters also depend on what stands beside the key
        aligned = text[4 if padding else 0 : (padding + len(plain)) // 3 * 4]
        yield aligned
        yield aligned.replace("+", "-").replace("/", "_")
    yield plain.hex()


def _without_parts(text: str, needle: str) -> str:
    """Return the text with parts of the key `needle` replaced; parts shorter than SHORTEST
    characters are left."""
    covered: list[tuple[int, int]] = []
    for i in range(len(needle) - SHORTEST + 1):
        part, start = needle[i : i + SHORTEST], -1
        while (start := text.find(part, start + 1)) >= 0:
            covered.append((start, start + SHORTEST))
    kept_parts: list[str] = []
    end = 0
    for begin, stop in sorted(covered):
        if begin > end or not kept_parts:
            kept_parts += [text[end:begin], HIDDEN]
        end = max(end, stop)
    return "".join([*kept_parts, text[end:]])


# --- addresses ------------------------------------------------------------------------------------

_QUERY_NAME = r"[\w-]*(?:key|token|secret|password|passwd|signature|sig|auth)[\w-]*"
_IN_QUERY = re.compile(rf"(?i)([?&]{_QUERY_NAME}=)[^&\s\"'<>]+")
_USER = re.compile(r"(://)[^/\s@\"'<>]+@")


def address_without_secrets(address: str) -> str:
    """Return an address without user name, password, query and fragment.

    >>> address_without_secrets("https://me:pw@lab.example:8000/v1?api_key=abc")
    'https://lab.example:8000/v1'
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return without_credentials(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_credentials(text: str) -> str:
    """Return the text with passwords and keys removed from the addresses that it contains."""
    if "://" not in text and "=" not in text:
        return text
    return _IN_QUERY.sub(rf"\1{HIDDEN}", _USER.sub(r"\1", text))


def refuse_secrets(address: str, source: str, instead: str) -> None:
    """Raise BadInput if an address holds a user name, a password or a key.

    Args:
        address: The address; the message does not repeat it.
        source: The place where the address was given.
        instead: How the key should be given.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        raise BadInput(f"{source} is not an address such as http://localhost:8000/v1.") from None
    if "@" in parts.netloc:
        raise BadInput(f"{source} holds a user name or a password; {instead}.")
    if _IN_QUERY.search(f"?{parts.query}") or scrub(address) != address:
        raise BadInput(f"{source} holds a key; {instead}.")
