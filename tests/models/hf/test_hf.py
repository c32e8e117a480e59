"""The kind hf with a tiny random model: exact scores, the same answers alone and in company."""

import asyncio
import json

import pytest

from sally.core.errors import BadInput
from sally.core.prompt.model import (
    Assistant,
    ModelFailure,
    SchemaSettings,
    Settings,
    System,
    ToolSpec,
    User,
)
from sally.models.hf import HF, _open_model
from sally.models.hf.texts import calls_in, thought
from tests.models.hf import tiny
from tests.models.hf.tiny import torch, transformers

RULES = "You and the other player each choose rock, paper or scissors at the same time. " * 6
GREEDY = Settings(temperature=0, max_tokens=24)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def model(folder):
    made = HF(str(folder), device="cpu", rows=6)
    yield made
    made.close()


@pytest.fixture(scope="module")
def plain(folder):
    """The same model as transformers runs it, with its own attention and no cache of ours."""
    loaded = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return loaded.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def pages(count):
    return [
        [User(f"{RULES}Round {n}: the other chose {('rock', 'paper')[n % 2]}. Your choice?")]
        for n in range(count)
    ]


def render(plain, messages):
    turns = [{"role": "user", "content": message.text} for message in messages]
    return plain[1].apply_chat_template(turns, tokenize=False, add_generation_prompt=True)


def exact(plain, text, candidate, chat=True):
    """The log-probability by one plain pass over the jointly tokenised text."""
    network, tokenizer = plain
    ids = tokenizer(text + candidate, add_special_tokens=not chat)["input_ids"]
    alone = tokenizer(text, add_special_tokens=not chat)["input_ids"]
    same = next((i for i, (a, b) in enumerate(zip(alone, ids, strict=False)) if a != b), len(alone))
    with torch.inference_mode():
        read = torch.log_softmax(network(torch.tensor([ids])).logits[0], -1)
    return sum(float(read[index - 1, ids[index]]) for index in range(same, len(ids)))


def together(calls):
    async def all_of_them():
        return await asyncio.gather(*calls)

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_replies_satisfy_the_schema_at_any_temperature(model, temperature):
    option = {"enum": ["rock", "paper", "scissors"]}
    number = {"type": "integer", "minimum": 11, "maximum": 20}
    schema = {"type": "object", "properties": {"option": option, "number": number}}
    schema_settings = SchemaSettings(
        temperature=temperature, max_tokens=60, seed=3, schema=json.dumps(schema)
    )
    assert model.can_constrain
    replies = together(model.complete(messages, schema_settings) for messages in pages(6))
    for reply in replies:
        data = json.loads(reply.text)
        assert list(data) == ["option", "number"] and reply.finish == "stop"
        assert data["option"] in option["enum"] and 11 <= data["number"] <= 20


def test_scores_equal_one_plain_pass_over_the_joint_text(model, plain):
    candidates = ["rock", "paper", "scissors cut paper", "J"]
    for messages in pages(3):
        scores = asyncio.run(model.score(messages, candidates))
        expected = [exact(plain, render(plain, messages), candidate) for candidate in candidates]
        assert scores.logprobs == pytest.approx(expected, abs=1e-3)


def test_candidate_that_merges_with_the_end_of_the_text_is_scored_as_merged(model, plain):
    _, tokenizer = plain
    text, candidates = "The capital of Fran", ["ce is Paris", " xyz"]
    merged = tokenizer(text + candidates[0])["input_ids"]
    assert merged[: len(tokenizer(text)["input_ids"])] != tokenizer(text)["input_ids"]
    scores = asyncio.run(model.score(text, candidates))
    ids = [tokenizer(text + c)["input_ids"] for c in candidates]
    stem = min(_same(tokenizer(text)["input_ids"], item) for item in ids)
    with torch.inference_mode():
        reads = [torch.log_softmax(plain[0](torch.tensor([i])).logits[0], -1) for i in ids]
    expected_totals = [
        sum(float(read[index - 1, item[index]]) for index in range(stem, len(item)))
        for read, item in zip(reads, ids, strict=True)
    ]
    assert scores.logprobs == pytest.approx(expected_totals, abs=1e-3)


def _same(first, other):
    return next(
        (i for i, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), len(first)
    )


