"""The embedded model: a small language model in this process, without an API key or a server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

import msgspec
import numpy as np

from sally.core.errors import BadInput, join_names
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    ModelFailure,
    ModelKind,
    Reply,
    Scores,
    Settings,
    ToolSpec,
    Usage,
    check_candidates,
)
from sally.models import catalogue, forms, in_process, weights, wire
from sally.models.llama import Llama, wheel

T = TypeVar("T")
FormChoice: TypeAlias = Literal["fastest", "original", "f32", "q8_0"]

# Defaults for unset settings: plain sampling, and a token limit so no reply fills the context.
TEMPERATURE: Final = 1.0
MAX_TOKENS: Final = 512
# The trial resembles a decision on a cached page: a tail to read and an answer to write.
TRIAL_PROMPT, TRIAL_SAID = 32, 6
# Control sequences of chat templates look like <|im_end|>, </s> or [INST].
CONTROL: Final = re.compile(r"<[^<>\s]{1,40}>|\[[^\[\]\s]{1,40}\]")


class AnsweringModel(msgspec.Struct, frozen=True):
    """The model that answered; recorded because rounding differs between number formats of the
    weights and between builds of llama.cpp."""

    weights: str
    sha256: str
    form: forms.Form
    xllamacpp: str
    processor: str
    threads: int
    context: int


class Embedded:
    """A GGUF model in this process; calls from many callers are made one after another.

    Without a path, SmolLM2-135M-Instruct is downloaded once and run in the number format that is
    fastest on this machine. Weights of another name (`qwen-0.5b`) are downloaded too; these and a
    user's file run unconverted unless a number format is requested. Prefixes of earlier prompts are
    reused in such a way that answers do not depend on earlier calls.
    """

    can_score: Final = True
    can_constrain: Final = True  # by a grammar that llama.cpp makes of the schema

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        form: FormChoice | None = None,
        context: int = 8192,
        slots: int = 2,
        threads: int | None = None,
    ) -> None:
        if context < 1 or slots < 1 or (threads is not None and threads < 1):
            raise ValueError("context, slots and threads must be at least 1.")
        if form not in (None, *get_args(FormChoice)):
            raise ValueError(
                f"form must be one of {', '.join(get_args(FormChoice))}, not {form!r}."
            )
        wheel()
        self._threads = threads or forms.free_cores()
        source = _weights(path)
        self._weights = _logged_name(path, source)
        self._cached = f"{self._weights}-{weights.sha256_of(source)[:12]}"
        # Larger weights would take gigabytes and minutes to unpack for a trial.
        small = path in (None, "smollm2")
        self._form = self._choose_form(source, form or ("fastest" if small else "original"))
        self._path = forms.convert_weights(source, self._form, self._cached)
        self._context = context
        self._llama = Llama(self._path, context, slots, self._threads)
        # The single worker thread keeps the event loop free and serves as the lock.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedded")

    @property
    def name(self) -> str:
        """The name under which calls to the model are logged."""
        return f"embedded/{self._weights}"

    @property
    def slots(self) -> int:
        """The number of prompts that stay cached as they grow; more concurrent episodes would evict
        them."""
        return len(self._llama.slots)

    @cached_property
    def used(self) -> AnsweringModel:
        """The model that answered, for the record."""
        return AnsweringModel(
            weights=self._weights,
            sha256=weights.sha256_of(self._path),
            form=self._form,
            xllamacpp=str(wheel().__version__),
            processor=forms.processor(),
            threads=self._threads,
            context=self._context,
        )

    @property
    def address(self) -> str:
        """The local address at which the same weights are served as an OpenAI-like API.

        Calls to that address use the same slots without being tracked, so do not mix them with
        `complete` and `score`.
        """
        return self._llama.address

    @property
    def key(self) -> str:
        """The API key of `address`, generated for each process."""
        return self._llama.key

    def close(self) -> None:
        """Free the weights after finishing calls in progress."""
        self._worker.shutdown()
        del self._llama

    def _choose_form(self, source: Path, form: FormChoice) -> forms.Form:
        """Return the requested number format of the weights, or the one that a trial on this
        machine found fastest."""
        if form != "fastest":
            return form
        if find_spec("gguf") is None:
            # No other form can be tried; `used` says so, and no choice is stored.
            return "original"
        machine = {
            "processor": forms.processor(),
            "threads": str(self._threads),
            "xllamacpp": str(wheel().__version__),
        }
        loaded: dict[forms.Form, Llama] = {}

        def trial(form: forms.Form) -> float:
            if form not in loaded:
                path = forms.convert_weights(source, form, self._cached)
                loaded[form] = Llama(path, 512, 1, self._threads)
                loaded[form].seconds(8, 2)  # the first call reads the file
            return loaded[form].seconds(TRIAL_PROMPT, TRIAL_SAID)

        return forms.fastest(self._cached, machine, trial).form

    # ------------------------------------------------------------ the verbs

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Answer a conversation; the same seed and settings give the same answer."""
        in_process.check_answerable(self.name, messages, settings)
        return await self._alone(lambda: self._complete(messages, settings, tools))

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        """Return the log-probability of each candidate; sampling settings have no effect."""
        check_candidates(candidates)
        return await self._alone(lambda: self._score(context, candidates))

    async def _alone(self, job: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._worker.submit(job))

    # ------------------------------------------------------------ completing

    def _complete(
        self, messages: Sequence[Message], settings: Settings, tools: Sequence[ToolSpec]
    ) -> Reply:
        begun = time.perf_counter()
        turns, offered = [wire.turn(m) for m in messages], [wire.tool(t) for t in tools]
        self._guard([turn["content"] for turn in turns])
        prompt = self._llama.render_chat(turns, offered)
        if offered and prompt == self._llama.render_chat(turns):
            raise ModelFailure(
                "unsupported",
                f"The chat template of {self.name} does not support tools; use other weights "
                "or a strategy without tools.",
            )
        body = _body(turns, settings, offered)
        answer = self._llama.chat(body, self._llama.tokens(prompt, control=True))
        return wire.reply(answer, time.perf_counter() - begun)

    # ------------------------------------------------------------ scoring

    def _score(self, context: Context, candidates: Sequence[str]) -> Scores:
        begun = time.perf_counter()
        text, chat = self._context_text(context, candidates)
        alone = self._llama.tokens(text, control=chat)
        joint = [self._llama.tokens(text + candidate, control=chat) for candidate in candidates]
        stem, tails = in_process.stem_of(alone, joint)
        logprobs, evaluated, reused = self._edges(stem, tails)
        usage = Usage(
            input=len(stem) + len(logprobs),
            cached=reused,
            evaluated=evaluated,
            seconds=time.perf_counter() - begun,
            cost=0.0,
        )
        sums = (sum(logprobs[tail[: i + 1]] for i in range(len(tail))) for tail in tails)
        return in_process.scores(candidates, sums, usage)

    def _edges(
        self, stem: in_process.Tokens, tails: Sequence[tuple[int, ...]]
    ) -> tuple[dict[tuple[int, ...], float], int, int]:
        """Return the log-probability of every token in the candidates, given the tokens before it.

        The keys are the prefixes of the tails (the candidates' tokens after the common `stem`); a
        value belongs to the last token of its prefix. The numbers of evaluated and of reused tokens
        follow.
        """
        # In sorted order every prefix comes before its continuations, so each call adds one token.
        children: dict[tuple[int, ...], list[int]] = {}
        for start, token in sorted({(t[:i], t[i]) for t in tails for i in range(len(t))}):
            children.setdefault(start, []).append(token)
        logprobs: dict[tuple[int, ...], float] = {}
        evaluated, reused = 0, list[int]()
        for start, tokens in children.items():
            prompt = np.concatenate([stem, np.array(start, np.int64)])
            waiting = list(tokens)
            while waiting:
                stem_length = len(stem) if reused else None
                read, fresh, old = self._llama.score_token(prompt, waiting[0], stem_length)
                evaluated += fresh
                reused.append(old)
                logprobs.update(
                    {(*start, token): read[token] for token in waiting if token in read}
                )
                waiting = [token for token in waiting if token not in read]
        return logprobs, evaluated, reused[0]

    def _context_text(self, context: Context, candidates: Sequence[str]) -> tuple[str, bool]:
        """Return the text before the candidates, and whether it is a rendered chat."""
        if isinstance(context, str):
            in_process.check_encodable([context, *candidates])
            return str(context), False
        turns, begun = in_process.open_turn(context)
        self._guard([*(turn["content"] for turn in turns), begun, *candidates])
        return self._llama.render_chat(turns) + begun, True

    # ------------------------------------------------------------ what may be shown

    def _guard(self, texts: Sequence[str]) -> None:
        """Raise ModelFailure for texts that would end a turn or open another in the chat
        template."""
        in_process.check_encodable(texts)
        for piece in sorted({piece for text in texts for piece in CONTROL.findall(text)}):
            plain = self._llama.tokens(piece, control=False)
            if not np.array_equal(plain, self._llama.tokens(piece, control=True)):
                raise in_process.controls(piece)


