"""Stub models answer as they are told."""

import asyncio

import pytest

from sally.core.prompt.model import (
    Assistant,
    BadCandidates,
    CannotScore,
    Fault,
    Message,
    Model,
    ModelFailure,
    Reply,
    Settings,
    System,
    User,
)
from sally.models.stub import (
    Scripted,
    always,
    echo,
    reply_in_order,
)

ASK: list[Message] = [System("You play."), User("J or F?")]


def test_stubs_are_models() -> None:
    for stub in (always("J"), reply_in_order(["J"]), echo(["J", "F"])):
        assert isinstance(stub, Model)


def test_script_sees_the_messages_and_words_are_counted() -> None:
    stub = Scripted(lambda messages, settings: f"{messages[-1].text} {settings.seed} yes")
    reply = asyncio.run(stub.complete(ASK, Settings(seed=7)))
    assert reply.text == "J or F? 7 yes"
    assert (reply.usage.input, reply.usage.output, reply.finish) == (5, 5, "stop")


def test_listed_replies_are_given_in_order_until_used_up() -> None:
    cut = Reply("J because", finish="length")
    stub = reply_in_order(["J", cut, Fault("timeout", "Too slow.")])
    assert asyncio.run(stub.complete(ASK)).text == "J"
    assert asyncio.run(stub.complete(ASK)) == cut
    with pytest.raises(ModelFailure, match="timeout: Too slow"):
        asyncio.run(stub.complete(ASK))
    with pytest.raises(ModelFailure, match="list of 3 replies is used up"):
        asyncio.run(stub.complete(ASK))


def test_echo_chooses_legal_options_by_prompt_and_seed() -> None:
    stub = echo(["J", "F"])
    first = [asyncio.run(stub.complete(ASK, Settings(seed=s))).text for s in range(40)]
    repeated_texts = [asyncio.run(stub.complete(ASK, Settings(seed=s))).text for s in range(40)]
    assert first == repeated_texts
    assert set(first) == {"J", "F"}
    with pytest.raises(ValueError, match="at least one option"):
        echo([])


def test_stub_scores_only_with_a_scorer() -> None:
    assert not always("J").can_score
    with pytest.raises(CannotScore, match="'stub/always' cannot score"):
        asyncio.run(always("J").score("I say", [" J", " F"]))
    fond = always("J", lambda context, candidate: -1.0 if candidate == "J" else -2.0)
    assert fond.can_score
    scores = asyncio.run(fond.score([User("J or F?"), Assistant("I say ")], ["J", "F"]))
    assert scores.logprobs == (-1.0, -2.0)
    assert scores.usage.input == 7
    with pytest.raises(BadCandidates):
        asyncio.run(fond.score("I say", ["J", "JF"]))
