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

import numpy as np

from sally.core.prompt.model import FaultKind, ModelFailure
from sally.models.in_process import Tokens, shared_length
from sally.models.weights import Unavailable

HTTP_SECONDS: Final = 60
# Enough that likely siblings of a forced token are read from the same call.
TOP: Final = 100
# Tokens evaluated at once, and the fewest for which llama.cpp rounds as it does for many; fewer
# take other kernels (measured: bit for bit the same from 4 on, f32 and q8_0, ARM).
UBATCH: Final = 512
FEWEST: Final = 4
# Tokens that may be the end of a page, and how often one that lies before it is missed.
TAIL: Final = 64
AGAIN: Final = 10
# Above any logit, so that the token is certainly the one sampled; read-out is before the bias.
FORCE: Final = 1e4

KEY: Final = secrets.token_hex(16)  # of every server in this process


def wheel() -> Any:
    """The xllamacpp package."""
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise Unavailable(
            "The embedded model needs the package xllamacpp, which is not installed "
            f"or does not fit this machine ({error}); `pip install 'sally-lab[embedded]'`."
        ) from error


@dataclass
class Slot:
    """A place in llama.cpp, and which tokens were evaluated there as if in one go."""

    tokens: Tokens = field(default_factory=lambda: np.empty(0, np.int64))
    used: int = 0


def best_slot(slots: Sequence[Slot], tokens: Tokens, now: int) -> int:
    """The slot where the prompt costs least: tokens to evaluate, and useful ones forgotten.

    What a slot holds is worth less the longer nobody asked for it, so an episode that has ended
    gives way, and one in progress is not forgotten for the rules it shares with a new one. The
    end of a page is said anew each time; what lies before it would be missed again and again.
    """

    def cost(slot: Slot) -> tuple[float, int]:
        same = shared_length(slot.tokens, tokens)
        forgotten = len(slot.tokens) - same
        missed = min(forgotten, TAIL) + AGAIN * max(forgotten - TAIL, 0)
        return len(tokens) - same + missed / (1 + now - slot.used), slot.used

    return min(range(len(slots)), key=lambda i: cost(slots[i]))


def reusable(same: int, length: int) -> int:
    """How many of the shared tokens to reuse, so that the answer is as if none had been.

    At least the last few tokens are evaluated, and no remainder of a batch is shorter than that;
    seeds then give the same replies whatever was asked before.
    """
    keep = max(0, min(same, length - FEWEST))
    if 0 < (length - keep) % UBATCH < FEWEST:
        keep = max(0, keep - FEWEST)
    return keep