def _body(
    turns: Sequence[Mapping[str, Any]], settings: Settings, tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the request body of a chat; llama.cpp's default sampling limits are switched off."""
    heat = TEMPERATURE if settings.temperature is None else settings.temperature
    body: dict[str, Any] = {
        "messages": list(turns),
        "temperature": heat,
        "top_p": 1.0 if settings.top_p is None else settings.top_p,
        "top_k": settings.top_k or 0,
        "min_p": 0.0,
        "max_tokens": settings.max_tokens or MAX_TOKENS,
        "stop": list(settings.stop),
    }
    if settings.seed is not None:
        body["seed"] = settings.seed
    if tools:
        body["tools"] = list(tools)
    return body | wire.held_to(settings)


def _weights(path: str | Path | None) -> Path:
    """Return the file of the named weights, or the user's own file."""
    if path is None or str(path) in catalogue.NAMES:
        return catalogue.have(str(path or "smollm2"))
    try:
        return weights.local(path)
    except weights.Unavailable as error:
        if Path(path).suffix:
            raise
        names = join_names(catalogue.NAMES, "and")
        raise weights.Unavailable(f"{error} Named weights are {names}.") from error


def _logged_name(path: str | Path | None, source: Path) -> str:
    """Return the name under which the weights are logged."""
    if path is None or str(path) == "smollm2":
        return weights.SMOLLM2.name
    named_weights = catalogue.NAMED.get(str(path))
    return named_weights.name if named_weights else source.stem


def _open_embedded(name: str) -> Embedded:
    """Return the model `embedded`, `embedded:qwen-0.5b`, or `embedded:PATH` for a GGUF file."""
    path = name.partition(":")[2]
    try:
        return Embedded(path or None)
    except weights.Unavailable as error:
        raise BadInput(str(error)) from error


MODEL = ModelKind(
    "embedded",
    "SmolLM2-135M-Instruct in this process; also :qwen-0.5b, :qwen-1.5b, :FILE.gguf; scores",
    _open_embedded,
)
