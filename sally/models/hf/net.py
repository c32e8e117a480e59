"""The network: a causal language model that evaluates many rows of its cache at once."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sally.core.errors import install_command
from sally.core.prompt.model import ModelFailure
from sally.models.hf.jobs import Job
from sally.models.weights import Unavailable

ATTENTION: Final = "sally_rows"
ROUND: Final = 64  # attention length is rounded up to a multiple of this
# Lengths for which a CUDA graph is made; other lengths use the next larger one.
GRAPHS: Final = (256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768)


def torch() -> Any:
    """Import torch."""
    return _package("torch")


def transformers() -> Any:
    """Import transformers."""
    return _package("transformers")


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unavailable(
            f"Models of the kind hf need the package {name}, which is not installed or does not "
            f"fit this machine ({error}); install it with `{install_command('hf')}`."
        ) from error


def attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
) -> tuple[Any, None]:
    """Compute attention over cached rows; queries that share a key head are merged."""
    for name in ("softcap", "s_aux"):
        if options.get(name) is not None:
            raise Unavailable(
                f"This model's attention has a {name}, which hf does not support; "
                "serve the model with vllm instead."
            )
    batch, heads, length, width = query.shape
    groups = heads // key.shape[1]
    folded = query.reshape(batch, key.shape[1], groups * length, width)
    mixed = torch().nn.functional.scaled_dot_product_attention(
        folded, key, value, attn_mask=attention_mask, scale=options.get("scaling")
    )
    return mixed.reshape(batch, heads, length, -1).transpose(1, 2).contiguous(), None


@dataclass
class Span:
    """The rows and positions that one forward pass writes, and how far back it attends."""

    rows: Any  # None: all rows, in order
    places: Any
    reach: int


@dataclass(frozen=True)
class PassTokens:
    """The tokens of one job that the next forward pass evaluates. For a job that scores
    continuations of its prompt, the pass that reaches the end of the prompt also evaluates the
    continuations, which are stored as a tree."""

    job: Job
    count: int
    is_whole: bool

    @property
    def nodes(self) -> int:
        """The number of tokens in this pass that belong to the tree of continuations."""
        return len(self.job.tree.tokens) if self.is_whole and self.job.tree else 0


class RowCache:
    """Keys and values of all rows; the current pass determines which are written and read."""

    is_compileable = False

    def __init__(self, shapes: Sequence[tuple[int, int, int]], rows: int, length: int, like: Any):
        new = torch().zeros
        kind = {"dtype": like.dtype, "device": like.device}
        heads, wide, deep = shapes[0]
        self.keys = new((len(shapes), rows, length, heads, wide), **kind)
        self.values = new((len(shapes), rows, length, heads, deep), **kind)
        self.span = Span(None, None, 0)

    def update(
        self, keys: Any, values: Any, layer: int, *extra: Any, **options: Any
    ) -> tuple[Any, Any]:
        """Store new keys and values, and return all keys and values that the pass may see."""
        span = self.span
        whose = (
            span.rows
            if span.rows is not None
            else torch().arange(self.keys.shape[1], device=self.keys.device)
        )
        visible_pair = []
        for stored, new in ((self.keys[layer], keys), (self.values[layer], values)):
            stored[whose[:, None], span.places] = new.transpose(1, 2).to(stored.dtype)
            visible = stored[:, : span.reach]
            if span.rows is not None:
                visible = visible.index_select(0, span.rows)
            visible_pair.append(visible.transpose(1, 2))
        return visible_pair[0], visible_pair[1]

    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the beginning of one row to another."""
        for stored in (self.keys, self.values):
            stored[:, target, :length] = stored[:, source, :length]

    def get_seq_length(self, layer: int = 0) -> int:
        """Return 0; positions are passed explicitly."""
        return 0


class Shapes:
    """A cache that records only the shapes of the keys and values that a model would cache."""

    is_compileable = False

    def __init__(self) -> None:
        self.seen: dict[int, tuple[int, int, int]] = {}

    def update(
        self, keys: Any, values: Any, layer: int, *extra: Any, **options: Any
    ) -> tuple[Any, Any]:
        """Record the number of attention heads, and the widths of their keys and values."""
        self.seen[layer] = (keys.shape[1], keys.shape[3], values.shape[3])
        return keys, values

    def get_seq_length(self, layer: int = 0) -> int:
        """Return 0: nothing is cached."""
        return 0


