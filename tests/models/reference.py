"""An independent forward pass of a Llama-type model in numpy, to check log-probabilities by."""

import math
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
# thirty-two weights each; of a pair, the second is sixteen places after the first
Q8_0 = np.dtype([("scale", "<f2"), ("whole", "i1", 32)])
Q4_1 = np.dtype([("scale", "<f2"), ("least", "<f2"), ("pairs", "u1", 16)])


def _norm(x: Array, weight: Array, eps: float) -> Array:
    scaled: Array = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * weight
    return scaled


def _rotated(x: Array, at: Ints, base: float) -> Array:
    """Rotary positions on neighbouring pairs, the order in which GGUF keeps Llama's heads."""
    size = x.shape[2]
    angles = at[:, None] * base ** (-np.arange(0, size, 2) / size)
    cos, sin = (wave(angles)[:, None].astype(x.dtype) for wave in (np.cos, np.sin))
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def _attention(q: Array, k: Array, v: Array, sees: Mask) -> Array:
    length, heads, size = q.shape
    repeat = heads // k.shape[1]
    k, v = np.repeat(k, repeat, axis=1), np.repeat(v, repeat, axis=1)
    scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(size)
    scores = np.where(sees, scores, -np.inf)
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


def _floats(tensor: Any) -> Array:
    """The weights of a tensor; of the kinds in our file a whole tensor at a time."""
    import gguf  # type: ignore[import-untyped, unused-ignore]

    kinds = {gguf.GGMLQuantizationType.Q8_0: Q8_0, gguf.GGMLQuantizationType.Q4_1: Q4_1}
    if (kind := kinds.get(tensor.tensor_type)) is None:
        plain: Array = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        return plain
    blocks = tensor.data.view(kind)
    weights: Array = np.empty((*blocks.shape, 32), np.float32)
    if kind is Q8_0:
        weights[:] = blocks["whole"]
    else:
        np.bitwise_and(blocks["pairs"], 15, out=weights[..., :16], casting="unsafe")
        np.right_shift(blocks["pairs"], 4, out=weights[..., 16:], casting="unsafe")
    weights *= blocks["scale"].astype(np.float32)[..., None]
    if kind is Q4_1:
        weights += blocks["least"].astype(np.float32)[..., None]
    return weights.reshape(len(blocks), -1)


class Reference:
    """The weights of a GGUF file, evaluated without llama.cpp."""

    def __init__(self, path: Path) -> None:
        reader = _reader(path)
        self.weights: dict[str, Array] = {t.name: _floats(t) for t in reader.tensors}

        def read(name: str) -> Any:
            return reader.get_field(f"llama.{name}").contents()

        self.layers, self.base = read("block_count"), read("rope.freq_base")
        self.heads, self.kv = read("attention.head_count"), read("attention.head_count_kv")
        self.eps = read("attention.layer_norm_rms_epsilon")

    def logprobs(self, texts: list[list[int]], start: int) -> list[float]:
        """For each text, the log-probability of its tokens from the start on, given those before.

        All begin alike up to the start, so one pass takes them: their beginning, then each end,
        whose tokens see the beginning and what precedes them in their own text.
        """
        w, stem = self.weights, texts[0][:start]
        assert all(text[:start] == stem for text in texts)
        whose, place = [-1] * start, list(range(start))
        tokens = list(stem)
        for n, text in enumerate(texts):
            tokens += text[start:-1]
            whose += [n] * (len(text) - start - 1)
            place += range(start, len(text) - 1)
        of, array = np.array(whose), np.array(place)
        sees = ((of == -1) | (of == of[:, None])) & (array <= array[:, None])
        x = w["token_embd.weight"][tokens]
        for i in range(self.layers):
            x = self._layer(x, f"blk.{i}.", array, sees)
        x = x[start - 1 :]  # the last token of the beginning foretells the first of each end
        logits = _norm(x, w["output_norm.weight"], self.eps) @ w["token_embd.weight"].T
        logits = logits.astype(np.float64)  # of fifty thousand shares the sum is wanted exactly
        top = logits.max(axis=-1, keepdims=True)
        result = logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
        rows = [[0, *(np.flatnonzero(of[start:] == n) + 1)] for n in range(len(texts))]
        return [float(result[r, t[start:]].sum()) for r, t in zip(rows, texts, strict=True)]

    def _layer(self, x: Array, at: str, place: Ints, sees: Mask) -> Array:
        w, length = self.weights, len(x)
        h = _norm(x, w[at + "attn_norm.weight"], self.eps)
        q = (h @ w[at + "attn_q.weight"].T).reshape(length, self.heads, -1)
        k = (h @ w[at + "attn_k.weight"].T).reshape(length, self.kv, -1)
        v = (h @ w[at + "attn_v.weight"].T).reshape(length, self.kv, -1)
        q, k = _rotated(q, place, self.base), _rotated(k, place, self.base)
        mixed = _attention(q, k, v, sees)
        x = x + mixed @ w[at + "attn_output.weight"].T
        h = _norm(x, w[at + "ffn_norm.weight"], self.eps)
        gate = h @ w[at + "ffn_gate.weight"].T
        up = h @ w[at + "ffn_up.weight"].T
        out: Array = x + (gate / (1 + np.exp(-gate)) * up) @ w[at + "ffn_down.weight"].T
        return out
