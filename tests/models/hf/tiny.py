"""A tiny random model in a folder, made on the spot: it knows nothing, and all of it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

# torch and transformers are no part of the extras that CI installs: CPU wheels of torch are not
# on the public index for Linux, where pip would bring gigabytes of CUDA.
torch: Any = pytest.importorskip("torch", reason="needs the extra hf")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra hf")

TEMPLATE = (
    "{% if tools %}<|im_start|>system\nCall as <tool_call>: {{ tools | tojson }}<|im_end|>\n"
    "{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CORPUS = [
    "Rock beats scissors, scissors cut paper, paper covers rock.",
    "You and the other player each choose J or F at the same time. The capital of France is Paris.",
    "Round 1: you chose rock, the other chose paper. What will the other choose in round 2?",
    "user assistant system\nAnswer with one word.\n 0 1 2 3 4 5 6 7 8 9",
]


def make(folder: Path, kind: str = "qwen2", **changes: Any) -> Path:
    """Write a model of so many bytes that a test takes a moment."""
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "eos_token_id": tokenizer.convert_tokens_to_ids("<|im_end|>"),
        "initializer_range": 0.4,  # so that some continuations are likelier than others
    }
    config = transformers.AutoConfig.for_model(kind, **{**sizes, **changes})
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    plain.train_from_iterator(CORPUS, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>")
    tokenizer.chat_template = TEMPLATE
    return tokenizer
