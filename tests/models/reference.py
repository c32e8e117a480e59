"""An independent forward pass of a Llama-type model in numpy, to check log-probabilities by."""

import math
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def _norm(x: Array, weight: Array, eps: float) -> Array:
    scaled: Array = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * weight
    return scaled


def _rotated(x: Array, base: float) -> Array:
    """Rotary positions on neighbouring pairs, the order in which GGUF keeps Llama's heads."""
    length, _, size = x.shape
    angles = np.arange(length)[:, None] * base ** (-np.arange(0, size, 2) / size)
    cos, sin = (wave(angles)[:, None].astype(x.dtype) for wave in (np.cos, np.sin))
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def _attention(q: Array, k: Array, v: Array) -> Array:
    length, heads, size = q.shape
    repeat = heads // k.shape[1]
    k, v = np.repeat(k, repeat, axis=1), np.repeat(v, repeat, axis=1)
    scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(size)
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed: Array = np.einsum("hij,jhd->ihd", weights, v).reshape(length, heads * size)
    return mixed


def _reader(path: Path) -> Any:
    """The file but for its lists, which hold the vocabulary: a hundred thousand views of it."""
    import gguf  # type: ignore[import-untyped, unused-ignore]

    kinds, head = gguf.GGUFValueType, 4 + 8  # of a list: what it holds, and how many

    class Reader(gguf.GGUFReader):  # type: ignore[misc, unused-ignore]
        def _get_field_parts(self, at: int, kind: int) -> Any:
            if kind != kinds.ARRAY:
                return super()._get_field_parts(at, kind)
            (held,), (count,) = self._get(at, np.uint32), self._get(at + 4, np.uint64)
            if held != kinds.STRING:
                size = np.dtype(self.gguf_scalar_to_np[kinds(held)]).itemsize
                return head + size * int(count), [], [], [kinds.ARRAY]
            raw, end = memoryview(self.data), at + head
            for _ in range(int(count)):
                end += 8 + int.from_bytes(raw[end : end + 8], "little")
            return end - at, [], [], [kinds.ARRAY]

    with patch.object(np, "memmap", lambda path, mode: np.fromfile(path, np.uint8)):
        return Reader(path)


class Reference:
    """The weights of a GGUF file, evaluated token by token without llama.cpp."""

    def __init__(self, path: Path) -> None:
        import gguf  # type: ignore[import-untyped, unused-ignore]

        reader = _reader(path)
        self.weights: dict[str, Array] = {
            t.name: gguf.quants.dequantize(t.data, t.tensor_type) for t in reader.tensors
        }

        def read(name: str) -> Any:
            return reader.get_field(f"llama.{name}").contents()

        self.layers, self.base = read("block_count"), read("rope.freq_base")
        self.heads, self.kv = read("attention.head_count"), read("attention.head_count_kv")
        self.eps = read("attention.layer_norm_rms_epsilon")

    def logprob(self, tokens: list[int], start: int) -> float:
        """The log-probability of the tokens from the start on, given those before."""
        w = self.weights
        x = w["token_embd.weight"][tokens[:-1]]
        for i in range(self.layers):
            x = self._layer(x, f"blk.{i}.")
        x = x[start - 1 :]
        logits = _norm(x, w["output_norm.weight"], self.eps) @ w["token_embd.weight"].T
        logits = logits.astype(np.float64)  # of fifty thousand shares the sum is wanted exactly
        top = logits.max(axis=-1, keepdims=True)
        logprobs = logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
        return float(logprobs[np.arange(len(x)), tokens[start:]].sum())

    def _layer(self, x: Array, at: str) -> Array:
        w, length = self.weights, len(x)
        h = _norm(x, w[at + "attn_norm.weight"], self.eps)
        q = (h @ w[at + "attn_q.weight"].T).reshape(length, self.heads, -1)
        k = (h @ w[at + "attn_k.weight"].T).reshape(length, self.kv, -1)
        v = (h @ w[at + "attn_v.weight"].T).reshape(length, self.kv, -1)
        mixed = _attention(_rotated(q, self.base), _rotated(k, self.base), v)
        x = x + mixed @ w[at + "attn_output.weight"].T
        h = _norm(x, w[at + "ffn_norm.weight"], self.eps)
        gate = h @ w[at + "ffn_gate.weight"].T
        up = h @ w[at + "ffn_up.weight"].T
        out: Array = x + (gate / (1 + np.exp(-gate)) * up) @ w[at + "ffn_down.weight"].T
        return out
