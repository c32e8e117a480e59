"""A client for servers that implement OpenAI's chat completions: vLLM, SGLang, llama.cpp, gateways.

One aiohttp session per event loop carries all calls, and msgspec encodes and decodes them. A call
is made once: the caller logs a failure and decides whether to try again.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from sally.core import redaction
from sally.core.errors import BadInput, needs_extra
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    CannotScore,
    Context,
    FaultKind,
    Finish,
    Message,
    ModelFailure,
    Reply,
    Scores,
    Settings,
    ToolCall,
    ToolSpec,
    Usage,
    check_candidates,
)
from sally.models import in_process, wire

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

MOST_BYTES: Final = 16 * 2**20  # of a reply, decompressed
LONGEST_NAME: Final = 200  # characters of the model name that a server reports
DETAIL: Final = 300  # characters of a server's error message that are logged
BY_STATUS: Final[dict[int, FaultKind]] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    413: "context_length",
    429: "rate_limit",
}
NO_QUOTA: Final = re.compile(rb"insufficient_quota|billing_hard_limit_reached")
TOO_LONG: Final = re.compile(
    r"(?i)context[ _]length|maximum context|too many tokens|prompt is too long"
)
THOUGHT: Final = re.compile(r"\s*<think>(.*?)</think>\s*", re.DOTALL)
CLIENT: Final = "aiohttp"  # the package that makes the calls


@dataclass(frozen=True)
class Timeouts:
    """How long to wait, in seconds, for a connection, the first byte, and the whole reply."""

    connect: float = 30.0
    first_byte: float | None = None
    whole: float = 600.0


@dataclass
class ChatServer:
    """A model that is reached through the chat completions of a server."""

    name: str  # under which its calls are logged
    model: str  # the name that the server knows
    address: str  # such as http://localhost:8000/v1
    key: str = ""
    at_once: int = 64  # concurrent calls
    timeouts: Timeouts = Timeouts()
    prompt_logprobs: bool = False  # whether the server scores prompts as vLLM does
    answered_as: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        with needs_extra("server"):
            if find_spec(CLIENT) is None:  # a plan makes no call, so it is not imported yet
                raise ModuleNotFoundError(name=CLIENT)
        self.address = checked_address(self.address).rstrip("/")

    @property
    def can_score(self) -> bool:
        """Whether the server was declared to return log-probabilities of prompts."""
        return self.prompt_logprobs

    @property
    def can_constrain(self) -> bool:
        """Whether replies can be constrained to a JSON schema; a reply that violates the schema is
        detected."""
        return True

    @property
    def slots(self) -> int:
        """The maximum number of concurrent calls."""
        return self.at_once

    @property
    def used(self) -> dict[str, Any]:
        """Transport, address and the model names in replies, for the record."""
        return {
            "transport": "server",
            "address": self.address,
            "answered_as": sorted(self.answered_as),
        }

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
        body = {"model": self.model, "messages": [wire.turn(m) for m in messages]}
        body |= request_settings(settings)
        if tools:
            body["tools"] = [wire.tool(tool) for tool in tools]
        start = time.perf_counter()
        answer = read_answer(await self._post("/chat/completions", body))
        if answer.model and isinstance(answer.model, str):
            self.answered_as.add(redaction.scrub(answer.model[:LONGEST_NAME]))
        return reply_of(answer, time.perf_counter() - start)

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        """Return the log-probabilities of the candidates.

        This makes one call for each candidate and one for the context.

        Raises:
            CannotScore: The server was not declared to score prompts.
            ModelFailure: A call failed.
        """
        check_candidates(candidates)
        if not self.can_score:
            raise CannotScore(self.name)
        start = time.perf_counter()
        alone, *joint = await asyncio.gather(
            *(self._prompt_logprobs(context, candidate) for candidate in ("", *candidates))
        )
        stem, _ = in_process.stem_of(alone[0], [tokens for tokens, _, _ in joint])
        usage = Usage(
            input=sum(used for _, _, used in (alone, *joint)),
            seconds=time.perf_counter() - start,
        )
        sums = (sum(logprobs[len(stem) :]) for _, logprobs, _ in joint)
        return in_process.scores(candidates, sums, usage)

    async def _prompt_logprobs(
        self, context: Context, candidate: str
    ) -> tuple[in_process.Tokens, list[float], int]:
        """Return the tokens of a prompt, their log-probabilities, and the server's token count."""
        body: dict[str, Any] = {"model": self.model, "max_tokens": 1, "prompt_logprobs": 0}
        if isinstance(context, str):
            body["prompt"] = f"{context}{candidate}"
            raw = await self._post("/completions", body)
        else:
            turns, begun = in_process.open_turn(context)
            if begun or candidate:
                turns.append({"role": "assistant", "content": begun + candidate})
                body |= {"add_generation_prompt": False, "continue_final_message": True}
            raw = await self._post("/chat/completions", body | {"messages": turns})
        return read_prompt_logprobs(raw)

    async def _post(self, path: str, body: dict[str, Any]) -> bytes:
        """Make one call and return the body of its reply."""
        try:
            sent = msgspec.json.encode(body)
        except UnicodeEncodeError as error:
            raise ModelFailure(
                "bad_request",
                f"A text contains a lone surrogate at position {error.start}; remove it.",
            ) from None
        import aiohttp

        session = _session(self.at_once)
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        wait = aiohttp.ClientTimeout(
            total=self.timeouts.whole,
            sock_connect=self.timeouts.connect,
            sock_read=self.timeouts.first_byte,
        )
        url = self.address + path
        try:
            async with session.post(
                url,
                data=sent,
                headers=headers,
                timeout=wait,
                allow_redirects=False,
                proxy=_proxy(url),
            ) as response:
                raw = await _read_bounded(response)
                if response.status != 200:
                    raise failure_of(response.status, raw, response.headers, self.address)
                return raw
        except TimeoutError as error:
            raise ModelFailure(
                "timeout", f"{self.address}: {_error_text(error, 'no reply in time')}."
            ) from error
        except (aiohttp.ClientPayloadError, aiohttp.http_exceptions.HttpProcessingError) as error:
            raise ModelFailure("connection", f"{self.address}: the reply broke off.") from error
        except aiohttp.ClientConnectorError as error:
            raise ModelFailure(
                "connection", f"{self.address}: {_refusal_text(error.os_error)}."
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ModelFailure(
                "connection", f"{self.address}: {_error_text(error, type(error).__name__)}."
            ) from error


# --- requests -----------------------------------------------------------------------------------


def request_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that are set, under their names in the chat API."""
    if settings.reasoning_tokens is not None:
        raise ModelFailure(
            "unsupported", "A server does not support reasoning_tokens; set reasoning_effort."
        )
    fields = msgspec.structs.asdict(settings)
    names = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")
    request_fields = {name: fields[name] for name in names if fields[name] is not None}
    if settings.stop:
        request_fields["stop"] = list(settings.stop)
    return request_fields | wire.held_to(settings)


def checked_address(address: str) -> str:
    """Return the address of a server.

    Raises:
        BadInput: If the address is not HTTP, or contains a password or a query.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput("A server's address must look like http://localhost:8000/v1.")
    if parts.username is not None or parts.query or parts.fragment:
        raise BadInput(
            f"The address of {parts.hostname} contains a password or a query; put the key into an "
            "environment variable and name it in api_key_env."
        )
    return address


def _proxy(url: str) -> str | None:
    """Return the proxy for an address from the environment, unless the host is exempt."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxy = getproxies().get(parts.scheme)
    return None if proxy is None or proxy_bypass(host) else proxy


# --- connections --------------------------------------------------------------------------------

_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientSession] = WeakKeyDictionary()


def _session(at_once: int) -> ClientSession:
    """Return the session of the running event loop, which all servers share."""
    loop = asyncio.get_running_loop()
    session = _sessions.get(loop)
    if session is None or session.closed:
        import aiohttp

        connector = aiohttp.TCPConnector(limit=0, limit_per_host=at_once, ttl_dns_cache=300)
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=True,
            skip_auto_headers=("User-Agent",),
        )
        _sessions[loop] = session
    return session


_users: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()


@asynccontextmanager
async def open_connections() -> AsyncIterator[None]:
    """Keep the connections of the running event loop open until the last such block ends."""
    loop = asyncio.get_running_loop()
    _users[loop] = _users.get(loop, 0) + 1
    try:
        yield
    finally:
        _users[loop] -= 1
        if not _users[loop]:
            await close_connections()


async def close_connections() -> None:
    """Close the session of the running event loop."""
    session = _sessions.pop(asyncio.get_running_loop(), None)
    if session is not None:
        await session.close()


async def _read_bounded(response: ClientResponse) -> bytes:
    """Return the body of a reply, which may not be longer than `MOST_BYTES`."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MOST_BYTES:
            response.close()
            raise ModelFailure("bad_reply", f"The reply is longer than {MOST_BYTES >> 20} MiB.")
    return bytes(body)


# --- failures -----------------------------------------------------------------------------------


def failure_of(status: int, body: bytes, headers: Any, address: str) -> ModelFailure:
    """Return the failure for a reply with an error status."""
    message = error_message(body)
    if 300 <= status < 400:
        return ModelFailure(
            "bad_request", f"{address} redirects to another address; give the final address."
        )
    kind: FaultKind = BY_STATUS.get(status) or ("server" if status >= 500 else "bad_request")
    if NO_QUOTA.search(body):  # OpenAI sends it with 429, but no wait helps
        kind = "quota"
    if kind == "bad_request" and TOO_LONG.search(message):
        kind = "context_length"
    detail = f"{address} answered {status}" + (f": {message}" if message else "")
    return ModelFailure(kind, detail, retry_after(headers.get("Retry-After")))


def error_message(body: bytes) -> str:
    """Return the server's error message, shortened and without API keys."""
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        message = body[: 4 * DETAIL].decode("utf-8", "replace")
    for name in ("error", "message", "detail"):
        if isinstance(message, dict) and name in message:
            message = message[name]
    text = " ".join((message if isinstance(message, str) else "").split())
    return redaction.without_keys(text)[:DETAIL]


def _error_text(error: BaseException, otherwise: str) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return redaction.scrub(text)[:DETAIL] or otherwise


def _refusal_text(error: OSError) -> str:
    """Return why a connection failed, without the call that asyncio adds to the reason."""
    code = error.errno or 0
    reason = os.strerror(code) if code > 0 else error.strerror  # below 0: the name was not found
    return f"cannot connect ({reason})" if reason else "cannot connect"


def retry_after(header: str | None) -> float | None:
    """Return the seconds to wait according to a Retry-After header, which is a number or a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


# --- replies ------------------------------------------------------------------------------------


class _Function(msgspec.Struct):
    name: str
    arguments: str = "{}"


class _Call(msgspec.Struct):
    function: _Function
    id: str = ""


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class ChatAnswer(msgspec.Struct):
    """The fields of a chat completion that are used."""

    choices: list[_Choice]
    model: Any = ""  # what a server reports beside its reply is not trusted to have a type
    usage: Any = None


_answers: Final = msgspec.json.Decoder(ChatAnswer)


def read_answer(raw: bytes) -> ChatAnswer:
    """Read a reply of the chat API.

    Raises:
        ModelFailure: If the reply does not have the expected fields.
    """
    try:
        answer = _answers.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelFailure("bad_reply", f"The reply cannot be read: {error}") from None
    if not answer.choices:
        raise ModelFailure("bad_reply", "The server's reply has no choices.")
    return answer


def reply_of(answer: ChatAnswer, seconds: float) -> Reply:
    """Return the reply in a chat answer; hidden reasoning is stored separately."""
    choice = answer.choices[0]
    message = choice.message
    text = _text(message.content)
    reasoning = message.reasoning_content or message.reasoning
    if not reasoning and (thought := THOUGHT.match(text)):
        reasoning, text = thought.group(1).strip(), text[thought.end() :]
    finish: Finish = wire.FINISHES.get(choice.finish_reason or "stop", "stop")
    if message.refusal:
        finish, text = "refusal", text or message.refusal
    calls = tuple(
        ToolCall(call.id or f"call_{n}", call.function.name, call.function.arguments)
        for n, call in enumerate(message.tool_calls or ())
    )
    return Reply(text, calls, usage_of(answer.usage, seconds), finish, reasoning or None)


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    return content or ""


def usage_of(used: Any, seconds: float) -> Usage:
    """Return the usage of a call; counts that the server does not report, or that are not counts,
    are left out."""
    if not isinstance(used, dict):
        return Usage(seconds=seconds)
    read, cached = _count(used, "prompt_tokens"), _count(used, "cached_tokens", "prompt")
    usage = Usage(
        input=read or 0,
        output=_count(used, "completion_tokens") or 0,
        cached=cached,
        evaluated=None if cached is None else max((read or 0) - cached, 0),
        reasoning=_count(used, "reasoning_tokens", "completion"),
        seconds=seconds,
    )
    return usage.drop_implausible()


def _count(used: dict[str, Any], name: str, details_of: str = "") -> int | None:
    """Return a count of tokens; None if it is missing, -1 if it is not a whole number."""
    counts = used.get(f"{details_of}_tokens_details") if details_of else used
    value = counts.get(name) if isinstance(counts, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if value is None or type(value) is int else -1


class _Logprob(msgspec.Struct):
    logprob: float


class _Scored(msgspec.Struct):
    prompt_logprobs: list[dict[str, _Logprob] | None] | None = None


class _ScoredAnswer(msgspec.Struct):
    prompt_logprobs: list[dict[str, _Logprob] | None] | None = None  # of a chat
    choices: list[_Scored] = []  # of a completion
    usage: Any = None


def read_prompt_logprobs(raw: bytes) -> tuple[in_process.Tokens, list[float], int]:
    """Return token ids and log-probabilities of a prompt from vLLM's `prompt_logprobs=0`.

    The first token has no log-probability; it counts as 0 and never belongs to a candidate.
    """
    try:
        answer = msgspec.json.decode(raw, type=_ScoredAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelFailure("bad_reply", f"The scores cannot be read: {error}") from None
    positions = answer.prompt_logprobs or (
        answer.choices[0].prompt_logprobs if answer.choices else None
    )
    if not positions:
        raise ModelFailure("bad_reply", "The server returned no log-probabilities of the prompt.")
    tokens, logprobs = list[int](), list[float]()
    for position in positions:
        if position is None:
            tokens.append(-1)
            logprobs.append(0.0)
            continue
        if len(position) != 1:
            raise ModelFailure(
                "bad_reply",
                f"The server returned {len(position)} tokens for one position of the prompt; "
                "it should return one.",
            )
        ((token, scored),) = position.items()
        if not token.isdecimal() or len(token) > 9:
            raise ModelFailure("bad_reply", "The server returned a token id that is not a number.")
        tokens.append(int(token))
        logprobs.append(scored.logprob)
    return np.array(tokens, dtype=np.int64), logprobs, usage_of(answer.usage, 0.0).input