class Net:
    """A loaded model with a cache of rows; for one thread at a time."""

    def __init__(self, model: Any, rows: int, context: int, graphs: bool) -> None:
        self.torch = torch()
        self.model, self.device = model, model.device
        shapes = shapes_of(model)
        self.groups = model.config.get_text_config().num_attention_heads // shapes[0][0]
        # The last position of a row receives the padding and is never read.
        self.length = -(-(context + 1) // ROUND) * ROUND
        like = next(model.parameters())
        self.dtype = like.dtype
        self.cache = RowCache(shapes, rows, self.length, like)
        self.rows = rows
        self._graphs: dict[int, Any] = {}
        self._use_graphs = graphs and self.device.type == "cuda"

    # ------------------------------------------------------------ prompts and trees

    def fill(self, parts: Sequence[PassTokens]) -> Any:
        """Evaluate the next tokens of some jobs and return the logits of the last positions.

        Rows are padded on the left, so that the results are at the end of each.
        """
        width, nodes = max(part.count for part in parts), max(part.nodes for part in parts)
        shape = (len(parts), width)
        tokens, positions = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        places = np.full(shape, self.length - 1, np.int64)
        for i, part in enumerate(parts):
            job, start = part.job, width - part.count
            places[i, start:] = positions[i, start:] = job.prompt_position + np.arange(part.count)
            tokens[i, start : width - part.nodes] = job.tokens[job.prompt_position :][
                : part.count - part.nodes
            ]
            if part.nodes and job.tree:
                tokens[i, -part.nodes :] = job.tree.tokens
                positions[i, -part.nodes :] = len(job.tokens) + job.tree.depths
        reach = self._reach(max(part.job.prompt_position + part.count for part in parts))
        rows, written = np.array([part.job.row for part in parts]), self._to_device(places)
        mask = self._mask(parts, written, reach, nodes)
        self.cache.span = Span(self._to_device(rows), written, reach)
        return self._logits(self._to_device(tokens), self._to_device(positions), mask, nodes + 1)

    def _mask(self, parts: Sequence[PassTokens], places: Any, reach: int, nodes: int) -> Any:
        """Return the mask: each token sees all tokens before it, and in a tree only its
        ancestors."""
        keys = self.torch.arange(reach, device=self.device)
        # Padding sees everything: its result is discarded but must be a number.
        visible = keys[None, None, :] <= places[:, :, None]
        if nodes:
            # Rows with smaller trees mark the last position, which is never filled, as hidden.
            targets = np.full((len(parts), nodes, nodes), reach - 1, np.int64)
            value = np.zeros((len(parts), nodes, nodes), np.bool_)
            for i, part in enumerate(parts):
                if part.nodes and part.job.tree:
                    targets[i, :, : part.nodes] = len(part.job.tokens) + np.arange(part.nodes)
                    value[i, nodes - part.nodes :, : part.nodes] = part.job.tree.ancestors
            visible[:, -nodes:] = visible[:, -nodes:].scatter(
                2, self._to_device(targets), self._to_device(value)
            )
        return self._additive(visible)[:, None].repeat(1, 1, self.groups, 1)

    def _additive(self, visible: Any) -> Any:
        zero = self.torch.zeros((), dtype=self.dtype, device=self.device)
        return self.torch.where(visible, zero, self.torch.finfo(self.dtype).min)

    # ------------------------------------------------------------ one token each

    def step(self, jobs: Sequence[Job]) -> Any:
        """Evaluate the last token of each job and return the next logits."""
        places = [len(job.tokens) + len(job.reply_tokens) - 1 for job in jobs]
        reach = self._reach(max(places) + 1)
        if self._use_graphs:
            return self._replay_graph(jobs, places, reach)
        to_device = self._to_device
        rows, positions = (
            to_device(np.array([job.row for job in jobs])),
            to_device(np.array(places))[:, None],
        )
        last_tokens = to_device(np.array([job.reply_tokens[-1] for job in jobs]))[:, None]
        self.cache.span = Span(rows, positions, reach)
        return self._step_logits(last_tokens, positions, positions, reach)

    def _step_logits(self, last_tokens: Any, positions: Any, places: Any, reach: int) -> Any:
        keys = self.torch.arange(reach, device=self.device)
        mask = self._additive(keys[None, None, :] <= places[:, :, None])[:, None]
        mask = mask.expand(-1, -1, self.groups, -1)
        return self._logits(last_tokens, positions, mask, 1)[:, 0]

    def _replay_graph(self, jobs: Sequence[Job], places: Sequence[int], reach: int) -> Any:
        """Evaluate all rows as one recorded CUDA graph, which saves launching many kernels."""
        reach = min(next((g for g in GRAPHS if g >= reach), self.length), self.length)
        if reach not in self._graphs:
            self._graphs[reach] = self._record_graph(reach)
        graph, graph_inputs, logits = self._graphs[reach]
        fresh = np.zeros((3, self.rows, 1), np.int64)
        fresh[2] = self.length - 1  # idle rows write where nothing is read
        job_rows = [job.row for job in jobs]
        fresh[0, job_rows, 0] = [job.reply_tokens[-1] for job in jobs]
        fresh[1, job_rows, 0] = fresh[2, job_rows, 0] = places
        graph_inputs.copy_(self._to_device(fresh))
        graph.replay()
        return logits[self._to_device(np.array(job_rows))]

    def _record_graph(self, reach: int) -> tuple[Any, Any, Any]:
        cuda = self.torch.cuda
        graph_inputs = self.torch.zeros(
            (3, self.rows, 1), dtype=self.torch.int64, device=self.device
        )
        graph_inputs[2] = self.length - 1
        self.cache.span = Span(None, graph_inputs[2], reach)
        beside = cuda.Stream()
        beside.wait_stream(cuda.current_stream())
        with cuda.stream(beside):
            for _ in range(2):  # libraries choose their kernels at the first call
                self._step_logits(graph_inputs[0], graph_inputs[1], graph_inputs[2], reach)
        cuda.current_stream().wait_stream(beside)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            logits = self._step_logits(graph_inputs[0], graph_inputs[1], graph_inputs[2], reach)
        return graph, graph_inputs, logits

    # ------------------------------------------------------------ the pass itself

    def _logits(self, tokens: Any, positions: Any, mask: Any, keep: int) -> Any:
        kinds = self.torch.nn.attention.SDPBackend
        # These two accept any mask and length without building a plan for each.
        allowed = [kinds.EFFICIENT_ATTENTION, kinds.MATH, kinds.FLASH_ATTENTION]
        with self.torch.inference_mode(), self.torch.nn.attention.sdpa_kernel(allowed):
            return self.model(
                input_ids=tokens,
                position_ids=positions,
                attention_mask=mask,
                past_key_values=self.cache,
                use_cache=True,
                logits_to_keep=keep,
            ).logits

    def _reach(self, places: int) -> int:
        """Return the number of cache positions to attend to: those filled plus one, rounded up to a
        multiple of `ROUND`."""
        return min(-(-(places + 1) // ROUND) * ROUND, self.length)

    def _to_device(self, array: Any) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device, non_blocking=True)


def shapes_of(model: Any) -> list[tuple[int, int, int]]:
    """Return the heads and widths of keys and values, which must be equal in all layers."""
    probe = Shapes()
    ids = torch().zeros((1, 1), dtype=torch().int64, device=model.device)
    mask = torch().zeros((1, 1, 1, 1), dtype=next(model.parameters()).dtype, device=model.device)
    with torch().inference_mode():
        model.set_attn_implementation("eager")
        model(input_ids=ids, position_ids=ids, attention_mask=mask, past_key_values=probe)
        model.set_attn_implementation(ATTENTION)
    layers = model.config.get_text_config().num_hidden_layers
    layer_shapes = [probe.seen.get(i) for i in range(layers)]
    if None in layer_shapes or len(set(layer_shapes)) != 1:
        raise Unavailable(
            "This model's keys and values differ between layers, which hf does not "
            "support; serve the model with vllm instead."
        )
    return [shape for shape in layer_shapes if shape is not None]


def register() -> None:
    """Register our attention with transformers."""
    transformers().AttentionInterface.register(ATTENTION, attend)


def too_long(length: int, room: int) -> ModelFailure:
    """Return the failure for a call with more tokens than a cache row can hold."""
    return ModelFailure(
        "context_length", f"The call needs {length} tokens, but the context holds {room}."
    )
