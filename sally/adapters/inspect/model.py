"""Our two verbs over Inspect's `generate`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.model import Model as Provider
from inspect_ai.tool import ToolCall as ProviderToolCall
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import LimitExceededError

from sally.adapters.inspect.failures import failure_of
from sally.core.model import (
    AS_THE_PROVIDER_DOES,
    Assistant,
    CannotScore,
    Context,
    Finish,
    Message,
    Model,
    ModelFailure,
    Reply,
    Scores,
    Settings,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
    check_candidates,
)

FINISH: dict[str, Finish] = {
    "stop": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "refusal",
    "unknown": "stop",
}
RETRIES = 3  # of Inspect's own, per call; finite, so that a dead server ends
NOT_FAILURES = (LimitExceededError, ModelFailure, asyncio.CancelledError)


class InspectModel:
    """Any model that Inspect can reach."""

    def __init__(self, provider: Provider, cache: bool = False) -> None:
        self._provider, self._cache = provider, cache

    @property
    def name(self) -> str:
        return str(self._provider)

    @property
    def can_score(self) -> bool:
        """Only a provider that scores whole candidates can; top-k lists cannot."""
        return bool(getattr(self._provider.api, "scores_candidates", False))

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """A reply, or ModelFailure by kind."""
        start = time.perf_counter()
        output = await self._generate([chat(m) for m in messages], settings, tools, None)
        return reply_of(output, time.perf_counter() - start)

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        """The log-probabilities of the candidates, where the provider gives them whole."""
        check_candidates(candidates)
        if not self.can_score:
            raise CannotScore(self.name)
        raw = isinstance(context, str)
        talk = [User(context)] if isinstance(context, str) else context
        wanted = {"candidates": list(candidates), "raw": raw}
        start = time.perf_counter()
        output = await self._generate([chat(m) for m in talk], settings, (), wanted)
        logprobs = (output.metadata or {}).get("logprobs")
        if not isinstance(logprobs, list) or len(logprobs) != len(candidates):
            raise ModelFailure("bad_reply", "The scores do not fit the candidates.")
        usage = usage_of(output, time.perf_counter() - start)
        return Scores(tuple(candidates), tuple(float(p) for p in logprobs), usage)

    async def _generate(
        self,
        talk: list[ChatMessage],
        settings: Settings,
        tools: Sequence[ToolSpec],
        extra: dict[str, Any] | None,
    ) -> ModelOutput:
        # The seed is drawn from episode, seat, turn, purpose, call and try: as a scope it keeps
        # two draws of the same prompt apart, as Inspect's own key does not.
        policy = CachePolicy(expiry=None, scopes={"seed": str(settings.seed)})
        try:
            return await self._provider.generate(
                talk,
                tools=[tool_info(tool) for tool in tools],
                config=config_of(settings, extra),
                cache=policy if self._cache else False,
            )
        except NOT_FAILURES:
            raise
        except Exception as why:
            raise failure_of(why) from why


def model_of(name: str) -> Model:
    """The maker that the shelf calls for names such as `openai/gpt-4o`."""
    return InspectModel(get_model(name))


def config_of(settings: Settings, extra: dict[str, Any] | None = None) -> GenerateConfig:
    """Our settings as Inspect takes them."""
    effort: Any = settings.reasoning_effort
    return GenerateConfig(
        max_retries=RETRIES,
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=settings.top_k,
        max_tokens=settings.max_tokens,
        seed=settings.seed,
        stop_seqs=list(settings.stop) or None,
        reasoning_effort=effort,
        reasoning_tokens=settings.reasoning_tokens,
        extra_body=extra,
    )


def chat(message: Message) -> ChatMessage:
    """One of our messages as one of Inspect's."""
    match message:
        case System(text):
            return ChatMessageSystem(content=str(text))
        case User(text):
            return ChatMessageUser(content=str(text))
        case Assistant(text, calls):
            made = [
                ProviderToolCall(id=c.id, function=c.name, arguments=json.loads(c.arguments))
                for c in calls
            ]
            return ChatMessageAssistant(content=str(text), tool_calls=made or None)
        case ToolResult(call_id, name, text):
            return ChatMessageTool(content=str(text), tool_call_id=call_id, function=name)


def tool_info(tool: ToolSpec) -> ToolInfo:
    """A tool as Inspect describes it to a model."""
    parameters = ToolParams.model_validate(tool.schema)
    return ToolInfo(name=tool.name, description=tool.description, parameters=parameters)


def reply_of(output: ModelOutput, seconds: float) -> Reply:
    """What came back; hidden reasoning is kept apart."""
    if not output.choices:
        raise ModelFailure("bad_reply", "The provider answered without a choice.")
    message = output.choices[0].message
    parts = message.content if isinstance(message.content, list) else []
    reasoning = "\n".join(str(p.reasoning) for p in parts if p.type == "reasoning")
    calls = tuple(
        ToolCall(call.id, call.function, json.dumps(call.arguments))
        for call in message.tool_calls or ()
    )
    finish = FINISH.get(output.stop_reason, "stop")
    return Reply(message.text, calls, usage_of(output, seconds), finish, reasoning or None)


def usage_of(output: ModelOutput, seconds: float) -> Usage:
    """What a call used; what a provider does not say stays unknown."""
    used = output.usage
    if used is None:
        return Usage(seconds=seconds)
    cached = used.input_tokens_cache_read
    evaluated = None if cached is None else used.input_tokens
    return Usage(
        input=used.input_tokens + (cached or 0),
        output=used.output_tokens,
        cached=cached,
        evaluated=evaluated,
        reasoning=used.reasoning_tokens,
        seconds=seconds,
        cost=used.total_cost,
    )
