"""The embedded model as an Inspect provider: `--model sally/embedded`."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from msgspec import structs

from sally.core.prompt.model import (
    Assistant,
    Message,
    SchemaSettings,
    Settings,
    System,
    Usage,
    User,
    can_constrain,
)
from sally.core.registry import registry


class SallyAPI(ModelAPI):
    """An Inspect provider for a model of Sally's registry, with scoring if the model supports
    it."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  Inspect's own signature
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._model = registry.model(model_name)
        self.scores_candidates = self._model.can_score
        self.can_constrain = can_constrain(self._model)
        self.used = getattr(self._model, "used", None)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        messages = [ours(message) for message in input]
        extra = config.extra_body or {}
        settings = Settings(
            config.temperature,
            config.top_p,
            config.top_k,
            config.max_tokens,
            config.seed,
            tuple(config.stop_seqs or ()),
        )
        if config.response_schema is not None:
            schema = config.response_schema.json_schema.model_dump_json(exclude_none=True)
            settings = SchemaSettings(**structs.asdict(settings), schema=schema)
        if "candidates" in extra:
            context = messages[0].text if extra.get("raw") else messages
            scores = await self._model.score(context, extra["candidates"], settings)
            return self._output("", "stop", scores.usage, {"logprobs": list(scores.logprobs)})
        reply = await self._model.complete(messages, settings)
        stop = "max_tokens" if reply.finish == "length" else "stop"
        return self._output(reply.text, stop, reply.usage, None)

    def max_connections(self) -> int:
        return getattr(self._model, "slots", None) or 1

    def _output(
        self, text: str, stop: Any, usage: Usage, metadata: dict[str, Any] | None
    ) -> ModelOutput:
        cached = usage.cached or 0
        return ModelOutput(
            model=self.model_name,
            choices=[
                ChatCompletionChoice(message=ChatMessageAssistant(content=text), stop_reason=stop)
            ],
            usage=ModelUsage(
                input_tokens=usage.input - cached,
                output_tokens=usage.output,
                total_tokens=usage.input + usage.output,
                input_tokens_cache_read=usage.cached,
            ),
            metadata=metadata,
        )


@modelapi(name="sally")
def sally() -> type[ModelAPI]:
    return SallyAPI


def ours(message: ChatMessage) -> Message:
    """Convert an Inspect message to Sally's format."""
    if message.role == "system":
        return System(message.text)
    return Assistant(message.text) if message.role == "assistant" else User(message.text)
