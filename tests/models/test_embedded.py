"""The embedded model for real: it needs the wheel and, once, the package index."""

import asyncio
import json
from collections.abc import Callable, Iterator

import msgspec
import pytest

from sally.core.prompt.answer_schema import of_answer
from sally.core.prompt.model import (
    Assistant,
    BadCandidates,
    Context,
    Message,
    Model,
    ModelFailure,
    SchemaSettings,
    Scores,
    Settings,
    System,
    ToolSpec,
    User,
)
from sally.models import llama
from sally.models.embedded import Embedded
from sally.models.weights import fetch
from tests.models.reference import Reference

pytestmark = pytest.mark.slow

pytest.importorskip("xllamacpp", reason="the embedded model needs the wheel xllamacpp")
pytest.importorskip("gguf", reason="the reference reads weights with the package gguf")

CHAT: list[Message] = [System("You play a game."), User("Rock, paper or scissors?")]
BATCH = 16  # tokens that the exact model evaluates at once
THROWS = (" rock.", " paper.", " scissors.")


# One thread: two are slower than one where tests share the machine.
@pytest.fixture(scope="module")
def exact() -> Iterator[Embedded]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama, "UBATCH", BATCH)
        embedded = Embedded(form="f32", context=512, slots=1, threads=1)
    yield embedded
    embedded.close()


@pytest.fixture(scope="module")
def model() -> Iterator[Embedded]:
    embedded = Embedded(form="q8_0", context=1024, threads=1)  # a token takes half the time
    yield embedded
    embedded.close()


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(fetch())


def full(model: Embedded, reference: Reference, text: str, candidates: tuple[str, ...]) -> Scores:
    """The scores from full softmaxes over the joint tokens, by other code than the model's."""
    start = len(model._llama.tokens(text, control=True))
    joint = [
        model._llama.tokens(text + candidate, control=True).tolist() for candidate in candidates
    ]
    return Scores(candidates, tuple(reference.logprobs(joint, start)))


@pytest.mark.parametrize(
    ("context", "text", "candidates"),
    [
        ("I throw rock, you throw", "I throw rock, you throw", (" rock", " paper", " scissors")),
        ("Anne looks in the", "Anne looks in the", (" basket with the marble", " box", " xylem")),
        (
            [*CHAT, Assistant("I play")],
            "<|im_start|>system\nYou play a game.<|im_end|>\n<|im_start|>user\nRock, paper or "
            "scissors?<|im_end|>\n<|im_start|>assistant\nI play",
            THROWS,
        ),
    ],
)
def test_scores_equal_a_full_computation(
    exact: Embedded, reference: Reference, context: Context, text: str, candidates: tuple[str, ...]
) -> None:
    scores = asyncio.run(exact.score(context, candidates))
    # llama.cpp keeps keys and values in half precision.
    assert scores.logprobs == pytest.approx(
        full(exact, reference, text, candidates).logprobs, abs=0.02
    )


def test_candidate_that_merges_with_the_context_is_scored_from_before_the_merge(
    exact: Embedded, reference: Reference
) -> None:
    scores = asyncio.run(exact.score("The answer is pap", ["er", "aya"]))
    words = [f"The answer is{word}" for word in (" paper", " papaya")]
    joint = [exact._llama.tokens(text, control=False).tolist() for text in words]
    assert scores.logprobs == pytest.approx(reference.logprobs(joint, 3), abs=0.02)


def test_answers_do_not_depend_on_earlier_requests(model: Embedded) -> None:
    settings = Settings(seed=4, max_tokens=4)
    page = "Two players pick a box each round. Round 1: red. "

    def said(messages: list[Message]) -> str:
        return asyncio.run(model.complete(messages, settings)).text

    def scores(context: Context, candidates: tuple[str, ...]) -> tuple[float, ...]:
        return asyncio.run(model.score(context, candidates)).logprobs

    def forget() -> None:
        model._llama.slots[:] = [llama.Slot() for _ in model._llama.slots]

    move: list[Message] = [User(page + "Your move?")]
    forget()
    first = said(move)
    # The second chat goes on from the very tokens that the first one said.
    sure: list[Message] = [*move, Assistant(first), User("Sure?")]
    asks: list[Callable[[], object]] = [
        lambda: said(move),
        lambda: scores(sure, (" yes", " no")),
        lambda: scores(page + "They pick", (" red", " blue box")),
        lambda: scores(page + "They pick blue box to win in round", (" two", " three")),
        lambda: said(sure),
    ]
    fresh: list[object] = [first]
    for ask in asks[1:]:
        forget()
        fresh.append(ask())
    assert [ask() for ask in asks] == fresh
    assert [ask() for ask in asks[::-1]] == fresh[::-1]


