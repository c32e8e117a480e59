"""A llama.cpp server as a model: the interface of the embedded model, on faster kernels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.prompt.model import ModelFailure, ModelKind
from sally.core.redaction import refuse_secrets, remember
from sally.models.embedded import Embedded
from sally.models.llama import Llama, Slot, _raise_errors, ask_server
from sally.models.weights import Unavailable

KEY_VARIABLE: Final = "LLAMA_API_KEY"

# Log-probabilities of known weights unpacked to 32 bits: of SmolLM2 by llama.cpp, of Qwen by
# transformers. Packed weights and other kernels change them by hundredths; a runtime that computes
# something else differs by whole units.
PROBES: Final = (
    ("The capital of France is", (" Paris", " London", " the")),
    ("Question: Rock, paper or scissors?\nAnswer:", (" rock", " paper", " scissors")),
)
REFERENCE: Final[Mapping[str, tuple[tuple[float, ...], ...]]] = {
    "smollm2": ((-0.2584, -4.3838, -2.7403), (-4.8860, -9.5747, -6.9950)),
    "qwen-0.5b": ((-0.0984, -4.3118, -6.0938), (-3.7182, -4.5893, -4.4094)),
}
CLOSE: Final = 0.5


class ServedModel(msgspec.Struct, frozen=True):
    """The model that answered, as far as the server reports it."""

    weights: str
    server: str
    context: int
    slots: int
    checked: str  # the reference its scores were checked against; "" for none


class Remote(Llama):
    """A llama.cpp server at an address; for one thread at a time."""

    def __init__(self, address: str, key: str) -> None:
        self.key, self._address = key, address
        self._calls, self._last = 0, 0
        self._server = self
        self.told = _raise_errors(ask_server(address, key, "GET", "/props"))
        self.slots = [Slot() for _ in range(max(1, int(self.told.get("total_slots", 1))))]

    @property
    def address(self) -> str:
        """The server's address."""
        return self._address

    def handle_completions(self, body: Mapping[str, Any]) -> Any:
        """Continue a prompt of tokens."""
        return ask_server(self._address, self.key, "POST", "/v1/completions", body)

    def handle_chat_completions(self, body: Mapping[str, Any]) -> Any:
        """Answer a chat."""
        return ask_server(self._address, self.key, "POST", "/v1/chat/completions", body)

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return _raise_errors(ask_server(self._address, self.key, "POST", path, body))


class LlamaServer(Embedded):
    """A model on a llama.cpp server; its scores are checked before the first call.

    Calls are made one after another in the server's slots. The server should have no other clients,
    because their calls would use the slots untracked.
    """

    def __init__(self, address: str, *, weights: str | None = None, key: str = "") -> None:
        if weights is not None and weights not in REFERENCE:
            raise unknown("set of reference weights", weights, REFERENCE)
        remote = Remote(address, key)
        path = str(remote.told.get("model_path", ""))
        self._weights = PurePath(path.replace("\\", "/")).stem or "unnamed"
        self._llama, self._checked = remote, weights or ""
        settings = remote.told.get("default_generation_settings", {})
        self._context = int(settings.get("n_ctx", 0))
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="llama_server")
        if weights is not None:
            check_scores(self, weights)

    @property
    def name(self) -> str:
        """The name under which calls to the model are logged."""
        return f"llama_server/{self._weights}"

    @cached_property
    def used(self) -> ServedModel:  # type: ignore[override]  # a server tells other things
        """The model that answered, for the record."""
        server_info = getattr(self._llama, "told", {})
        build = str(server_info.get("build_info", "llama.cpp"))
        return ServedModel(self._weights, build, self._context, self.slots, self._checked)


def check_scores(model: LlamaServer, weights: str) -> None:
    """Raise Unavailable if the scores differ from those of the same weights in 32 bits."""
    for (text, candidates), reference in zip(PROBES, REFERENCE[weights], strict=True):
        logprobs = model._score(text, candidates).logprobs
        worst = max(
            abs(ours - known_value) for ours, known_value in zip(logprobs, reference, strict=True)
        )
        if worst > CLOSE:
            raise Unavailable(
                f"The server's log-probabilities differ by up to {worst:.2f} from those of "
                f"{weights} in 32 bits; it serves other weights or computes incorrectly."
            )


def _open_server(name: str) -> LlamaServer:
    """Return the model named `llama_server:http://HOST:PORT`.

    With `?weights=qwen-0.5b`, the server's scores are compared with known scores of those weights.
    """
    address, _, query = name.partition(":")[2].partition("?")
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
        raise BadInput("Give the server's address, as in llama_server:http://localhost:8080.")
    refuse_secrets(
        address, "The address of llama_server", f"put the key into the variable {KEY_VARIABLE}"
    )
    options = parse_qs(query)
    for key in options:
        if key != "weights":
            raise unknown("setting of llama_server", key, ("weights",))
    weights: Sequence[str] = options.get("weights", [])
    try:
        return LlamaServer(
            address,
            weights=weights[0] if weights else None,
            key=remember(os.environ.get(KEY_VARIABLE, "")),
        )
    except (Unavailable, ModelFailure) as error:
        detail = error.fault.detail if isinstance(error, ModelFailure) else str(error)
        raise BadInput(detail) from error


MODEL = ModelKind(
    "llama_server",
    "a llama.cpp server as llama_server:http://HOST:PORT; scores candidates",
    _open_server,
)
