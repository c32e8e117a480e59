"""Models from a folder or a GGUF file through transformers, on an accelerator or the processor."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    ModelKind,
    Reply,
    SchemaSettings,
    Scores,
    Settings,
    ToolSpec,
    Usage,
    check_candidates,
)
from sally.models import in_process
from sally.models.hf import loader
from sally.models.hf.engine import Engine
from sally.models.hf.guide import Allowed, Guide, allowed_by, by_first_character
from sally.models.hf.jobs import tree_of
from sally.models.hf.net import Net, torch, transformers
from sally.models.hf.startup import check_agrees, rows_for
from sally.models.hf.texts import Texts, calls_in, thought
from sally.models.weights import Unavailable

MAX_TOKENS: Final = 512  # as in the embedded model: a limit so that no reply fills the context
CONTEXT: Final = 8192
MOST_GUIDES: Final = 256  # schemas whose guides are kept
# Tokens evaluated in one pass of prompts, and concurrent calls.
BUDGET: Final = {"cuda": 16384, "mps": 4096, "cpu": 1024}
AT_ONCE: Final = {"cuda": 256, "mps": 16, "cpu": 8}


class AnsweringModel(msgspec.Struct, frozen=True):
    """The model that answered; recorded because rounding differs between devices and precisions."""

    weights: str
    sha256: str
    dtype: str
    device: str
    context: int
    torch: str
    transformers: str


class HF:
    """A Hugging Face model; calls of many episodes are evaluated together.

    Scores are exact: context and candidate are tokenised jointly and all tokens are summed. In 32
    bits, other calls in the same pass change only the last digits; in 16 bits they may change the
    second decimal.
    """

    can_score: Final = True
    can_constrain: Final = True  # by a mask over the tokens that may follow

    def __init__(
        self,
        path: str,
        *,
        dtype: str | None = None,
        device: str | None = None,
        context: int = CONTEXT,
        rows: int | None = None,
        graphs: bool | None = None,
    ) -> None:
        self._path, self.device, self.dtype, model, tokenizer = loader.load_model(
            path, dtype, device
        )
        limits = [context, model.config.get_text_config().max_position_embeddings]
        self._context = min([*limits, loader.window(model.config) or context])
        self._texts = Texts(tokenizer, _ends(model))
        kind = torch().device(self.device).type
        default_rows = rows or 2 * AT_ONCE.get(kind, 8)
        count = rows or rows_for(model, self._context, rows_wanted() or default_rows)
        switched = os.environ.get("SALLY_HF_GRAPHS", "1") != "0" if graphs is None else graphs
        net = Net(model, count, self._context, switched)
        check_agrees(net)
        self._engine = Engine(net, self._texts.ends, BUDGET.get(kind, 1024))
        self._at_once = min(AT_ONCE.get(kind, 8), count)
        self._guides: dict[str, Guide] = {}  # by schema
        # Tokenisers run beside Python, so several prompts can be read at once.
        self._readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="hf-texts")

    @property
    def name(self) -> str:
        """The name under which calls to the model are logged."""
        return f"hf/{self._path.stem if self._path.is_file() else self._path.resolve().name}"

    @property
    def slots(self) -> int:
        """The number of concurrent episodes that fill the forward passes and stay cached."""
        return self._at_once

    @cached_property
    def used(self) -> AnsweringModel:
        """The model that answered, for the record."""
        return AnsweringModel(
            weights=self.name.removeprefix("hf/"),
            sha256=loader.checksum(self._path),
            dtype=self.dtype,
            device=loader.device_name(self.device),
            context=self._context,
            torch=str(torch().__version__),
            transformers=str(transformers().__version__),
        )

    @property
    def passes(self) -> int:
        """The number of forward passes made, for comparison with the number of calls."""
        return self._engine.passes

    def close(self) -> None:
        """Stop the engine; calls in progress fail."""
        self._engine.close()
        self._readers.shutdown()

    # ------------------------------------------------------------ the verbs

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Answer a conversation; equal seeds and settings use the same random stream."""
        in_process.check_answerable(self.name, messages, settings)
        begun = time.perf_counter()
        tokens = await self._read(self._texts.chat, messages, tools, self.name)
        limit = settings.max_tokens or MAX_TOKENS
        stopped = self._stop_condition(settings.stop)
        allowed = await self._read(self._allowed_tokens, settings)
        future = self._engine.say(tokens, settings, limit, stopped, allowed)
        tokens_said, ended, cached, evaluated = await asyncio.wrap_future(future)
        usage = Usage(
            input=len(tokens),
            output=len(tokens_said),
            cached=cached,
            evaluated=evaluated,
            seconds=time.perf_counter() - begun,
            cost=0.0,
        )
        return self._reply(tokens_said, ended, settings, bool(tools), usage)

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        """Return the log-probability of each candidate; sampling settings have no effect."""
        check_candidates(candidates)
        begun = time.perf_counter()
        stem, tails = await self._read(self._texts.stem, context, candidates)
        tree = tree_of(tails)
        sums, cached, evaluated = await asyncio.wrap_future(self._engine.score(stem, tree))
        usage = Usage(
            input=len(stem) + sum(map(len, tree.asked)),
            cached=cached,
            evaluated=evaluated,
            seconds=time.perf_counter() - begun,
            cost=0.0,
        )
        return in_process.scores(candidates, sums, usage)

    async def _read(self, job: Any, *arguments: Any) -> Any:
        return await asyncio.wrap_future(self._readers.submit(job, *arguments))

    # ------------------------------------------------------------ texts

    def _allowed_tokens(self, settings: Settings) -> Allowed | None:
        if not isinstance(settings, SchemaSettings):
            return None
        if settings.schema not in self._guides:
            if len(self._guides) >= MOST_GUIDES:
                self._guides.clear()
            self._guides[settings.schema] = Guide(settings.schema, self._tokens)
        return allowed_by(self._guides[settings.schema], self._texts.text, self._texts.ends)

    @cached_property
    def _tokens(self) -> dict[str, list[tuple[int, str]]]:
        return by_first_character(self._texts.pieces())

    def _stop_condition(self, stops: Sequence[str]) -> Any:
        if not stops:
            return lambda tokens: False
        return lambda tokens: any(stop in self._texts.text(tokens) for stop in stops)

    def _reply(
        self, tokens: Sequence[int], ended: bool, settings: Settings, tools: bool, usage: Usage
    ) -> Reply:
        text = self._texts.text(tokens)
        cuts = [position for stop in settings.stop if (position := text.find(stop)) >= 0]
        is_complete = ended or bool(cuts)
        text, reasoning = thought(text[: min(cuts)] if cuts else text)
        text, calls = calls_in(text) if tools else (text, ())
        finish: Any = "tool_calls" if calls else "stop" if is_complete else "length"
        return Reply(text, calls, usage, finish, reasoning)


