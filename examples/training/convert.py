"""Unpack a small llama model from a GGUF file into a folder that transformers reads.

    python convert.py FILE.gguf FOLDER [--dtype bfloat16]

Takes seconds for SmolLM2-135M, where transformers' own reader takes minutes. Only the llama
architecture with a byte-level BPE tokeniser (`tokenizer.ggml.pre` smollm) is understood.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import gguf
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

CONTROL = 3  # the type of a token that controls the chat

NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def convert(source: Path, folder: Path, dtype: str = "bfloat16") -> None:
    """Write config, weights and tokeniser of a GGUF file into a folder."""
    reader = gguf.GGUFReader(source)
    facts = {name: field.contents() for name, field in reader.fields.items()}
    if facts["general.architecture"] != "llama" or facts.get("tokenizer.ggml.pre") != "smollm":
        raise SystemExit(f"{source} is no llama model with SmolLM's tokeniser.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(_config(facts, dtype), indent=1))
    weights = _weights(reader, facts, getattr(torch, dtype))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    _tokeniser(facts).save(str(folder / "tokenizer.json"))
    tokens = facts["tokenizer.ggml.tokens"]
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": tokens[facts["tokenizer.ggml.eos_token_id"]],
        "bos_token": tokens[facts["tokenizer.ggml.bos_token_id"]],
        "pad_token": tokens[facts["tokenizer.ggml.padding_token_id"]],
        "chat_template": facts["tokenizer.chat_template"],
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(about, indent=1))


def _config(facts: dict[str, Any], dtype: str) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": facts["llama.embedding_length"],
        "intermediate_size": facts["llama.feed_forward_length"],
        "num_hidden_layers": facts["llama.block_count"],
        "num_attention_heads": facts["llama.attention.head_count"],
        "num_key_value_heads": facts["llama.attention.head_count_kv"],
        "max_position_embeddings": facts["llama.context_length"],
        "rms_norm_eps": round(facts["llama.attention.layer_norm_rms_epsilon"], 9),
        "rope_theta": facts["llama.rope.freq_base"],
        "vocab_size": facts["llama.vocab_size"],
        "tie_word_embeddings": True,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": facts["tokenizer.ggml.bos_token_id"],
        "eos_token_id": facts["tokenizer.ggml.eos_token_id"],
        "torch_dtype": dtype,
    }


def _weights(reader: Any, facts: dict[str, Any], dtype: torch.dtype) -> dict[str, torch.Tensor]:
    heads = {
        "attn_q": facts["llama.attention.head_count"],
        "attn_k": facts["llama.attention.head_count_kv"],
    }
    weights = {}
    for tensor in reader.tensors:
        plain = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
        shape = [int(n) for n in reversed(tensor.shape)]
        plain = plain.reshape(shape).to(torch.float32)
        _, *block = tensor.name.removesuffix(".weight").split(".")
        if block:
            number, part = block
            if part in heads:
                plain = _unweave(plain, heads[part])
            name = f"model.layers.{number}.{NAMES[part]}.weight"
        else:
            name = {
                "token_embd.weight": "model.embed_tokens.weight",
                "output_norm.weight": "model.norm.weight",
            }[tensor.name]
        weights[name] = plain.to(dtype).contiguous()
    return weights


def _unweave(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """llama.cpp weaves the two halves of each head's rotary dimensions; take them apart again."""
    rows, columns = weight.shape
    woven = weight.reshape(heads, rows // heads // 2, 2, columns)
    return woven.swapaxes(1, 2).reshape(rows, columns)


def _tokeniser(facts: dict[str, Any]) -> Tokenizer:
    tokens = facts["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in facts["tokenizer.ggml.merges"]]
    tokeniser = Tokenizer(models.BPE({text: i for i, text in enumerate(tokens)}, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokeniser.pre_tokenizer = pre_tokenizers.Sequence([digits, byte_level])
    tokeniser.decoder = decoders.ByteLevel()
    kinds = facts["tokenizer.ggml.token_type"]
    marked = [text for text, kind in zip(tokens, kinds, strict=True) if kind == CONTROL]
    tokeniser.add_special_tokens([AddedToken(text, normalized=False) for text in marked])
    return tokeniser


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dtype", default="bfloat16")
    given = parser.parse_args()
    convert(given.source, given.folder, given.dtype)
