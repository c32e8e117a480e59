"""The model interface: complete a conversation, and score candidate continuations."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.prompt.hashed_text import HashedText

# ---------------------------------------------------------------- messages and tools


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool a model may call: its name, its purpose, and the JSON schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call by a model, with its arguments as the JSON text the model wrote."""

    id: str
    name: str
    arguments: str

    def __str__(self) -> str:
        """Return the call as a model writes it in a text."""
        return f'{{"name": {json.dumps(self.name)}, "arguments": {self.arguments}}}'

    def read(self) -> dict[str, Any]:
        """Return the arguments as a mapping; raises ModelFailure if they are not a JSON object."""
        try:
            return msgspec.json.decode(self.arguments, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise ModelFailure(
                "bad_reply",
                f"The arguments of the call to {self.name!r} are not a JSON object: {error}.",
            ) from error


class System(msgspec.Struct, frozen=True, tag_field="role", tag="system"):
    """The system message."""

    text: str


class User(msgspec.Struct, frozen=True, tag_field="role", tag="user"):
    """A message to the model."""

    text: str


class Assistant(msgspec.Struct, frozen=True, tag_field="role", tag="assistant"):
    """A message from the model, with its tool calls, if any."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()


class ToolResult(msgspec.Struct, frozen=True, tag_field="role", tag="tool"):
    """The result of one tool call."""

    call_id: str
    name: str
    text: str


Message: TypeAlias = System | User | Assistant | ToolResult
Context: TypeAlias = str | Sequence[Message]
"""The context that a candidate continues: raw text, or a chat with an open assistant turn. A final
assistant message is the beginning of that turn."""


def _plain(value: object) -> str:
    if isinstance(value, HashedText):
        return str(value)
    raise TypeError(f"A message may hold only texts and tool calls, not {type(value).__name__}.")


# ---------------------------------------------------------------- settings


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Settings of a model call; a setting of None is left to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    reasoning_tokens: int | None = None
    format: str | None = None  # line (as None) or schema: how answers are asked for

    def __post_init__(self) -> None:
        for name in ("temperature", "top_p"):
            value = getattr(self, name)
            if value is not None:
                # 0 and 0.0 are the same setting and need one canonical form.
                msgspec.structs.force_setattr(self, name, float(value) + 0.0)
        if isinstance(self.stop, str):
            raise ValueError(f"stop must be a tuple of texts, such as ({self.stop!r},).")
        msgspec.structs.force_setattr(self, "stop", tuple(self.stop))
        if self.format == "line":  # the default has one canonical form
            msgspec.structs.force_setattr(self, "format", None)
        _check_settings(self)

    def canonical(self) -> str:
        """Return the settings as canonical JSON, with sorted keys and without unset settings."""
        return msgspec.json.encode(self, order="sorted").decode()


class SchemaSettings(Settings, frozen=True, omit_defaults=True):
    """The settings of a call whose reply is constrained to a JSON schema."""

    schema: str = ""  # as JSON


def _check_settings(settings: Settings) -> None:
    heat, top = settings.temperature, settings.top_p
    if heat is not None and not (math.isfinite(heat) and heat >= 0):
        raise ValueError(f"temperature must be a finite number of at least 0, not {heat}.")
    if top is not None and not 0 < top <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, not {top}.")
    for name in ("top_k", "max_tokens", "reasoning_tokens"):
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}.")
    if settings.seed is not None and not 0 <= settings.seed < 2**32 - 1:
        # Seeds are 32 bits wide in llama.cpp, whose highest one means "draw a seed".
        raise ValueError(f"seed must be from 0 to {2**32 - 2}, not {settings.seed}.")
    if settings.format not in (None, "schema"):
        raise ValueError(f"format must be line or schema, not {settings.format!r}.")
    if "" in settings.stop:
        raise ValueError(
            "stop must not contain an empty text, which would stop every reply immediately."
        )


def read_settings(settings: Mapping[str, Any], source: str) -> Settings:
    """Return checked settings of a model.

    Raises:
        BadInput: A name is unknown or a value is wrong; the message begins with `source`.

    >>> read_settings({"temperature": 0}, "sally.toml")
    Settings(temperature=0.0)
    """
    for name in settings:
        if name not in Settings.__struct_fields__:
            raise unknown(f"model setting in {source}", str(name), Settings.__struct_fields__)
    try:
        return msgspec.convert(dict(settings), Settings)
    except msgspec.ValidationError as error:
        raise BadInput(f"Model settings in {source}: {_in_words(str(error), settings)}.") from None


_KINDS = {"float": "a number", "int": "a whole number", "str": "a text", "array": "a list of texts"}


def _in_words(message: str, settings: Mapping[str, Any]) -> str:
    """Return msgspec's error message without names of Python types."""
    type_error = re.fullmatch(r"Expected `(\w+)[^`]*`, got .*\$\.(\w+).*", message)
    if type_error is None:
        return re.sub(r"\.? - at `\$.*`$", "", message).rstrip(".")
    kind, name = type_error[1], type_error[2]
    return f"{name} must be {_KINDS.get(kind, kind)}, not {settings[name]!r}"


AS_THE_PROVIDER_DOES: Final = Settings()


# ---------------------------------------------------------------- replies


MOST_TOKENS = 10_000_000  # of one call that are believed; the largest contexts hold a few million


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Resources used by a call; a field of None is unknown, not zero."""

    input: int = 0
    output: int = 0
    cached: int | None = None
    evaluated: int | None = None
    reasoning: int | None = None
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=_sum(self.cached, other.cached),
            evaluated=_sum(self.evaluated, other.evaluated),
            reasoning=_sum(self.reasoning, other.reasoning),
            seconds=self.seconds + other.seconds,
            cost=None if self.cost is None or other.cost is None else self.cost + other.cost,
        )

    def drop_implausible(self) -> Usage:
        """Return this usage, or only its seconds if a count is implausible.

        A server may report any number; a negative count, or one above MOST_TOKENS, is discarded.
        """
        counts = (self.input, self.output, self.cached, self.evaluated, self.reasoning)
        cost = self.cost
        if all(n is None or 0 <= n <= MOST_TOKENS for n in counts) and (
            cost is None or 0 <= cost < math.inf
        ):
            return self
        return Usage(seconds=self.seconds)

    @staticmethod
    def total(usages: Iterable[Usage]) -> Usage:
        """Return the sum of usages; a count that is unknown in any call is unknown in the sum."""
        return sum(usages, start=Usage(cached=0, evaluated=0, reasoning=0, cost=0.0))


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


Finish: TypeAlias = Literal["stop", "length", "tool_calls", "refusal", "error"]


class Reply(msgspec.Struct, frozen=True, tag="reply"):
    """A model's answer; hidden reasoning is stored separately and never read as the answer."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish: Finish = "stop"
    reasoning: str | None = None


class Scores(msgspec.Struct, frozen=True, tag="scores"):
    """The log-probability of each candidate as a continuation of one context."""

    candidates: tuple[str, ...]
    logprobs: tuple[float, ...]
    usage: Usage = Usage()

    def __post_init__(self) -> None:
        if len(self.candidates) != len(self.logprobs):
            raise ValueError(
                f"{len(self.candidates)} candidates need one log-probability each, "
                f"not {len(self.logprobs)} in all."
            )
        for candidate, logprob in zip(self.candidates, self.logprobs, strict=True):
            # Rounding may put a certain token slightly above probability 1.
            if not (math.isfinite(logprob) and logprob <= 1e-3):
                raise ValueError(
                    f"The log-probability of {candidate!r} must be finite and at most 0, "
                    f"not {logprob}."
                )

    def normalise(self) -> dict[str, float]:
        """Return each candidate's probability, given that one of the candidates is chosen."""
        highest = max(self.logprobs)
        weights = [math.exp(logprob - highest) for logprob in self.logprobs]
        total = math.fsum(weights)
        return {c: w / total for c, w in zip(self.candidates, weights, strict=True)}


# ---------------------------------------------------------------- failures

FaultKind: TypeAlias = Literal[
    "rate_limit",
    "server",
    "timeout",
    "connection",
    "bad_reply",
    "refused",
    "context_length",
    "auth",
    "quota",
    "bad_request",
    "unsupported",
]
TRANSIENT: Final[frozenset[FaultKind]] = frozenset(
    {"rate_limit", "server", "timeout", "connection", "bad_reply"}
)


class Fault(msgspec.Struct, frozen=True, tag="fault", omit_defaults=True):
    """A failed call as a value for the log: its kind, a message, and how long to wait."""

    kind: FaultKind
    detail: str
    retry_after: float | None = None


class ModelFailure(Exception):
    """Raised if a call to a model got no reply; `kind` classifies the failure."""

    def __init__(self, kind: FaultKind, detail: str, retry_after: float | None = None) -> None:
        super().__init__(kind, detail, retry_after)
        self.fault = Fault(kind, detail, retry_after)

    @property
    def kind(self) -> FaultKind:
        """The kind of failure."""
        return self.fault.kind

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed if it is repeated."""
        return self.fault.kind in TRANSIENT

    def __str__(self) -> str:
        return f"{self.fault.kind}: {self.fault.detail}"


class _Cannot(Exception):
    """Base of the errors raised before any paid call if a model lacks a capability."""

    template = ""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return self.template.format(name=self.name)


class CannotScore(_Cannot):
    """Raised before any paid call if a model gives no exact log-probabilities of candidates."""

    template = (
        "The model {name!r} cannot score candidates; "
        "use a strategy that only completes, or a model that scores, such as the embedded one."
    )


class CannotConstrain(_Cannot):
    """Raised before any paid call if a model's replies cannot be constrained to a JSON schema."""

    template = (
        "The replies of the model {name!r} cannot be held to a JSON schema; "
        "use format = line, or a model that can, such as the embedded one."
    )


def can_constrain(model: object) -> bool:
    """Return whether a model declares that its replies can be constrained to a JSON schema."""
    return bool(getattr(model, "can_constrain", False))


class BadCandidates(ValueError):
    """Raised if candidates cannot be compared by their log-probabilities."""


def check_candidates(candidates: Sequence[str]) -> None:
    """Raise BadCandidates if candidates are missing, empty, equal, or prefixes of one another."""
    if not candidates:
        raise BadCandidates("There are no candidates to score; give at least one.")
    if "" in candidates:
        raise BadCandidates("A candidate is empty; every candidate needs at least one character.")
    # In sorted order, a prefix is next to a text that continues it.
    for short, long in pairwise(sorted(candidates)):
        if short == long:
            raise BadCandidates(f"The candidate {short!r} is listed twice; list it once.")
        if long.startswith(short):
            raise BadCandidates(
                f"The candidate {short!r} is the beginning of {long!r}, so their "
                "probabilities overlap; end both with a distinct character, such as a full stop."
            )


# ---------------------------------------------------------------- the verbs


@runtime_checkable
class Model(Protocol):
    """A model that completes conversations and, if it can, scores candidates."""

    @property
    def name(self) -> str:
        """The name under which calls to the model are logged."""
        ...

    @property
    def can_score(self) -> bool:
        """Whether `score` gives exact log-probabilities."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Answer a conversation, or raise ModelFailure."""
        ...

    async def score(
        self, context: Context, candidates: Sequence[str], settings: Settings = AS_THE_PROVIDER_DOES
    ) -> Scores:
        """Return the log-probability of each candidate: the sum over its tokens.

        Context and candidate are tokenised together.
        """
        ...


Answer = TypeVar("Answer", Reply, Scores)


class WrappedModel:
    """Base class of models that forward their calls to another model and share its capabilities.

    A subclass overrides `call`, through which both kinds of calls are made.
    """

    _model: Model

    async def call(self, ask: Callable[[Model], Awaitable[Answer]], context: Context) -> Answer:
        """Return the answer to one call.

        Args:
            ask: Makes the call to a model.
            context: The text or messages of the call.
        """
        return await ask(self._model)

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Answer a conversation, or raise ModelFailure."""
        return await self.call(lambda model: model.complete(messages, settings, tools), messages)

    async def score(
        self, context: Context, candidates: Sequence[str], settings: Settings = AS_THE_PROVIDER_DOES
    ) -> Scores:
        """Return the log-probability of each candidate, or raise ModelFailure."""
        return await self.call(lambda model: model.score(context, candidates, settings), context)

    @property
    def name(self) -> str:
        """The name under which calls are logged."""
        return self._model.name

    @property
    def can_score(self) -> bool:
        """Whether the model can compute the log-probabilities of answers that it is given."""
        return self._model.can_score

    @property
    def can_constrain(self) -> bool:
        """Whether replies can be constrained to a JSON schema."""
        return can_constrain(self._model)

    @property
    def slots(self) -> int | None:
        """The number of concurrent calls that the model accepts, if it declares one."""
        return getattr(self._model, "slots", None)

    @property
    def used(self) -> Any:
        """The record of the models or servers that answered, if the model provides one."""
        return getattr(self._model, "used", None)


@dataclass(frozen=True)
class ModelKind:
    """A registered kind of model; `make` receives the full model name (`embedded:x.gguf`).

    `at_once` is the number of concurrent calls that such a model accepts, or a function if the
    number depends on the machine; a model's own `slots` takes precedence.
    """

    name: str
    about: str
    make: Callable[[str], Model]
    at_once: int | Callable[[], int] | None = None

    def __call__(self, name: str) -> Model:
        return self.make(name)

    @property
    def calls_at_once(self) -> int | None:
        """Return how many concurrent calls a model of this kind accepts; None if undeclared."""
        return self.at_once() if callable(self.at_once) else self.at_once
