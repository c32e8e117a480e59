"""The client for servers that implement chat completions: what it sends, reads and refuses."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    CannotScore,
    ModelFailure,
    Reply,
    Settings,
    System,
    ToolSpec,
    User,
)
from sally.models.chat_server import MOST_BYTES, ChatServer, Timeouts, close_connections
from sally.runner.servers import served_name
from tests.adapters.inspect.server import Fault, Handler, Server, serving

pytest.importorskip("aiohttp", reason="the client for servers is an extra")
PAGE = [System("Rules."), User("Which option?")]
KEY = "sk-very-secret-4711"


def ask_once(server: Server, do: Callable[[ChatServer], Any], **arguments: Any) -> Any:
    """Return what a client of the server returns."""
    model = ChatServer("server/local", "local", server.address, KEY, **arguments)

    async def run() -> Any:
        try:
            return await do(model)
        finally:
            await close_connections()

    return asyncio.run(run())


def test_client_that_is_not_installed_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sally.models.chat_server.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"^aiohttp is not installed; `pip install .*\[server\]"):
        ChatServer("server/local", "local", "http://localhost:8000/v1", KEY)


def reply(fault: Fault, settings: Settings = AS_THE_PROVIDER_DOES, **arguments: Any) -> Reply:
    """Return the reply to a page from a server that answers so."""
    with serving(always=fault) as server:
        actual_reply: Reply = ask_once(
            server, lambda model: model.complete(PAGE, settings), **arguments
        )
    return actual_reply


def failure(fault: Fault, **arguments: Any) -> ModelFailure:
    """Return the failure of a call to a server that answers so."""
    with pytest.raises(ModelFailure) as error:
        reply(fault, **arguments)
    assert KEY not in str(error.value)
    return error.value


def answering(**message: Any) -> Fault:
    """Answer with a message and usage."""
    choice = {"message": message, "finish_reason": "stop"}
    details = {"prompt_tokens_details": {"cached_tokens": 30}}
    usage = {"prompt_tokens": 50, "completion_tokens": 5, **details}
    body = {"model": "local-7", "choices": [choice], "usage": usage}
    return lambda call: call.send(200, json.dumps(body).encode())


def test_request_contains_exactly_the_given_settings() -> None:
    records: list[dict[str, Any]] = []

    def keep(call: Handler) -> None:
        records.append(call.asked)
        call.say("Option: J")

    reply(keep, Settings(temperature=0.5, max_tokens=9, seed=3, stop=("\n",)))
    (sent,) = records
    assert sent == {
        "model": "local",
        "messages": [
            {"role": "system", "content": "Rules."},
            {"role": "user", "content": "Which option?"},
        ],
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 3,
        "stop": ["\n"],
    }


def test_reasoning_in_field_or_tags_is_separated_from_the_text() -> None:
    for fault in (
        answering(content="Option: J", reasoning_content="J is best."),
        answering(content="Option: J", reasoning="J is best."),
        answering(content="<think>J is best.</think>\n\nOption: J"),
    ):
        actual_reply = reply(fault)
        assert (actual_reply.text, actual_reply.reasoning) == ("Option: J", "J is best.")


def test_usage_separates_cached_from_evaluated_tokens() -> None:
    used = reply(answering(content="Option: J")).usage
    assert (used.input, used.output, used.cached, used.evaluated) == (50, 5, 30, 20)


def test_tool_calls_are_sent_and_read() -> None:
    records: list[dict[str, Any]] = []
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}

    def keep(handler: Handler) -> None:
        records.append(handler.asked)
        answering(content=None, tool_calls=[call])(handler)

    tool = ToolSpec("look", "Look up.", {"type": "object", "properties": {}})
    with serving(always=keep) as server:
        result = ask_once(server, lambda model: model.complete(PAGE, Settings(), [tool]))
    assert records[0]["tools"][0]["function"]["name"] == "look"
    assert (result.tool_calls[0].name, result.tool_calls[0].read()) == ("look", {"n": 1})


# --- replies that are none ------------------------------------------------------------------------


def redirecting(call: Handler) -> None:
    call.send(307, b"", {"Location": "http://127.0.0.1:9/elsewhere"})


def test_redirect_is_refused() -> None:
    model_failure = failure(redirecting)
    assert model_failure.kind == "bad_request" and "final address" in str(model_failure)


def test_decompressed_reply_above_the_limit_is_refused() -> None:
    bomb = gzip.compress(b" " * (MOST_BYTES + 2**20))
    assert len(bomb) < 10**5
    model_failure = failure(lambda call: call.send(200, bomb, {"Content-Encoding": "gzip"}))
    assert model_failure.kind == "bad_reply" and "MiB" in str(model_failure)


def test_compressed_reply_of_ordinary_size_is_read() -> None:
    body = gzip.compress(json.dumps({"choices": [{"message": {"content": "J"}}]}).encode())
    assert reply(lambda call: call.send(200, body, {"Content-Encoding": "gzip"})).text == "J"


def test_chunked_reply_is_read() -> None:
    def chunked(call: Handler) -> None:
        call.send_response(200)
        call.send_header("Transfer-Encoding", "chunked")
        call.end_headers()
        for part in (b'{"choices": [{"mess', b'age": {"content": "J"}}]}', b""):
            call.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))

    assert reply(chunked).text == "J"


def test_slow_reply_is_ended_by_the_total_timeout() -> None:
    def dripping(call: Handler) -> None:
        call.send_response(200)
        call.send_header("Content-Length", "1000")
        call.end_headers()
        for _ in range(200):
            call.wfile.write(b" ")
            call.wfile.flush()
            time.sleep(0.05)

    assert failure(dripping, timeouts=Timeouts(whole=0.5)).kind == "timeout"


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'{"choices": 3}',
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"choices": [{"message": {"content": "\xff"}}]}',
    ],
)
def test_malformed_reply_is_a_bad_reply_failure(body: bytes) -> None:
    assert failure(lambda call: call.send(200, body)).kind == "bad_reply"


def test_unreachable_server_error_contains_no_python_internals() -> None:
    with serving(always=answering(content="J")) as server:
        pass
    with pytest.raises(ModelFailure) as error:
        ask_once(server, lambda model: model.complete(PAGE, AS_THE_PROVIDER_DOES))
    assert error.value.kind == "connection"
    assert f"{server.address}: cannot connect (Connection refused)." in str(error.value)


@pytest.mark.parametrize("count", [-1, 10**12, 10**18, 10**30, 1e30, 2.5, "9", [], None, True])
def test_implausible_token_count_is_ignored(count: object) -> None:
    body = {"choices": [{"message": {"content": "J"}}], "usage": {"prompt_tokens": count}}
    said = reply(lambda call: call.send(200, json.dumps(body).encode()))
    assert said.text == "J" and said.usage.input == 0


@pytest.mark.parametrize(
    "beside",
    [{"model": None}, {"model": 7}, {"usage": []}, {"usage": "none"}, {"usage": None},
     {"usage": {"prompt_tokens": 5, "prompt_tokens_details": 3}}],
)  # fmt: skip
def test_fields_beside_the_reply_do_not_make_it_fail(beside: dict[str, object]) -> None:
    body = {"choices": [{"message": {"content": "J"}}], **beside}
    said = reply(lambda call: call.send(200, json.dumps(body).encode()))
    assert said.text == "J"


def test_error_names_address_and_server_message_without_the_key() -> None:
    def refuse(call: Handler) -> None:
        fields = {"error": {"message": f"no model here for {call.headers['Authorization']}"}}
        call.send(404, json.dumps(fields).encode())

    model_failure = failure(refuse)
    assert model_failure.kind == "bad_request"
    assert "127.0.0.1" in str(model_failure) and "no model here" in str(model_failure)


def test_too_long_prompt_is_a_context_length_failure() -> None:
    data = b'{"error": {"message": "This model\'s maximum context length is 4096 tokens."}}'
    assert failure(lambda call: call.send(400, data)).kind == "context_length"


def test_unreachable_server_is_a_connection_failure_with_its_address() -> None:
    with serving() as server:
        address = server.address
    model = ChatServer("server/local", "local", address, timeouts=Timeouts(whole=5))

    async def run() -> None:
        try:
            await model.complete(PAGE)
        finally:
            await close_connections()

    with pytest.raises(ModelFailure) as error:
        asyncio.run(run())
    assert error.value.kind == "connection" and address in str(error.value)


@pytest.mark.parametrize(
    "address", ["localhost:8000", "ftp://host/v1", "http://user:pw@host/v1", "http://host/v1?key=x"]
)
def test_invalid_address_or_address_with_secret_is_refused(address: str) -> None:
    with pytest.raises(BadInput) as error:
        ChatServer("server/m", "m", address)
    assert "pw" not in str(error.value) and "key=x" not in str(error.value)


def test_connection_is_kept_after_an_error() -> None:
    opened: set[Any] = set()

    def once_wrong(call: Handler) -> None:
        opened.add(call.client_address)
        if len(numbers) == 0:
            numbers.append(1)
            call.send(500, b"{}")
        else:
            call.say("Option: J")

    numbers: list[int] = []

    async def twice(model: ChatServer) -> Reply:
        with pytest.raises(ModelFailure):
            await model.complete(PAGE)
        return await model.complete(PAGE)

    with serving(always=once_wrong) as server:
        assert ask_once(server, twice).text == "Option: J"
    assert len(opened) == 1


def test_proxy_of_the_environment_is_used_unless_the_host_is_exempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving() as proxy, serving() as server:
        monkeypatch.setenv("http_proxy", proxy.address.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        ask_once(server, lambda model: model.complete(PAGE))
        assert (proxy.calls, server.calls) == (1, 0)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        ask_once(server, lambda model: model.complete(PAGE))
        assert (proxy.calls, server.calls) == (1, 1)


# --- scores ---------------------------------------------------------------------------------------


def scoring(call: Handler) -> None:
    """Score prompts as vLLM documents it, with a token for each character."""
    asked = call.asked
    assert asked["prompt_logprobs"] == 0
    text = asked.get("prompt") or "".join(m["content"] for m in asked["messages"])
    positions: list[Any] = [None]
    positions += [{str(ord(c)): {"logprob": -ord(c) / 100, "rank": 1}} for c in text[1:]]
    usage = {"prompt_tokens": len(text), "completion_tokens": 1}
    chat = {"choices": [{"message": {"content": "x"}}], "prompt_logprobs": positions}
    plain = {"choices": [{"text": "x", "prompt_logprobs": positions}]}
    body = plain if "prompt" in asked else chat
    call.send(200, json.dumps({**body, "usage": usage}).encode())


@pytest.mark.parametrize("context", ["Which? ", [User("Which? ")]])
def test_candidates_are_scored_only_by_their_own_tokens(context: Any) -> None:
    with serving(always=scoring) as server:
        result = ask_once(
            server, lambda model: model.score(context, ["J.", "FF."]), prompt_logprobs=True
        )
    expected = [-sum(map(ord, text)) / 100 for text in ("J.", "FF.")]
    assert result.logprobs == pytest.approx(expected)


def test_server_without_declared_scoring_is_not_asked_for_scores() -> None:
    with serving() as server, pytest.raises(CannotScore):
        ask_once(server, lambda model: model.score("Which? ", ["J", "F"]))
    assert server.calls == 0


def test_served_name_is_the_model_name_without_provider() -> None:
    assert served_name("openai-api/lab/qwen-7b") == "qwen-7b"
    assert served_name("openai/weak") == "weak"
    assert served_name("server/org/qwen-7b") == "org/qwen-7b"