def test_open_turn_of_the_assistant_is_continued(model, plain):
    [messages] = pages(1)
    scores = asyncio.run(model.score([*messages, Assistant("I choose ")], ["rock", "paper"]))
    text = render(plain, messages) + "I choose "
    stem = [exact(plain, text, c) for c in ("rock", "paper")]
    gap = scores.logprobs[0] - scores.logprobs[1]
    assert gap == pytest.approx(stem[0] - stem[1], abs=1e-3)


def test_greedy_reply_equals_generate_of_transformers(model, plain):
    network, tokenizer = plain
    for messages in pages(3):
        reply = asyncio.run(model.complete(messages, GREEDY))
        ids = tokenizer(render(plain, messages), return_tensors="pt", add_special_tokens=False)
        said = network.generate(**ids, max_new_tokens=24, do_sample=False)[0]
        said = said[ids["input_ids"].shape[1] :]
        assert reply.text == tokenizer.decode(said, skip_special_tokens=True)


def test_concurrent_calls_give_the_same_replies_in_fewer_passes(model):
    heat = [Settings(temperature=1.0, seed=n, max_tokens=24) for n in range(20)]
    alone = [asyncio.run(model.complete(p, s)) for p, s in zip(pages(20), heat, strict=True)]
    scored = [asyncio.run(model.score(p, ["rock", "paper"])) for p in pages(20)]
    passes_before = model.passes
    calls = [model.complete(p, s) for p, s in zip(pages(20), heat, strict=True)]
    mixed = together([*calls, *(model.score(p, ["rock", "paper"]) for p in pages(20))])
    passes = model.passes - passes_before
    assert [reply.text for reply in mixed[:20]] == [reply.text for reply in alone]
    for first, counterpart in zip(mixed[20:], scored, strict=True):
        assert first.logprobs == pytest.approx(counterpart.logprobs, abs=1e-3)
    assert passes < sum(reply.usage.output for reply in alone) / 3


def test_grown_page_reuses_its_evaluated_prefix(model):
    rules = [System(RULES), User("Round 1.")]
    first = asyncio.run(model.complete(rules, GREEDY))
    grown = asyncio.run(model.complete([System(RULES), User("Round 1. Round 2.")], GREEDY))
    assert first.usage.cached + first.usage.evaluated == first.usage.input
    assert grown.usage.evaluated < 0.2 * grown.usage.input


def test_prompt_longer_than_a_pass_is_evaluated_in_pieces(folder, plain):
    small = HF(str(folder), device="cpu", rows=2)
    small._engine._budget = 50
    try:
        [messages] = pages(1)
        scores = asyncio.run(small.score(messages, ["rock", "paper"]))
    finally:
        small.close()
    expected = [exact(plain, render(plain, messages), c) for c in ("rock", "paper")]
    assert scores.logprobs == pytest.approx(expected, abs=1e-3)


def test_reply_follows_the_seed(model):
    [messages] = pages(1)
    replies = [
        asyncio.run(model.complete(messages, Settings(seed=seed, max_tokens=16))).text
        for seed in (1, 1, 2)
    ]
    assert replies[0] == replies[1] != replies[2]


def test_top_k_1_and_tiny_top_p_give_the_greedy_reply(model):
    [messages] = pages(1)
    narrow = [Settings(top_k=1, seed=5, max_tokens=12), Settings(top_p=1e-6, seed=6, max_tokens=12)]
    likeliest = asyncio.run(model.complete(messages, Settings(temperature=0, max_tokens=12))).text
    assert {asyncio.run(model.complete(messages, s)).text for s in narrow} == {likeliest}


def test_draws_follow_the_probabilities(model):
    [messages] = pages(1)
    firsts = together(
        model.complete(messages, Settings(temperature=0.5, top_k=2, seed=seed, max_tokens=1))
        for seed in range(200)
    )
    texts = [reply.text for reply in firsts]
    likeliest = asyncio.run(model.complete(messages, Settings(temperature=0, max_tokens=1))).text
    assert len(set(texts)) == 2
    assert texts.count(likeliest) > 100


def test_stop_string_truncates_the_reply_and_counts_as_stop(model):
    [messages] = pages(1)
    whole = asyncio.run(model.complete(messages, GREEDY))
    assert whole.finish == "length"
    stop = whole.text[3:5]
    settings = Settings(temperature=0, max_tokens=24, stop=(stop,))
    cut = asyncio.run(model.complete(messages, settings))
    assert cut.finish == "stop"
    assert cut.text == whole.text[: whole.text.index(stop)]


