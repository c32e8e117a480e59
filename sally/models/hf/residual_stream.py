"""The residual stream of a network at the last token of a prompt, layer by layer.

Layer 0 is the stream after the embeddings, layer i the stream after block i. No cache of rows is
used: prompts are padded on the right, where a causal network does not look.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.core.prompt.model import Context, ModelFailure
from sally.models.hf import loader, parsed_name
from sally.models.hf.net import torch, transformers
from sally.models.hf.texts import Texts
from sally.models.in_process import Tokens
from sally.models.weights import Unavailable

Halves = NDArray[np.float16]
MOST: Final = 65504.0  # of a 16-bit float; larger values are cut
BUDGET: Final = {"cuda": 65536, "mps": 4096, "cpu": 2048}  # padded tokens in one pass


class ResidualStream:
    """A model whose residual stream is read, or an untrained network of the same shape."""

    def __init__(self, name: str, *, untrained: bool = False, seed: int = 0) -> None:
        """Load `hf:NAME`, a folder or a GGUF file.

        Raises:
            BadInput: The model cannot be loaded, or its blocks cannot be found.
        """
        path, options = parsed_name(name if name.startswith("hf:") else f"hf:{name}")
        try:
            opened = loader.load_model(path, options.get("dtype"), options.get("device"))
        except Unavailable as error:
            raise BadInput(str(error)) from error
        self._path, self.device, self.dtype, self.model, tokenizer = opened
        if untrained:
            self.model = _reinitialise(self.model, seed)
        self.model.set_attn_implementation("sdpa")
        self.untrained = untrained
        self.name = f"{path}, untrained" if untrained else path
        self.texts = Texts(tokenizer, [])
        self.blocks = blocks_of(self.model)
        config = self.model.config.get_text_config()
        self.layers: int = len(self.blocks) + 1
        self.width: int = config.hidden_size
        self._room: int = config.max_position_embeddings

    @cached_property
    def sha256(self) -> str:
        """The checksum of the weights file; for an untrained network, that of the trained weights
        whose shape it has."""
        return loader.checksum(self._path)

    @property
    def budget(self) -> int:
        """The number of padded tokens that one pass can hold."""
        return BUDGET.get(str(torch().device(self.device).type), 2048)

    def tokens(self, prompt: Context, candidates: Sequence[str] = ()) -> Tokens:
        """Return the tokens up to the point where the answer begins.

        Raises:
            BadInput: The prompt does not fit this model.
        """
        try:
            if candidates or isinstance(prompt, str):
                prompt_tokens = self.texts.stem(prompt, candidates or ("\n",))[0]
            else:
                prompt_tokens = self.texts.chat(prompt, (), self.name)
        except ModelFailure as error:
            raise BadInput(
                f"{self.name} cannot read a stored prompt: {error.fault.detail}"
            ) from error
        if len(prompt_tokens) > self._room:
            raise BadInput(
                f"A stored prompt has {len(prompt_tokens)} tokens; {self.name} reads at most "
                f"{self._room}."
            )
        return prompt_tokens

    def read(self, prompts: Sequence[Tokens]) -> Halves:
        """Return the residual stream at the last token of each prompt: prompts x layers x width."""
        pt = torch()
        longest = max(map(len, prompts))
        ids = np.zeros((len(prompts), longest), np.int64)
        for row, tokens in enumerate(prompts):
            ids[row, : len(tokens)] = tokens
        rows = pt.arange(len(prompts), device=self.model.device)
        last = pt.tensor([len(tokens) - 1 for tokens in prompts], device=self.model.device)
        layer_streams: list[Any] = []

        def keep(module: Any, inputs: Any, stream: Any) -> None:
            hidden = stream[0] if isinstance(stream, tuple) else stream
            layer_streams.append(hidden[rows, last].float().clamp(-MOST, MOST).half().cpu())

        places = [self.model.get_input_embeddings(), *self.blocks]
        hooks = [place.register_forward_hook(keep) for place in places]
        try:
            with pt.inference_mode():
                input_ids = pt.tensor(ids, device=self.model.device)
                self.model.get_decoder()(input_ids=input_ids, use_cache=False)
        finally:
            for hook in hooks:
                hook.remove()
        streams: Halves = pt.stack(layer_streams, 1).numpy()
        return streams


def blocks_of(model: Any) -> list[Any]:
    """Return the blocks of a causal network in order; raises BadInput if none are found."""
    blocks = getattr(model.get_decoder(), "layers", None)
    if blocks is None:
        raise BadInput(
            f"{type(model).__name__} has no list of transformer blocks that hf can find."
        )
    return list(blocks)


def _reinitialise(model: Any, seed: int) -> Any:
    """Return a network of the same shape with random weights, initialised as for training."""
    pt = torch()
    with pt.random.fork_rng(devices=[]):
        pt.manual_seed(seed)
        fresh = transformers().AutoModelForCausalLM.from_config(model.config)
    return fresh.to(device=model.device, dtype=next(model.parameters()).dtype).eval()
