"""Models reached through Inspect; `complete` and `score` are based on Inspect's `generate`."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

import msgspec
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.model import Model as Provider
from inspect_ai.tool import ToolCall as ProviderToolCall
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import JSONSchema, LimitExceededError

from sally.adapters.inspect.failures import failure_of
from sally.adapters.inspect.reach import address_of, provider_of
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Assistant,
    CannotScore,
    Context,
    Finish,
    Message,
    Model,
    ModelFailure,
    Reply,
    SchemaSettings,
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
from sally.models import in_process
from sally.runner.config import Limits, find_config, transport_of
from sally.runner.gates import gate_of
from sally.runner.rates import CallLimiter, turnstile_of
from sally.runner.servers import server_model

FINISH: dict[str, Finish] = {
    "stop": "stop",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "content_filter": "refusal",
    "unknown": "stop",
}
INSPECT = version("inspect-ai")  # read from disk once
# Modules of Inspect's providers that send a response schema; the second sends JSON mode instead.
SCHEMA = {"openai", "openai_compatible", "anthropic", "google", "grok", "groq", "mistral"}
NO_SCHEMA = {"deepseek"}
LONGEST_NAME = 200  # characters of the model name that a server reports
NOT_FAILURES = (LimitExceededError, ModelFailure, asyncio.CancelledError)


class InspectModel:
    """Any model that Inspect can reach.

    With a scope, replies are cached under that name. One object serves one seat of one episode, and
    a call counter in the cache key keeps repeated calls apart.
    """

    def __init__(
        self,
        provider: Provider,
        limits: Limits | None = None,
        scope: Mapping[str, str] | None = None,
        turnstile: CallLimiter | None = None,
    ) -> None:
        self._provider, self._limits, self._scope = provider, limits or Limits(), scope
        self._gate = gate_of(str(provider), address_of(provider), self._limits.first_wait)
        self._turnstile = turnstile
        self._asked: Counter[str] = Counter()
        self._answered_as: set[str] = set()

    @property
    def name(self) -> str:
        return str(self._provider)

    @property
    def used(self) -> dict[str, Any]:
        """The provider's address, versions and model names, as stored in the record."""
        model_used = getattr(self._provider.api, "used", None)
        return {
            "transport": "inspect",
            "inspect_ai": INSPECT,
            "address": address_of(self._provider),
            "answered_as": sorted(self._answered_as),
            **({} if model_used is None else {"model": msgspec.to_builtins(model_used)}),
        }

    @property
    def can_score(self) -> bool:
        """Whether the provider scores whole candidates; lists of the top tokens do not suffice."""
        return bool(getattr(self._provider.api, "scores_candidates", False))

    @property
    def can_constrain(self) -> bool:
        """Whether Inspect can make this provider constrain replies to a JSON schema."""
        api = self._provider.api
        declared = getattr(api, "can_constrain", None)
        modules = {base.__module__.rpartition(".")[2] for base in type(api).__mro__}
        return (
            bool(declared)
            if declared is not None
            else bool(modules & SCHEMA) and not modules & NO_SCHEMA
        )

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Return a reply.

        Raises:
            ModelFailure: The call failed.
        """
        start = time.perf_counter()
        output = await self._generate([chat(m) for m in messages], settings, tools, None)
        return reply_of(output, time.perf_counter() - start)

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        """Return the log-probabilities of the candidates.

        Raises:
            CannotScore: The provider does not score candidates.
            ModelFailure: The call failed.
        """
        check_candidates(candidates)
        if not self.can_score:
            raise CannotScore(self.name)
        raw = isinstance(context, str)
        talk = [User(context)] if isinstance(context, str) else context
        request = {"candidates": list(candidates), "raw": raw}
        start = time.perf_counter()
        output = await self._generate([chat(m) for m in talk], settings, (), request)
        logprobs = (output.metadata or {}).get("logprobs")
        if not isinstance(logprobs, list) or len(logprobs) != len(candidates):
            raise ModelFailure(
                "bad_reply", "The provider did not return one score for each candidate."
            )
        return in_process.scores(
            candidates, logprobs, usage_of(output, time.perf_counter() - start)
        )

    async def _generate(
        self,
        talk: list[ChatMessage],
        settings: Settings,
        tools: Sequence[ToolSpec],
        extra: dict[str, Any] | None,
    ) -> ModelOutput:
        if self._turnstile is not None:
            await self._turnstile.wait_turn(self.name)
        begun = await self._gate.wait_turn()
        await asyncio.sleep(0)  # lets an expired limit take effect even if the provider never waits
        try:
            output = await self._provider.generate(
                talk,
                tools=[tool_info(tool) for tool in tools],
                config=config_of(self._without_seed(settings), self._limits, extra),
                cache=self._policy(talk, settings, extra),
            )
        except NOT_FAILURES:
            raise
        except Exception as error:
            failure = failure_of(error, address_of(self._provider))
            self._gate.record_failure(begun, failure)
            raise failure from error
        self._gate.record_success()
        if self._turnstile is not None and output.usage is not None:
            self._turnstile.used(self.name, output.usage.total_tokens)
        self._answered_as.add(output.model[:LONGEST_NAME])  # keys were removed before
        return output

    def _without_seed(self, settings: Settings) -> Settings:
        """Return the settings without the seed if OpenAI's Responses API, which has none, is
        called; Inspect would drop it with a warning."""
        if not getattr(self._provider.api, "responses_api", False):
            return settings
        return msgspec.structs.replace(settings, seed=None)

    def _policy(
        self, talk: list[ChatMessage], settings: Settings, extra: dict[str, Any] | None
    ) -> CachePolicy | bool:
        """Return the cache policy; the scope and the call counter are added to Inspect's cache
        key."""
        if self._scope is None:
            return False
        call_text = repr(([(m.role, m.text) for m in talk], settings, extra))
        key = blake2b(call_text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        self._asked[key] += 1
        scopes = {**self._scope, "again": str(self._asked[key])}
        return CachePolicy(expiry=None, scopes=scopes)


def model_of(name: str) -> Model:
    """Return the model for a name such as `openai/gpt-4o`; called by the registry."""
    config = find_config()
    if transport_of(name, config) == "server":
        return server_model(name, config)
    turnstile = turnstile_of(config, name)
    return InspectModel(provider_of(name, config), config.limits, turnstile=turnstile)


def config_of(
    settings: Settings, limits: Limits, extra: dict[str, Any] | None = None
) -> GenerateConfig:
    """Convert our settings to Inspect's."""
    effort: Any = settings.reasoning_effort
    return GenerateConfig(
        max_retries=0,  # the player logs and retries failures
        attempt_timeout=max(1, round(limits.call_seconds)),
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=settings.top_k,
        max_tokens=settings.max_tokens,
        seed=settings.seed,
        stop_seqs=list(settings.stop) or None,
        reasoning_effort=effort,
        reasoning_tokens=settings.reasoning_tokens,
        extra_body=extra,
        response_schema=_response_schema(settings),
    )


