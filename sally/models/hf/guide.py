"""Guided decoding: which tokens may follow in a reply that is constrained to a JSON schema.

The schema becomes a regular expression, and a text may continue as long as it is the beginning of a
match (checked by `regex`, a dependency of transformers). Tokens are drawn as without a schema. A
token that is not allowed is drawn again from the allowed ones, each with its share of their total
probability.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

SPACE: Final = " ?"  # between the parts of an object
CHARACTER: Final = r'(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])'  # of a JSON string
DIGITS: Final = " 0123456789-."
MOST_LISTED: Final = 2_000  # whole numbers that are listed one by one; beyond, digits suffice


def pattern_of(schema: dict[str, Any]) -> str:
    """Return the regular expression of the JSON texts that satisfy one of Sally's schemas.

    >>> import re
    >>> pattern = pattern_of({"type": "integer", "minimum": 9, "maximum": 11})
    >>> [bool(re.fullmatch(pattern, text)) for text in ("9", "11", "12", "-9")]
    [True, True, False, False]
    """
    if "anyOf" in schema:
        return _either(pattern_of(option) for option in schema["anyOf"])
    if "const" in schema:
        return re.escape(_as_json(schema["const"]))
    if "enum" in schema:
        return _either(re.escape(_as_json(value)) for value in schema["enum"])
    kind = schema["type"]
    if kind == "object":
        fields = [
            f"{re.escape(_as_json(name))}:{SPACE}{pattern_of(field_schema)}"
            for name, field_schema in schema["properties"].items()
        ]
        return r"\{" + f",{SPACE}".join(fields) + r"\}"
    if kind == "array":
        if "prefixItems" in schema:
            return r"\[" + f",{SPACE}".join(map(pattern_of, schema["prefixItems"])) + r"\]"
        item, max_items = pattern_of(schema["items"]), schema["maxItems"]
        return rf"\[(?:{item}(?:,{SPACE}{item}){{0,{max_items - 1}}})?\]" if max_items else r"\[\]"
    if kind == "string":
        if shape := schema.get("pattern"):
            return f'"(?:{shape.removeprefix("^").removesuffix("$")})"'
        return f'"{CHARACTER}{{{schema.get("minLength", 0)},{schema["maxLength"]}}}"'
    return _number(kind, schema["minimum"], schema["maximum"])


def _number(kind: str, low: float, high: float) -> str:
    if kind == "integer" and high - low < MOST_LISTED:
        return _either(str(number) for number in range(int(low), int(high) + 1))
    sign, digits = "-?" if low < 0 else "", len(str(int(max(abs(low), abs(high)))))
    integer_pattern = rf"{sign}(?:0|[1-9]\d{{0,{digits - 1}}})"
    return integer_pattern if kind == "integer" else rf"{integer_pattern}(?:\.\d{{1,6}})?"


def _either(patterns: Any) -> str:
    return f"(?:{'|'.join(patterns)})"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def by_first_character(pieces: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """Return the tokens that are text, by first character.

    For a vocabulary of 150,000 tokens, a guide then checks a few thousand first characters and only
    the tokens that begin with an allowed one.

    Args:
        pieces: The text of each token; "" for one that is not text.
    """
    tokens_by_character: dict[str, list[tuple[int, str]]] = {}
    for token, piece in enumerate(pieces):
        if piece:
            tokens_by_character.setdefault(piece[0], []).append((token, piece))
    return tokens_by_character


class Guide:
    """The tokens allowed in replies that must satisfy one JSON schema; all calls with this schema
    share the object."""

    def __init__(self, schema: str, tokens: Mapping[str, Sequence[tuple[int, str]]]) -> None:
        regex: Any = importlib.import_module("regex")  # needed only where torch is
        pattern = pattern_of(json.loads(schema))
        self._whole = regex.compile(pattern)
        # An answer without free text has only the characters of its pattern, digits and spaces.
        free = CHARACTER in pattern or '"pattern"' in schema
        first_characters = tokens.keys() if free else {*pattern, *DIGITS}
        self._tokens = {first: tokens[first] for first in tokens if first in first_characters}
        self.following = lru_cache(maxsize=4096)(self._following)

    def is_whole(self, text: str) -> bool:
        """Return whether a text is a finished answer."""
        return self._whole.fullmatch(text) is not None

    def may_begin(self, text: str) -> bool:
        """Return whether a text is a prefix of an answer that satisfies the schema."""
        return self._whole.fullmatch(text, partial=True) is not None

    def _following(self, text: str) -> tuple[int, ...]:
        """Return the tokens that may follow a text."""
        tokens = [
            token
            for first, pieces in self._tokens.items()
            if self.may_begin(text + first)
            for token, piece in pieces
            if len(piece) == 1 or self.may_begin(text + piece)
        ]
        return tuple(sorted(tokens))


Allowed = Callable[[Sequence[int]], "tuple[int, ...] | None"]


def allowed_by(
    guide: Guide, text_of: Callable[[Sequence[int]], str], ends: frozenset[int]
) -> Allowed:
    """Return a function that checks generated tokens.

    Its result is None if the last token is allowed, else the tokens that are allowed.
    """

    def check(tokens: Sequence[int]) -> tuple[int, ...] | None:
        text_before = text_of(tokens[:-1])
        if guide.is_whole(text_before):
            return None if tokens[-1] in ends else tuple(ends)
        if tokens[-1] not in ends and guide.may_begin(text_of(tokens)):
            return None
        return guide.following(text_before)

    return check
