"""Choosing slots and reading answers of llama.cpp, without llama.cpp."""

import sys
from typing import Any

import numpy as np
import pytest

from sally.core.prompt.model import (
    Assistant,
    Message,
    ModelFailure,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
)
from sally.models import llama, wire
from sally.models.embedded import Embedded
from sally.models.in_process import shared_length
from sally.models.llama import Llama, Slot, _raise_errors, best_slot
from sally.models.llama_server import Remote
from sally.models.weights import Unavailable


def prompt(*spans: range) -> Any:
    return np.concatenate([np.array(span, np.int64) for span in spans])


RULES = range(200)


def test_shared_length_is_the_length_of_the_common_prefix() -> None:
    assert shared_length(prompt(range(5)), prompt(range(3), range(9, 12))) == 3
    assert shared_length(prompt(range(5)), prompt(range(2))) == 2
    assert shared_length(prompt(range(5)), prompt(range(0))) == 0


def test_page_is_assigned_to_the_slot_with_its_history() -> None:
    history = prompt(RULES, range(1000, 1100))
    slots = [Slot(prompt(RULES, range(2000, 2300)), 9), Slot(history, 8)]
    assert best_slot(slots, prompt(RULES, range(1000, 1100), range(50)), now=10) == 1


def test_new_episode_does_not_evict_one_in_progress() -> None:
    playing = Slot(prompt(RULES, range(1000, 1600)), 299)
    new = prompt(RULES, range(3000, 3020))
    assert best_slot([playing, Slot()], new, now=300) == 1
    ended = Slot(prompt(RULES, range(2000, 2800)), 1)
    assert best_slot([playing, ended], new, now=300) == 1


def test_second_seat_takes_the_slot_of_an_ended_episode() -> None:
    ended = Slot(prompt(range(100), range(5000, 6000)), 2)
    first = Slot(prompt(range(100), range(1000, 1120)), 60)
    assert best_slot([ended, first], prompt(range(100), range(7000, 7120)), now=61) == 0


@pytest.mark.parametrize("episodes", [1, 2])
def test_concurrent_episodes_reuse_their_evaluated_pages(episodes: int) -> None:
    slots, now, evaluated = [Slot(), Slot()], 0, 0
    past = {episode: prompt(RULES, RULES) for episode in range(episodes)}
    for turn in range(30):
        for episode in past:
            for end in (10_000, 20_000):  # a probe and a move fork the same page
                page = np.concatenate([past[episode], prompt(range(end, end + 45))])
                now += 1
                place = best_slot(slots, page, now)
                evaluated += len(page) - shared_length(slots[place].tokens, page)
                slots[place] = Slot(page, now)
            line = range(
                10**6 * (episode + 1) + 100 * turn, 10**6 * (episode + 1) + 100 * turn + 25
            )
            past[episode] = np.concatenate([past[episode], prompt(line)])
    once = 400 + episodes * (29 * 25 + 30 * 2 * 45)
    assert once <= evaluated <= 1.15 * once


ANSWER: dict[str, Any] = {
    "choices": [{"finish_reason": "length", "message": {"content": "J, bec"}}],
    "usage": {"prompt_tokens": 30, "completion_tokens": 3},
    "timings": {"cache_n": 25, "prompt_n": 5},
}


def test_truncated_reply_has_finish_length() -> None:
    reply = wire.reply(ANSWER, 0.5)
    assert (reply.text, reply.finish, reply.reasoning) == ("J, bec", "length", None)
    usage = reply.usage
    assert (usage.input, usage.output, usage.cached, usage.evaluated) == (30, 3, 25, 5)


def test_reasoning_and_tool_calls_are_separated_from_the_text() -> None:
    call = {"id": "1", "function": {"name": "look", "arguments": "{}"}}
    fields = {"content": None, "reasoning_content": "Hm.", "tool_calls": [call]}
    choices = [{"finish_reason": "tool_calls", "message": fields}]
    reply = wire.reply({**ANSWER, "choices": choices}, 0.5)
    assert (reply.text, reply.reasoning, reply.finish) == ("", "Hm.", "tool_calls")
    assert reply.tool_calls == (ToolCall("1", "look", "{}"),)


@pytest.mark.parametrize("missing", ["choices", "usage", "timings"])
def test_malformed_answer_is_a_bad_reply(missing: str) -> None:
    with pytest.raises(ModelFailure, match="bad_reply"):
        wire.reply({k: v for k, v in ANSWER.items() if k != missing}, 0.5)


def test_messages_and_tools_are_converted_to_chat_format() -> None:
    call = ToolCall("1", "look", '{"box": 2}')
    messages: list[Message] = [
        System("s"),
        User("u"),
        Assistant("a"),
        Assistant("", (call,)),
        ToolResult("1", "look", "empty"),
    ]
    turns = [wire.turn(message) for message in messages]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "assistant", "tool"]
    assert turns[3]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"box": 2}'}
    assert turns[4]["tool_call_id"] == "1"
    spec = wire.tool(ToolSpec("look", "Look.", {"type": "object"}))
    assert spec["function"]["parameters"] == {"type": "object"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("exceed_context_size_error", "context_length"),
        ("invalid_request_error", "bad_request"),
        ("unavailable_error", "server"),
    ],
)
def test_errors_of_llama_cpp_are_failures_by_kind(kind: str, expected: str) -> None:
    with pytest.raises(ModelFailure) as failure:
        _raise_errors({"error": {"type": kind, "message": "No"}})
    assert failure.value.kind == expected


@pytest.mark.parametrize(
    ("runtime", "seconds", "kind"), [(Llama, 60, "server"), (Remote, 600, "connection")]
)
def test_unanswered_request_fails_after_the_time_and_with_the_kind_of_the_runtime(
    runtime: type[Llama], seconds: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent:
        def __init__(self, host: str, timeout: float) -> None:
            assert (host, timeout) == ("127.0.0.1:9", seconds)

        def request(self, *_: object) -> None:
            raise TimeoutError("timed out")

        def close(self) -> None:
            pass

    class Here(runtime):  # type: ignore[misc, valid-type]
        address = "http://127.0.0.1:9"

    monkeypatch.setattr(llama.http.client, "HTTPConnection", Silent)
    model = object.__new__(Here)
    model.key, model._address = "", Here.address
    with pytest.raises(ModelFailure, match="timed out") as failed:
        model.tokens("a", control=False)
    assert failed.value.kind == kind


def test_missing_wheel_is_reported_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(Unavailable, match=r"pip install .*\[embedded\]'"):
        Embedded()


@pytest.mark.parametrize("wrong", [{"form": "q2"}, {"slots": 0}, {"context": 0}, {"threads": 0}])
def test_invalid_embedded_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Embedded(**wrong)