def _response_schema(settings: Settings) -> ResponseSchema | None:
    """Convert the JSON schema of a call to Inspect's format; keywords that Inspect lacks are left
    out."""
    if not isinstance(settings, SchemaSettings):
        return None
    schema = JSONSchema.model_validate(_with_enums(json.loads(settings.schema)))
    return ResponseSchema(name="answer", json_schema=schema, strict=True)


def _with_enums(schema: Any) -> Any:
    """Return the schema with each constant as a one-value enum, which more providers support."""
    if isinstance(schema, list):
        return [_with_enums(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    if "const" in schema:
        return {"type": "string", "enum": [schema["const"]]}
    return {key: _with_enums(value) for key, value in schema.items()}


def chat(message: Message) -> ChatMessage:
    """Convert one of our messages to Inspect's format."""
    match message:
        case System(text):
            return ChatMessageSystem(content=str(text))
        case User(text):
            return ChatMessageUser(content=str(text))
        case Assistant(text, calls):
            tool_calls = [
                ProviderToolCall(id=c.id, function=c.name, arguments=json.loads(c.arguments))
                for c in calls
            ]
            return ChatMessageAssistant(content=str(text), tool_calls=tool_calls or None)
        case ToolResult(call_id, name, text):
            return ChatMessageTool(content=str(text), tool_call_id=call_id, function=name)


def tool_info(tool: ToolSpec) -> ToolInfo:
    """Convert one of our tools to Inspect's format."""
    parameters = ToolParams.model_validate(tool.schema)
    return ToolInfo(name=tool.name, description=tool.description, parameters=parameters)


def reply_of(output: ModelOutput, seconds: float) -> Reply:
    """Convert Inspect's output to a reply; hidden reasoning is stored separately."""
    if not output.choices:
        raise ModelFailure("bad_reply", "The provider's answer contains no completion.")
    message = output.choices[0].message
    if output.stop_reason == "model_length":  # some return it without reading the prompt
        raise ModelFailure("context_length", "The prompt exceeds the model's context length.")
    parts = message.content if isinstance(message.content, list) else []
    reasoning = "\n".join(str(p.reasoning) for p in parts if p.type == "reasoning")
    refused = any(p.type == "text" and p.refusal for p in parts)
    calls = tuple(
        ToolCall(call.id, call.function, json.dumps(call.arguments))
        for call in message.tool_calls or ()
    )
    finish = "refusal" if refused else FINISH.get(output.stop_reason, "stop")
    return Reply(message.text, calls, usage_of(output, seconds), finish, reasoning or None)


def usage_of(output: ModelOutput, seconds: float) -> Usage:
    """Return the usage of a call; numbers that the provider does not report are omitted."""
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