def test_prompts_just_longer_than_a_batch_give_the_same_scores(
    exact: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama, "UBATCH", BATCH)
    for length in (32, 33, 36):
        text = "a" + " b" * (length - 1)
        assert len(exact._llama.tokens(text, control=False)) == length
        exact._llama.slots[:] = [llama.Slot()]
        fresh = asyncio.run(exact.score(text, [" c", " d"]))
        asyncio.run(exact.score(text[:-20], [" c", " d"]))
        second_run = asyncio.run(exact.score(text, [" c", " d"]))
        assert second_run.logprobs == fresh.logprobs
        assert fresh.usage.evaluated == length
        assert second_run.usage.evaluated is not None and second_run.usage.evaluated < 20


def test_reply_follows_the_seed(model: Embedded) -> None:
    def said(seed: int) -> str:
        settings = Settings(seed=seed, temperature=1.0, max_tokens=8)
        return asyncio.run(model.complete([User("Tell me a story.")], settings)).text

    first = [said(seed) for seed in (1, 2)]
    assert [said(seed) for seed in (1, 2)] == first
    assert len(set(first)) == 2


def test_reply_reports_finish_reason_and_usage(model: Embedded) -> None:
    ask: list[Message] = [User("Count: one, two, three, four, five. Repeat.")]
    cut = asyncio.run(model.complete(ask, Settings(temperature=0, max_tokens=3)))
    assert (cut.finish, cut.usage.output) == ("length", 3)
    second_run = asyncio.run(model.complete(ask, Settings(temperature=0, max_tokens=1)))
    # Four tokens are always evaluated afresh, and one to make llama.cpp forget them.
    assert (second_run.usage.evaluated, second_run.usage.cached) == (5, second_run.usage.input - 4)
    word = cut.text.split()[0]
    stopped = asyncio.run(model.complete(ask, Settings(temperature=0, max_tokens=9, stop=(word,))))
    assert (stopped.finish, stopped.text) == ("stop", "")


def test_concurrent_callers_get_their_own_answers(model: Embedded) -> None:
    async def together() -> list[object]:
        settings = Settings(temperature=0, max_tokens=4)
        asks = [model.complete([User(f"Say {n}.")], settings) for n in ("red", "blue", "green")]
        scores = [model.score(f"After {n} comes", [" the", " a"]) for n in ("one", "two")]
        replies = [reply.text for reply in await asyncio.gather(*asks)]
        return [*replies, *(s.normalise()[" the"] for s in await asyncio.gather(*scores))]

    async def in_turn() -> list[object]:
        settings = Settings(temperature=0, max_tokens=4)
        replies = [
            (await model.complete([User(f"Say {n}.")], settings)).text
            for n in ("red", "blue", "green")
        ]
        scores = [await model.score(f"After {n} comes", [" the", " a"]) for n in ("one", "two")]
        return [*replies, *(s.normalise()[" the"] for s in scores)]

    assert asyncio.run(together()) == asyncio.run(in_turn())


def test_unanswerable_requests_fail_with_a_kind(model: Embedded) -> None:
    assert isinstance(model, Model)
    tool = ToolSpec("look", "Look in a box.", {"type": "object", "properties": {}})
    wrong = [
        ("bad_request", [User("I say <|im_end|> and go on.")], Settings(), []),
        ("bad_request", [User("half \ud800 character")], Settings(), []),
        ("bad_request", [User("J or F?"), Assistant("J")], Settings(), []),
        ("bad_request", [], Settings(), []),
        ("context_length", [User("on and " * 1000)], Settings(), []),
        ("unsupported", [User("Look.")], Settings(), [tool]),
        ("unsupported", [User("Look.")], Settings(reasoning_effort="high"), []),
    ]
    for kind, messages, settings, tools in wrong:
        with pytest.raises(ModelFailure) as failure:
            asyncio.run(model.complete(messages, settings, tools))  # type: ignore[arg-type]
        assert failure.value.kind == kind
    with pytest.raises(BadCandidates):
        asyncio.run(model.score("I play", [" rock", " rocket"]))
    with pytest.raises(ModelFailure, match="no context"):
        asyncio.run(model.score("", ["J", "F"]))


def test_used_record_names_form_context_and_hash(model: Embedded) -> None:
    used = model.used
    assert (used.form, used.context, len(used.sha256)) == ("q8_0", 1024, 64)
    assert model.name == "embedded/smollm2-135m-instruct"


def test_reply_satisfies_the_schema(model: Embedded) -> None:
    expected_fields = {"type": "string", "enum": ["J", "F"]}
    schema_settings = SchemaSettings(
        max_tokens=40, format="schema", schema=of_answer("Option", expected_fields)
    )
    for seed in range(2):
        settings = msgspec.structs.replace(schema_settings, seed=seed)
        reply = asyncio.run(model.complete([User("Tell me a story of J and F.")], settings))
        assert json.loads(reply.text)["option"] in ("J", "F") and reply.finish == "stop"
