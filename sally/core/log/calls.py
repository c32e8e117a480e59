"""Records of the model calls and tool uses that led to an answer."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

BROKE_READER = "the reader broke down"  # prefix of the detail of such a call


# A longer reply is stored as its beginning and its end, with its size and hash between. Both are
# longer than what is read, so that a reply is refused for its length before and after it is cut.
KEPT = 200_000  # characters
_CUT = re.compile(r"\n\[cut: [0-9,]+ characters, sha256 [0-9a-f]{64}\]\n")


def cut(text: str) -> str:
    """Return the text if it has at most `KEPT` characters, else its beginning and end.

    >>> len(cut("x" * 10_000_000))
    200107
    """
    if len(text) <= KEPT or _CUT.match(text, KEPT // 2):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    note = f"\n[cut: {len(text):,} characters, sha256 {digest}]\n"
    return f"{text[: KEPT // 2]}{note}{text[-KEPT // 2 :]}"


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model call; its prompt is re-rendered from the replay and checked against a hash."""

    purpose: str
    prompt: str
    reply: str = ""
    finish: str = "stop"
    usage: dict[str, Any] = msgspec.field(default_factory=dict)
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    reasoning: str = ""
    failure: str = ""  # kind of failure if there was no usable reply
    detail: str = ""  # of the failure, or why the reply was rejected: too long, a broken reader
    scores: tuple[float, ...] = ()  # log-probabilities if candidates were scored
    tools: tuple[dict[str, Any], ...] = ()  # tool calls that the model made in this reply


class ToolUse(msgspec.Struct, frozen=True):
    """One use of a tool during a decision."""

    tool: str
    given: dict[str, Any]
    found: Any
