"""Checks before the first call: how many cache rows fit into memory, and whether results computed
with them match those of the plain model."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Final

import numpy as np

from sally.models.hf.jobs import Job, tree_of
from sally.models.hf.net import ATTENTION, Net, PassTokens, shapes_of, torch
from sally.models.weights import Unavailable

SHARE: Final = 0.6  # share of the accelerator's free memory used for rows; the rest is for passes
# Tolerance of a log-probability against the plain model's: rounding, not another computation.
CLOSE: Final = {"float32": 1e-3, "bfloat16": 0.5, "float16": 0.1}


def rows_for(model: Any, context: int, n_rows: int) -> int:
    """Return the requested number of cache rows, or fewer if they do not fit into memory."""
    shapes = shapes_of(model)
    size = next(model.parameters()).element_size()
    a_row = sum(heads * (wide + deep) for heads, wide, deep in shapes) * size * (context + 64)
    if model.device.type != "cuda":
        return n_rows
    free, _ = torch().cuda.mem_get_info(model.device)
    fit = int(free * SHARE / a_row)
    if fit < 1:
        raise Unavailable(
            f"One sequence of {context} tokens needs {a_row / 2**30:.1f} GiB, and the accelerator "
            f"has {free / 2**30:.1f} GiB left; choose a smaller context, such as ?context=2048."
        )
    return min(n_rows, fit)


def check_agrees(net: Net) -> None:
    """Raise Unavailable if log-probabilities computed with cache rows differ from those of the
    plain model."""
    vocabulary = net.model.config.get_text_config().vocab_size
    tokens = (np.arange(1, 25, dtype=np.int64) * 7919) % vocabulary
    tails = [(5, 6, 7), (5, 8), (9 % vocabulary, 6)]
    plain = [_plain(net, [*tokens.tolist(), *tail], len(tail)) for tail in tails]
    tree = tree_of(tails)
    job = Job(tokens, Future(), tree=tree, row=0)
    net.fill([PassTokens(job, 10, False)])
    job.prompt_position = 10
    logits = net.fill([PassTokens(job, job.tokens_left, True)])
    with net.torch.inference_mode():
        read = net.torch.log_softmax(logits[0].float(), -1)
    sums = tree.sums(lambda place, token: float(read[place, token]))
    worst = max(
        abs(cached_sum - plain_sum) for cached_sum, plain_sum in zip(sums, plain, strict=True)
    )
    close = CLOSE[str(net.dtype).removeprefix("torch.")] * len(tails[0])
    if not worst <= close:
        raise Unavailable(
            f"Batched evaluation changes log-probabilities by {worst:.3g}; the model's "
            "attention is of a kind that hf does not support: serve it with vllm instead."
        )


def _plain(net: Net, tokens: list[int], n_answer_tokens: int) -> float:
    """Return the log-probability of the last tokens by the model's own attention, without a
    cache."""
    torch = net.torch
    net.model.set_attn_implementation("eager")
    try:
        with torch.inference_mode():
            ids = torch.tensor([tokens], device=net.device)
            logits = net.model(input_ids=ids, use_cache=False).logits[0].float()
            read = torch.log_softmax(logits, -1)
    finally:
        net.model.set_attn_implementation(ATTENTION)
    first = len(tokens) - n_answer_tokens
    return sum(
        float(read[position - 1, tokens[position]]) for position in range(first, len(tokens))
    )
