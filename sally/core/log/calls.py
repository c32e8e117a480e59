"""What stands behind an answer: calls of a model, and what was looked up."""

from __future__ import annotations

from typing import Any

import msgspec

BROKE_READER = "the reader broke down"  # how the detail of such a call begins


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a model: the prompt is re-rendered from the replay and checked by its hash."""

    purpose: str
    prompt: str
    reply: str = ""
    finish: str = "stop"
    usage: dict[str, Any] = msgspec.field(default_factory=dict)
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    reasoning: str = ""
    failure: str = ""  # the kind of failure, when there was no usable reply
    detail: str = ""  # of the failure, or why the reply was not read: too long, a broken reader
    scores: tuple[float, ...] = ()  # log-probabilities, when candidates were scored
    tools: tuple[dict[str, Any], ...] = ()  # tool calls that the model made in this reply


class Looked(msgspec.Struct, frozen=True):
    """One use of a tool during a decision."""

    tool: str
    given: dict[str, Any]
    found: Any
