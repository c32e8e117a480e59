"""The learner of the scripts in examples/trainers, on random nets of a few thousand weights."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs sally-lab[hf]")
pytest.importorskip("transformers", reason="needs sally-lab[hf]")

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from sally.core.rules.chance import Stream


@pytest.fixture
def learner(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples" / "trainers"))
    import learner

    yield learner
    learner.Frozen._known.clear()
    sys.modules.pop("learner")


def test_cached_layers_give_same_logits_as_full_network(learner):
    torch.manual_seed(0)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    net = LlamaForCausalLM(LlamaConfig(vocab_size=20, num_hidden_layers=4, **size)).eval()
    texts = torch.randint(0, 20, (3, 7))
    texts[2] = texts[0]
    seen = torch.ones_like(texts)
    seen[1, :3] = 0  # padded on the left, as for generation
    with torch.no_grad():
        plain = net(texts, use_cache=False).logits
        padded = net(texts, attention_mask=seen, use_cache=False).logits
        layers = net.model.layers
        frozen = learner.Frozen(layers[:-2])
        net.model.layers = torch.nn.ModuleList([frozen, *layers[-2:]])
        for _ in range(2):  # computed, then remembered
            assert torch.allclose(net(texts, use_cache=False).logits, plain, atol=1e-5)
            repeated_logits = net(texts, attention_mask=seen, use_cache=False).logits
            assert torch.allclose(repeated_logits[1, 3:], padded[1, 3:], atol=1e-5)
    assert len(frozen._known) <= 5  # equal rows are computed once, masked and unmasked


def test_control_permutes_rewards_within_group(learner):
    groups = [[0.0, 1.0, 2.0, 5.0]] * 20
    plain, dealt = (learner.less_the_mean(groups, c) for c in (None, Stream("control")))
    assert all(sorted(turn) == sorted(plain[0]) for turn in dealt)
    assert sum(turn != plain[0] for turn in dealt) > 10


def test_options_are_those_of_the_last_line(learner):
    page = "Option: <J or F>\nRound 1.\nAnswer with one line of this form:\nOption: <A, B or C>"
    assert learner.options_in(page) == ["Option: A", "Option: B", "Option: C"]