class Llama:
    """One loaded GGUF file; for one thread at a time."""

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
        params.fit_params = False  # nothing is left open; to fit it would load the file once more
        # Flash attention rounds by how many tokens are evaluated at once; see `reusable`.
        params.flash_attn_type = module.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cache_ram_mib = 0  # the slots below are the cache
        params.ctx_shift = False  # never forget the beginning of a prompt unseen
        params.warmup, params.ui, params.verbosity = False, False, -1
        params.api_keys = [self.key]
        try:
            self._server = module.Server(params)
        except Exception as error:
            raise Unavailable(
                f"llama.cpp cannot load {path} ({error}); give a GGUF file it knows, "
                "or a smaller context if memory is short."
            ) from error

    @property
    def address(self) -> str:
        """Where the same model answers over HTTP on this machine, with `key` as the API key."""
        return str(self._server.listening_address)

    # ------------------------------------------------------------ text and tokens

    def tokens(self, text: str, control: bool) -> Tokens:
        """The canonical tokens; control sequences are read as such only if `control`."""
        body = {"content": text, "add_special": True, "parse_special": control}
        return np.array(self._post("/tokenize", body)["tokens"], np.int64)

    def rendered(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> str:
        """The chat as the model's own template writes it, with the assistant's turn open."""
        body: dict[str, Any] = {"messages": list(messages)}
        if tools:
            body["tools"] = list(tools)
        return str(self._post("/apply-template", body)["prompt"])

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        host = self.address.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=HTTP_SECONDS)
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        try:
            connection.request("POST", path, json.dumps(body).encode(), head)
            answer = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelFailure("server", f"llama.cpp did not answer {path}: {error}.") from error
        finally:
            connection.close()
        return _checked(answer)

    # ------------------------------------------------------------ calls

    def chat(self, body: Mapping[str, Any], tokens: Tokens) -> dict[str, Any]:
        """Answer a chat, whose rendered tokens choose the slot."""
        return self._call(self._server.handle_chat_completions, body, tokens)

    def forced(
        self, tokens: Tokens, token: int, after: int | None = None
    ) -> tuple[dict[int, float], int, int]:
        """Raw log-probabilities after a prompt, of the token and of the likeliest ones.

        The token is forced by a bias, which the read-out does not see; also given are how many
        prompt tokens were evaluated and how many reused. `after` says how many tokens the first
        call of the same scoring evaluated, which this call then follows in the same slot.
        """
        body = {
            "prompt": tokens.tolist(),
            "n_predict": 1,
            "temperature": 0,
            "logit_bias": [[token, FORCE]],
            "n_probs": TOP,
        }
        if after is None:
            answer = self._call(self._server.handle_completions, body, tokens)
        else:
            answer = self._handled(self._server.handle_completions, body)
            # The end of the stem may have been evaluated once more, alone: it is no longer clean.
            self.slots[self._last] = Slot(tokens[: after - 1], self._calls)
        try:
            said = answer["choices"][0]["logprobs"]["content"][0]
            read = {int(top["id"]): float(top["logprob"]) for top in said["top_logprobs"]}
            read[int(said["id"])] = float(said["logprob"])
        except (KeyError, IndexError, TypeError) as error:
            raise ModelFailure("bad_reply", "llama.cpp gave no log-probabilities.") from error
        if token not in read:
            raise ModelFailure("bad_reply", f"llama.cpp did not say the forced token {token}.")
        return read, int(answer["timings"]["prompt_n"]), int(answer["timings"]["cache_n"])

    def seconds(self, prompt: int, said: int) -> float:
        """The processor seconds to evaluate a prompt afresh and to say some tokens after it.

        The wall clock would measure who else uses the machine.
        """
        body = {"prompt": list(range(1000, 1000 + prompt)), "n_predict": said, "temperature": 0}
        begun = time.process_time()
        _checked(
            self._server.handle_completions({**body, "cache_prompt": False, "ignore_eos": True})
        )
        return time.process_time() - begun

    def _call(self, handler: Any, body: Mapping[str, Any], tokens: Tokens) -> dict[str, Any]:
        self._calls += 1
        self._last = best_slot(self.slots, tokens, self._calls)
        clean = self.slots[self._last].tokens
        # A failed call leaves the slot in an unknown state: nothing is assumed to be clean.
        self.slots[self._last] = Slot(used=self._calls)
        extra, reuse = self._prepared(clean, tokens)
        answer = self._handled(handler, body, reuse)
        self.slots[self._last] = Slot(tokens, self._calls)
        if extra:
            answer["timings"]["prompt_n"] += extra
        return answer

    def _prepared(self, clean: Tokens, tokens: Tokens) -> tuple[int, bool]:
        """Leave only clean and reusable tokens in the slot: tokens evaluated, and whether to reuse.

        llama.cpp reuses all it can and cannot be told to reuse less, so where that is too much it
        is first shown the part to keep and a token that does not follow.
        """
        length, same = len(tokens), shared_length(clean, tokens)
        keep = reusable(same, length)
        if not keep:
            if length < UBATCH or not 0 < length % UBATCH < FEWEST:
                return 0, False
            keep = length - FEWEST
            return self._shown(tokens[:keep], False), True
        if same == keep < len(clean):
            return 0, True
        other = 0 if tokens[keep] else 1
        return self._shown(np.append(tokens[:keep], other), True), True

    def _shown(self, tokens: Tokens, reuse: bool) -> int:
        """Evaluate a prompt for its own sake; how many tokens that took."""
        body = {"prompt": tokens.tolist(), "n_predict": 1, "temperature": 0}
        answer = self._handled(self._server.handle_completions, body, reuse)
        return int(answer["timings"]["prompt_n"])

    def _handled(self, handler: Any, body: Mapping[str, Any], reuse: bool = True) -> dict[str, Any]:
        try:
            return _checked(handler({**body, "id_slot": self._last, "cache_prompt": reuse}))
        except RuntimeError as error:
            raise ModelFailure("server", f"llama.cpp failed: {error}.") from error


def _checked(answer: Any) -> dict[str, Any]:
    """The answer, unless it is an error, which is raised by kind."""
    if not isinstance(answer, dict):
        raise ModelFailure("bad_reply", "llama.cpp answered something that is no object.")
    if (error := answer.get("error")) is None:
        return answer
    kinds: dict[str, FaultKind] = {
        "exceed_context_size_error": "context_length",
        "invalid_request_error": "bad_request",
        "not_supported_error": "unsupported",
    }
    kind = kinds.get(str(error.get("type")), "server")
    raise ModelFailure(kind, f"llama.cpp refused the call: {error.get('message')}.")
