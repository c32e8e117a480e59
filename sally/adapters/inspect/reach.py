"""Access to providers through Inspect, with address and key from the configuration.

Retries by Inspect and by provider clients are switched off, so that every failure is logged by kind
and retried after the wait that the provider asks for.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping
from functools import wraps
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, ModelAPI, get_model
from inspect_ai.model import Model as Provider

from sally.adapters.inspect.failures import causes
from sally.core.errors import BadInput
from sally.core.prompt.model import ModelFailure
from sally.runner.config import Config

RETRYING = frozenset({"openai", "openai-api", "openrouter", "anthropic", "groq"})
WAITING = frozenset({"rate_limit", "server", "timeout", "connection"})
FINAL = 3  # permanently refused calls (unknown model or key) after which a run stops
PATIENCE = 30  # transient failures without any success after which a run stops
LONGEST = 120.0  # maximum wait in seconds
MARKUP = re.compile(r"\[/?[a-z ]+\]")
HIDDEN = "[key removed]"


def provider_of(name: str, config: Config, server: str | None = None) -> Provider:
    """Return the provider of a model by the configuration.

    `server` selects one of several servers; default: the first.

    Raises:
        BadInput: The model cannot be reached.
    """
    entry = config.entry(name)
    maker = name.partition("/")[0]
    given: dict[str, Any] = {"max_retries": 0} if maker in RETRYING else {}
    address = server or entry.servers[0] or os.environ.get("OPENAI_BASE_URL")
    if maker == "openai" and address and "api.openai.com" not in address:
        given["responses_api"] = False  # compatible servers implement chat completions only
    key = entry.key()
    try:
        provider = get_model(
            entry.name,
            config=GenerateConfig(max_connections=entry.at_once),
            base_url=server or entry.servers[0],
            api_key=key,
            **given,
        )
    except (PrerequisiteError, ValueError, ImportError) as why:
        said = str(getattr(why, "message", why))
        sentence = " ".join(MARKUP.sub("", said).split()).rstrip(".").removeprefix("ERROR: ")
        raise BadInput(f"The model {name!r} cannot be reached: {sentence}.") from None
    hide_key(provider.api)
    return provider


class Gate:
    """A gate at which all calls of a provider wait after a failure or a rate limit."""

    def __init__(self, first_wait: float = 1.0) -> None:
        self._first, self._until, self._streak, self._counted = first_wait, 0.0, 0, 0.0
        self.served, self.refusals, self.words = False, 0, ""

    async def passed(self) -> float:
        """Wait until the provider may be called; return the time."""
        while (left := self._until - time.monotonic()) > 0:
            await asyncio.sleep(left)
        return time.monotonic()

    def worked(self) -> None:
        self._streak, self.served = 0, True

    def failed(self, begun: float, failure: ModelFailure) -> None:
        """Record a failure; wait as long as the provider says, else double the last wait."""
        self.refusals += 1 if failure.kind in WAITING else PATIENCE // FINAL
        self.words = failure.fault.detail
        if failure.kind not in WAITING:
            return
        if begun >= self._counted:  # concurrent failures count once
            self._streak, self._counted = self._streak + 1, time.monotonic()
        asked = failure.fault.retry_after
        wait = self._first * 2 ** (self._streak - 1) if asked is None else asked
        self._until = max(self._until, time.monotonic() + min(wait, LONGEST))


_gates: dict[str, Gate] = {}


def hopeless() -> str | None:
    """Return the message of a provider that has refused every call, once a run should stop."""
    for name, gate in _gates.items():
        if not gate.served and gate.refusals >= PATIENCE:
            model, address = name.split(" ")[:2]
            at = "" if address == "None" else f" at {address}"
            return f"{model}{at} answered none of the calls: {gate.words.rstrip('.')}."
    return None


def forget_refusals() -> None:
    """Reset the counts of refusals at the start of a run."""
    for gate in _gates.values():
        gate.served, gate.refusals, gate.words = False, 0, ""


def gate_of(provider: Provider, first_wait: float) -> Gate:
    """Return the gate of a provider's model, shared by this process."""
    return _gates.setdefault(f"{provider} {provider.api.base_url} {first_wait}", Gate(first_wait))


# --- no key in any trace ------------------------------------------------------------------------


def hide_key(api: ModelAPI) -> None:
    """Remove the API key from errors and responses of a provider before they are logged."""
    key = api.api_key
    if not key or getattr(api.generate, "hides_key", False):
        return
    inner = api.generate

    @wraps(inner)
    async def generate(*args: Any, **given: Any) -> Any:
        try:
            result = await inner(*args, **given)
        except Exception as why:
            for cause in causes(why):
                _scrub(cause, key)
            raise
        if isinstance(result, tuple) and isinstance(result[0], Exception):
            _scrub(result[0], key)
            result[1].response = without(result[1].response, key)
        return result

    generate.hides_key = True  # type: ignore[attr-defined]
    api.generate = generate  # type: ignore[method-assign]


def _scrub(error: BaseException, key: str) -> None:
    error.args = tuple(without(arg, key) for arg in error.args)
    for name in ("message", "body"):
        if hasattr(error, name):
            setattr(error, name, without(getattr(error, name), key))


def without(value: Any, key: str) -> Any:
    """Return the value with the key removed from all its texts."""
    if isinstance(value, str):
        return value.replace(key, HIDDEN)
    if isinstance(value, Mapping):
        return {without(k, key): without(v, key) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without(v, key) for v in value]
    return value
