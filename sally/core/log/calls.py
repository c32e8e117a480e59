"""Records behind an answer: model calls and tool uses."""

from __future__ import annotations

from typing import Any

import msgspec

BROKE_READER = "the reader broke down"  # prefix of the detail of such a call


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


class Looked(msgspec.Struct, frozen=True):
    """One use of a tool during a decision."""

    tool: str
    given: dict[str, Any]
    found: Any
