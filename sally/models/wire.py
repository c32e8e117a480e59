"""Messages, tools and replies in the chat format that llama.cpp shares with many providers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sally.core.prompt.model import (
    Assistant,
    Finish,
    Message,
    ModelFailure,
    Reply,
    SchemaSettings,
    Settings,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
)

FINISHES: Final[Mapping[str, Finish]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "refusal",
}


def turn(message: Message) -> dict[str, Any]:
    """Return a message in the chat format."""
    match message:
        case System(text):
            return {"role": "system", "content": str(text)}
        case User(text):
            return {"role": "user", "content": str(text)}
        case Assistant(text, ()):
            return {"role": "assistant", "content": str(text)}
        case Assistant(text, calls):
            return {
                "role": "assistant",
                "content": str(text),
                "tool_calls": [_call(call) for call in calls],
            }
        case ToolResult(call_id, name, text):
            return {"role": "tool", "tool_call_id": call_id, "name": name, "content": str(text)}


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def tool(spec: ToolSpec) -> dict[str, Any]:
    """Return a tool in the chat format."""
    function = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
    return {"type": "function", "function": function}


def held_to(settings: Settings) -> dict[str, Any]:
    """Return the JSON schema of a call in the format of the chat API; empty without a schema."""
    if not isinstance(settings, SchemaSettings):
        return {}
    json_schema = {"name": "answer", "strict": True, "schema": json.loads(settings.schema)}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


def reply(answer: Mapping[str, Any], seconds: float) -> Reply:
    """Return llama.cpp's chat answer as a reply."""
    try:
        choice, timings = answer["choices"][0], answer["timings"]
        message = choice["message"]
        return Reply(
            text=message.get("content") or "",
            tool_calls=_calls(message.get("tool_calls") or ()),
            usage=Usage(
                input=int(answer["usage"]["prompt_tokens"]),
                output=int(answer["usage"]["completion_tokens"]),
                cached=int(timings["cache_n"]),
                evaluated=int(timings["prompt_n"]),
                seconds=seconds,
                cost=0.0,
            ),
            finish=FINISHES.get(str(choice["finish_reason"]), "error"),
            reasoning=message.get("reasoning_content"),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelFailure(
            "bad_reply", f"The chat answer has an unexpected shape: {error!r}."
        ) from error


def _calls(calls: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(str(c["id"]), str(c["function"]["name"]), str(c["function"]["arguments"]))
        for c in calls
    )
