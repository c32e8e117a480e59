"""Option scores of a network whose residual stream is changed at the last token of a prompt.

All changes of one prompt are evaluated in one pass: the last token and the tokens of each option
are repeated for every change, at the same positions, and attend only to the prompt and to their own
copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.core.prompt.model import Context, ModelFailure, check_candidates
from sally.models.hf.jobs import Tree, tree_of
from sally.models.hf.net import torch
from sally.models.hf.residual_stream import ResidualStream
from sally.models.in_process import Tokens, batches

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Edit:
    """A change of the residual stream after a block (0: the embeddings), from the last token on."""

    layer: int
    vector: NDArray[Any]  # of the width of the stream
    replace: bool = False  # put the vector in place of the last token's stream; else it is added


@dataclass(frozen=True)
class EditedPrompt:
    """A prompt with its options, and the edits of the residual stream under which the options are
    scored."""

    prompt: Context
    candidates: tuple[str, ...]
    edits: tuple[Edit | None, ...]  # None: unchanged


def edited_scores(stream: ResidualStream, prompts: Sequence[EditedPrompt]) -> list[Floats]:
    """Return, for each prompt, the log-probability of every option under every edit of the residual
    stream, as an array of edits x options.

    Raises:
        BadInput: A prompt does not fit this model, or a layer does not exist.
    """
    rows = [_laid_out(stream, prompt) for prompt in prompts]
    scores: list[Floats] = []
    for batch in batches(rows, lambda row: row.length, stream.budget):
        scores += _evaluate(stream, batch)
    return scores


@dataclass(frozen=True)
class _Row:
    """The tokens of a prompt without its last one, followed by one branch for each edit of the
    residual stream.

    A branch is a copy of the prompt's last token and of the tokens of all options.
    """

    stem: Tokens
    tree: Tree
    edits: tuple[Edit | None, ...]

    @property
    def branch(self) -> int:
        """The number of tokens that are repeated for each edit: the last token of the prompt and
        the tokens of all options."""
        return 1 + len(self.tree.tokens)

    @property
    def length(self) -> int:
        return len(self.stem) - 1 + len(self.edits) * self.branch


def _laid_out(stream: ResidualStream, prompt: EditedPrompt) -> _Row:
    try:
        check_candidates(prompt.candidates)
        stem, tails = stream.texts.stem(prompt.prompt, prompt.candidates)
    except ModelFailure as error:
        raise BadInput(
            f"{stream.name} cannot read a stored prompt: {error.fault.detail}"
        ) from error
    for edit in prompt.edits:
        if edit is not None and not 0 <= edit.layer < stream.layers:
            raise BadInput(f"{stream.name} has layers 0 to {stream.layers - 1}, not {edit.layer}.")
    return _Row(stem, tree_of(tails), prompt.edits)


def _evaluate(stream: ResidualStream, rows: Sequence[_Row]) -> list[Floats]:
    pt, device = torch(), stream.model.device
    width = max(row.length for row in rows)
    ids, places = (np.zeros((len(rows), width), np.int64) for _ in range(2))
    visible = np.zeros((len(rows), 1, width, width), np.bool_)
    # padding sees itself: its result must be a number
    visible[:, 0] = np.eye(width, dtype=np.bool_)
    for index, row in enumerate(rows):
        _fill(row, ids[index], places[index], visible[index, 0])
    dtype = next(stream.model.parameters()).dtype
    allowed = pt.tensor(visible, device=device)
    mask = pt.where(allowed, pt.zeros((), dtype=dtype, device=device), pt.finfo(dtype).min)
    hooks = _register_hooks(stream, rows)
    try:
        with pt.inference_mode():
            hidden = stream.model.get_decoder()(
                input_ids=pt.tensor(ids, device=device),
                position_ids=pt.tensor(places, device=device),
                attention_mask=mask,
                use_cache=False,
            ).last_hidden_state
            return [_read(stream, row, hidden[index]) for index, row in enumerate(rows)]
    finally:
        for hook in hooks:
            hook.remove()


def _fill(row: _Row, ids: Any, places: Any, visible: Any) -> None:
    """Write the tokens of a row, their positions, and which tokens each of them sees."""
    stem_length, branch = len(row.stem) - 1, row.branch
    ids[:stem_length], places[:stem_length] = row.stem[:-1], np.arange(stem_length)
    visible[:stem_length, :stem_length] = np.tri(stem_length, dtype=np.bool_)
    tree = np.zeros((branch, branch), np.bool_)
    tree[:, 0] = True
    tree[1:, 1:] = row.tree.ancestors
    for number in range(len(row.edits)):
        start = stem_length + number * branch
        own_places = slice(start, start + branch)
        ids[start], ids[start + 1 : start + branch] = row.stem[-1], row.tree.tokens
        places[start] = stem_length
        places[start + 1 : start + branch] = stem_length + 1 + row.tree.depths
        visible[own_places, :stem_length] = True
        visible[own_places, own_places] = tree


def _register_hooks(stream: ResidualStream, rows: Sequence[_Row]) -> list[Any]:
    """Register hooks that edit the residual stream, one for each layer with edits, and return their
    handles."""
    pt, device = torch(), stream.model.device
    by_layer: dict[int, list[tuple[int, int, int, Edit]]] = {}
    for index, row in enumerate(rows):
        for number, edit in enumerate(row.edits):
            if edit is not None:
                start = len(row.stem) - 1 + number * row.branch
                by_layer.setdefault(edit.layer, []).append((index, start, row.branch, edit))
    places = [stream.model.get_input_embeddings(), *stream.blocks]

    def changing(changes: list[tuple[int, int, int, Edit]]) -> Any:
        added = [
            (index, start + offset, edit.vector)
            for index, start, branch, edit in changes
            for offset in range(branch if not edit.replace else 0)
        ]
        replaced = [
            (index, start, edit.vector) for index, start, _, edit in changes if edit.replace
        ]

        def change(module: Any, inputs: Any, out: Any) -> Any:
            hidden = out[0] if isinstance(out, tuple) else out
            hidden = hidden.clone()
            for group, replace in ((added, False), (replaced, True)):
                if group:
                    row_indices = pt.tensor([index for index, _, _ in group], device=device)
                    positions = pt.tensor([place for _, place, _ in group], device=device)
                    stacked = np.stack([vector for _, _, vector in group]).astype(np.float32)
                    vectors = pt.tensor(stacked, device=device)
                    base = 0.0 if replace else hidden[row_indices, positions].float()
                    hidden[row_indices, positions] = (base + vectors).to(hidden.dtype)
            return (hidden, *out[1:]) if isinstance(out, tuple) else hidden

        return change

    return [
        places[layer].register_forward_hook(changing(changes))
        for layer, changes in by_layer.items()
    ]


def _read(stream: ResidualStream, row: _Row, hidden: Any) -> Floats:
    """Return the log-probabilities of a row's options under each change."""
    pt, stem_length, branch = torch(), len(row.stem) - 1, row.branch
    logits = stream.model.get_output_embeddings()(hidden[stem_length : row.length]).float()
    read = pt.log_softmax(logits, -1).reshape(len(row.edits), branch, -1)
    pairs = [(place, token) for place, tokens in enumerate(row.tree.asked) for token in tokens]
    pair_index = pt.tensor(pairs, device=read.device)
    values = read[:, pair_index[:, 0], pair_index[:, 1]].double().cpu().numpy()
    columns = {pair: column for column, pair in enumerate(pairs)}
    sums = [sum(values[:, columns[pair]] for pair in path) for path in row.tree.paths]
    scores: Floats = np.stack(sums, axis=1)
    return scores
