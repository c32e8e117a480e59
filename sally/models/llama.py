"""llama.cpp in this process: tokens, chat templates, and calls that reuse evaluated prefixes."""

from __future__ import annotations

import http.client
import importlib
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np

from sally.core.errors import install_command
from sally.core.prompt.model import FaultKind, ModelFailure
from sally.core.redaction import scrub
from sally.models.in_process import Tokens, shared_length
from sally.models.weights import Unavailable

HTTP_SECONDS: Final = 60  # for tokens and templates of the model in this process
CALL_SECONDS: Final = 600  # for a call to a server
# Large enough that likely siblings of a forced token are read from the same call.
TOP: Final = 100
# Batch size, and the fewest tokens for which llama.cpp rounds as it does for many; fewer use other
# kernels (measured: bit for bit the same from 4 on, f32 and q8_0, ARM).
UBATCH: Final = 512
FEWEST: Final = 4
# Tokens that may be the end of a page, and the weight of losing a token before it.
TAIL: Final = 64
AGAIN: Final = 10
# Above any logit, so that the token is certainly sampled; log-probabilities are read before the
# bias.
FORCE: Final = 1e4

KEY: Final = secrets.token_hex(16)  # API key of every server in this process


def wheel() -> Any:
    """Import xllamacpp."""
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise Unavailable(
            "The embedded model needs the package xllamacpp, which is not installed "
            f"or does not fit this machine ({error}); install it with "
            f"`{install_command('embedded')}`."
        ) from error


@dataclass
class Slot:
    """A slot of llama.cpp, and those of its tokens that can be reused without changing results."""

    tokens: Tokens = field(default_factory=lambda: np.empty(0, np.int64))
    used: int = 0


def best_slot(slots: Sequence[Slot], tokens: Tokens, now: int) -> int:
    """Return the slot that costs a prompt least, in tokens to evaluate and useful tokens evicted.

    The content of a slot loses value the longer it is unused, so ended episodes are evicted rather
    than episodes in progress that happen to share their rules with a new one. The end of a prompt
    counts for less than the part before it, because it changes with each call.
    """

    def cost(slot: Slot) -> tuple[float, int]:
        n_shared = shared_length(slot.tokens, tokens)
        forgotten = len(slot.tokens) - n_shared
        missed = min(forgotten, TAIL) + AGAIN * max(forgotten - TAIL, 0)
        return len(tokens) - n_shared + missed / (1 + now - slot.used), slot.used

    return min(range(len(slots)), key=lambda i: cost(slots[i]))


def reusable(n_shared: int, length: int) -> int:
    """Return how many shared tokens to reuse so that the answer is the same as without reuse.

    At least the last `FEWEST` tokens are evaluated, and no incomplete batch is shorter than that;
    equal seeds then give the same replies regardless of earlier calls.
    """
    keep = max(0, min(n_shared, length - FEWEST))
    if 0 < (length - keep) % UBATCH < FEWEST:
        keep = max(0, keep - FEWEST)
    return keep