def rows_wanted() -> int | None:
    """Return the number of cache rows set by the environment variable SALLY_HF_ROWS, or None."""
    rows_text = os.environ.get("SALLY_HF_ROWS", "")
    if not rows_text:
        return None
    if not rows_text.isdecimal() or int(rows_text) < 1:
        raise BadInput(
            f"SALLY_HF_ROWS must be a whole number of rows, such as 64, not {rows_text!r}."
        )
    return int(rows_text)


def _ends(model: Any) -> list[int]:
    """Return the end-of-text tokens named in the model's own settings."""
    token_settings = [model.generation_config.eos_token_id, model.config.eos_token_id]
    lists = [setting if isinstance(setting, list) else [setting] for setting in token_settings]
    return [end for tokens in lists for end in tokens if end is not None]


def parsed_name(name: str) -> tuple[str, dict[str, Any]]:
    """Return the path and the options of `hf:FOLDER` or `hf:FILE.gguf?dtype=float32`."""
    path, _, query = name.partition(":")[2].partition("?")
    if not path:
        raise BadInput("Name a folder or a GGUF file, as in hf:models/qwen or hf:qwen.gguf.")
    options: dict[str, Any] = dict(parse_qsl(query, keep_blank_values=True))
    for key in options:
        if key not in ("dtype", "device", "context"):
            raise unknown("setting of hf", key, ("dtype", "device", "context"))
    if "context" in options:
        if not options["context"].isdigit() or int(options["context"]) < 1:
            raise BadInput(f"context must be a whole number, not {options['context']!r}.")
        options["context"] = int(options["context"])
    return path, options


def _open_model(name: str) -> HF:
    path, options = parsed_name(name)
    try:
        return HF(path, **options)
    except Unavailable as error:
        raise BadInput(str(error)) from error


def _at_once() -> int:
    """Return the default limit of concurrent calls for this machine's device; without torch, the
    one for a processor."""
    try:
        return AT_ONCE.get(loader.device_here(), 8)
    except Unavailable:
        return AT_ONCE["cpu"]


MODEL = ModelKind(
    "hf",
    "a folder or GGUF file through transformers, as hf:PATH; batches calls, scores candidates",
    _open_model,
    at_once=_at_once,
)