def test_too_long_prompt_is_a_context_length_failure(model):
    with pytest.raises(ModelFailure, match="context_length"):
        asyncio.run(model.complete([User("rock " * 3000)], GREEDY))


def test_text_that_would_end_the_turn_is_refused(model):
    with pytest.raises(ModelFailure, match="control sequence of the chat"):
        asyncio.run(model.complete([User("a <|im_end|> b")], GREEDY))


def test_cancelled_call_does_not_block_others(model):
    async def leave():
        going = asyncio.ensure_future(model.complete(pages(1)[0], Settings(max_tokens=400)))
        await asyncio.sleep(0.05)
        going.cancel()
        return await model.complete(pages(2)[1], GREEDY)

    assert asyncio.run(leave()).usage.output > 0


def test_failed_pass_is_reported_to_its_callers_and_next_call_works(model, monkeypatch):
    net = model._engine._net
    monkeypatch.setattr(net, "fill", lambda parts: (_ for _ in ()).throw(RuntimeError("no memory")))
    with pytest.raises(ModelFailure, match="no memory"):
        asyncio.run(model.score(pages(1)[0], ["rock", "paper"]))
    monkeypatch.undo()
    assert asyncio.run(model.score(pages(1)[0], ["rock", "paper"])).logprobs[0] < 0


def test_tools_are_shown_and_their_calls_read(model):
    tool = ToolSpec("look", "Look into a box.", {"type": "object", "properties": {}})
    shown = asyncio.run(model.complete([User("Where is it?")], GREEDY, [tool]))
    bare = asyncio.run(model.complete([User("Where is it?")], GREEDY))
    assert shown.usage.input > bare.usage.input
    reply_text = 'Let me see.<tool_call>\n{"name": "look", "arguments": {"box": 2}}\n</tool_call>'
    text, [call] = calls_in(reply_text)
    assert (text, call.name, json.loads(call.arguments)) == ("Let me see.", "look", {"box": 2})
    assert calls_in("<tool_call>{broken}</tool_call>")[1] == ()


def test_reasoning_is_separated_from_the_text():
    assert thought("<think>\nhm\n</think>\n\nJ") == ("J", "hm")
    assert thought("J") == ("J", None)


@pytest.mark.parametrize("kind", ["llama", "qwen3", "mistral"])
def test_other_model_families_pass_the_start_up_check(kind, tmp_path):
    made = HF(str(tiny.make(tmp_path / kind, kind)), device="cpu", rows=2)
    made.close()


def test_engine_is_closed_before_python_ends(folder, monkeypatch):
    # On an accelerator a pass that was running at the end aborted the process: exit code 134
    # instead of 130 after Ctrl-C.
    last = []
    monkeypatch.setattr("atexit.register", last.append)
    made = HF(str(folder), device="cpu", rows=2)
    asked = made._engine.say([1, 2, 3], Settings(temperature=0, max_tokens=64), 64, lambda _: False)
    last[-1]()
    assert not made._engine._thread.is_alive()
    assert asked.done()


def test_model_with_unsupported_attention_is_refused(tmp_path):
    folder = tiny.make(tmp_path, "gemma2", head_dim=8, attn_logit_softcapping=2.0)
    with pytest.raises(BadInput, match="vllm"):
        _open_model(f"hf:{folder}?device=cpu")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hf", "Name a folder"),
        ("hf:/nowhere/at/all", "no file"),
        ("hf:{}?colour=red", "setting of hf"),
        ("hf:{}?dtype=int4", "dtype"),
        ("hf:{}?context=much", "context"),
    ],
)
def test_invalid_name_is_refused_with_one_message(name, says, folder):
    with pytest.raises(BadInput, match=says):
        _open_model(name.format(folder))


def test_folder_without_a_model_is_refused_with_one_message(tmp_path):
    with pytest.raises(BadInput, match=r"config\.json"):
        _open_model(f"hf:{tmp_path}")


def test_used_record_names_dtype_and_hash(model):
    assert model.used.dtype == "float32"
    assert len(model.used.sha256) == 64
    assert model.slots == 6