class Llama:
    """A loaded GGUF file; for one thread at a time."""

    def __init__(self, path: Path, context: int, slots: int, threads: int) -> None:
        self.key = KEY
        self.slots = [Slot() for _ in range(slots)]
        self._calls, self._last = 0, 0
        module = wheel()
        params = module.CommonParams()
        params.model.path = str(path)
        params.n_ctx, params.n_parallel = context * slots, slots  # n_ctx is split over the slots
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.n_gpu_layers, params.n_ubatch = 0, UBATCH
        params.fit_params = False  # all parameters are set; fitting would load the file once more
        # Flash attention rounds differently for different batch lengths; see `reusable`.
        params.flash_attn_type = module.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cache_ram_mib = 0  # the slots below are the cache
        params.ctx_shift = False  # never silently drop the beginning of a prompt
        params.warmup, params.ui, params.verbosity = False, False, -1
        params.api_keys = [self.key]
        try:
            self._server = module.Server(params)
        except Exception as error:
            raise Unavailable(
                f"llama.cpp cannot load {path} ({error}); give a GGUF file it supports, "
                "or a smaller context if memory is short."
            ) from error

    @property
    def address(self) -> str:
        """The address of the same model over HTTP on this machine, with `key` as the API key."""
        return str(self._server.listening_address)

    # ------------------------------------------------------------ text and tokens

    def tokens(self, text: str, control: bool) -> Tokens:
        """Return the canonical tokens; control sequences are parsed only if `control`."""
        body = {"content": text, "add_special": True, "parse_special": control}
        return np.array(self._post("/tokenize", body)["tokens"], np.int64)

    def render_chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> str:
        """Return the chat as the model's template writes it, with the assistant's turn open."""
        body: dict[str, Any] = {"messages": list(messages)}
        if tools:
            body["tools"] = list(tools)
        return str(self._post("/apply-template", body)["prompt"])

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return _raise_errors(
            ask_server(self.address, self.key, "POST", path, body, HTTP_SECONDS, "server")
        )

    # ------------------------------------------------------------ calls

    def chat(self, body: Mapping[str, Any], tokens: Tokens) -> dict[str, Any]:
        """Answer a chat; `tokens` is the rendered chat, which determines the slot."""
        return self._call(self._server.handle_chat_completions, body, tokens)

    def score_token(
        self, tokens: Tokens, token: int, stem_length: int | None = None
    ) -> tuple[dict[int, float], int, int]:
        """Return raw log-probabilities, after a prompt, of the given token and of the likeliest
        ones.

        The token is forced by a bias, which does not affect the log-probabilities read. Also
        returned are the numbers of prompt tokens evaluated and reused. `stem_length` is the number
        of
        tokens that the first call of the same scoring evaluated; this call then continues in the
        same slot.
        """
        body = {
            "prompt": tokens.tolist(),
            "n_predict": 1,
            "temperature": 0,
            "logit_bias": [[token, FORCE]],
            "n_probs": TOP,
        }
        if stem_length is None:
            answer = self._call(self._server.handle_completions, body, tokens)
        else:
            answer = self._call_server(self._server.handle_completions, body)
            # The end of the stem may have been evaluated again in a batch of one, so it is no
            # longer clean.
            self.slots[self._last] = Slot(tokens[: stem_length - 1], self._calls)
        try:
            token_entry = answer["choices"][0]["logprobs"]["content"][0]
            read = {int(top["id"]): float(top["logprob"]) for top in token_entry["top_logprobs"]}
            read[int(token_entry["id"])] = float(token_entry["logprob"])
        except (KeyError, IndexError, TypeError) as error:
            raise ModelFailure("bad_reply", "llama.cpp gave no log-probabilities.") from error
        if token not in read:
            raise ModelFailure("bad_reply", f"llama.cpp did not return the forced token {token}.")
        return read, int(answer["timings"]["prompt_n"]), int(answer["timings"]["cache_n"])

    def seconds(self, prompt: int, n_generated: int) -> float:
        """Return the processor seconds for evaluating a prompt without cache and for generating
        tokens after it.

        The wall clock would include the load of other processes.
        """
        body = {
            "prompt": list(range(1000, 1000 + prompt)),
            "n_predict": n_generated,
            "temperature": 0,
        }
        begun = time.process_time()
        _raise_errors(
            self._server.handle_completions({**body, "cache_prompt": False, "ignore_eos": True})
        )
        return time.process_time() - begun

    def _call(self, handler: Any, body: Mapping[str, Any], tokens: Tokens) -> dict[str, Any]:
        self._calls += 1
        self._last = best_slot(self.slots, tokens, self._calls)
        clean = self.slots[self._last].tokens
        # A failed call leaves the slot in an unknown state: nothing is assumed to be clean.
        self.slots[self._last] = Slot(used=self._calls)
        extra, reuse = self._prepare_slot(clean, tokens)
        answer = self._call_server(handler, body, reuse)
        self.slots[self._last] = Slot(tokens, self._calls)
        if extra:
            answer["timings"]["prompt_n"] += extra
        return answer

    def _prepare_slot(self, clean: Tokens, tokens: Tokens) -> tuple[int, bool]:
        """Leave only reusable tokens in the slot.

        Return the number of tokens evaluated, and whether to reuse those in the slot.

        llama.cpp reuses as many tokens as it can and has no setting for fewer. If these are too
        many, a first request sends only the tokens to keep, followed by a token that does not
        match.
        """
        length, n_shared = len(tokens), shared_length(clean, tokens)
        keep = reusable(n_shared, length)
        if not keep:
            if length < UBATCH or not 0 < length % UBATCH < FEWEST:
                return 0, False
            keep = length - FEWEST
            return self._evaluate_prompt(tokens[:keep], False), True
        if n_shared == keep < len(clean):
            return 0, True
        other_token = 0 if tokens[keep] else 1
        return self._evaluate_prompt(np.append(tokens[:keep], other_token), True), True

    def _evaluate_prompt(self, tokens: Tokens, reuse: bool) -> int:
        """Evaluate a prompt without using the answer; return the number of tokens evaluated."""
        body = {"prompt": tokens.tolist(), "n_predict": 1, "temperature": 0}
        answer = self._call_server(self._server.handle_completions, body, reuse)
        return int(answer["timings"]["prompt_n"])

    def _call_server(
        self, handler: Any, body: Mapping[str, Any], reuse: bool = True
    ) -> dict[str, Any]:
        try:
            return _raise_errors(handler({**body, "id_slot": self._last, "cache_prompt": reuse}))
        except RuntimeError as error:
            raise ModelFailure("server", f"llama.cpp failed: {error}.") from error


def ask_server(
    address: str,
    key: str,
    verb: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    seconds: float = CALL_SECONDS,
    unreached: FaultKind = "connection",
) -> Any:
    """Return the JSON that a llama.cpp server answers.

    Raises:
        ModelFailure: Of the kind `unreached` if the connection fails or no answer comes within
            `seconds`; of the kind "server" if the answer is not JSON.
    """
    parts = urlsplit(address)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    connection = kinds[parts.scheme](parts.netloc, timeout=seconds)
    head = {"Content-Type": "application/json"}
    if key:
        head["Authorization"] = f"Bearer {key}"
    try:
        sent = None if body is None else json.dumps(body).encode()
        connection.request(verb, parts.path.rstrip("/") + path, sent, head)
        return json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException) as error:
        raise ModelFailure(
            unreached, f"No llama.cpp server answers at {address}: {error}."
        ) from error
    except ValueError as error:
        raise ModelFailure("server", f"{address} did not answer with JSON.") from error
    finally:
        connection.close()


def _raise_errors(answer: Any) -> dict[str, Any]:
    """Return the answer; an error in it is raised as a ModelFailure of its kind."""
    if not isinstance(answer, dict):
        raise ModelFailure(
            "bad_reply", "llama.cpp answered with something other than a JSON object."
        )
    if (error := answer.get("error")) is None:
        return answer
    kinds: dict[str, FaultKind] = {
        "exceed_context_size_error": "context_length",
        "invalid_request_error": "bad_request",
        "not_supported_error": "unsupported",
    }
    kind = kinds.get(str(error.get("type")) if isinstance(error, dict) else "", "server")
    message = scrub(str(error.get("message")) if isinstance(error, dict) else str(error))
    raise ModelFailure(kind, f"llama.cpp refused the call: {message}.")
