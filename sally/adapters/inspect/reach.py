"""Providers as Inspect reaches them: address and key from the config, every failure to the log.

The clients of some providers retry by themselves, and Inspect does; both are switched off, so
that each failure comes to us, is logged by kind, and is tried again after the wait it calls for.
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
FINAL = 3  # calls that a provider refuses for good (no such model, no such key), and we stop
PATIENCE = 30  # calls that it fails in passing, without ever having answered one
LONGEST = 120.0  # seconds that a provider can make everybody wait
MARKUP = re.compile(r"\[/?[a-z ]+\]")
HIDDEN = "[key removed]"


def provider_of(name: str, config: Config, server: str | None = None) -> Provider:
    """The provider of a model as the config reaches it, or one sentence on what is missing.

    Where the model has several servers, `server` is the address of one; else the first is taken.
    """
    entry = config.entry(name)
    maker = name.partition("/")[0]
    given: dict[str, Any] = {"max_retries": 0} if maker in RETRYING else {}
    address = server or entry.servers[0] or os.environ.get("OPENAI_BASE_URL")
    if maker == "openai" and address and "api.openai.com" not in address:
        given["responses_api"] = False  # what speaks OpenAI's language elsewhere, speaks chat
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
    """Where all calls of one provider wait after it asked for patience, or failed."""

    def __init__(self, first_wait: float = 1.0) -> None:
        self._first, self._until, self._streak, self._counted = first_wait, 0.0, 0, 0.0
        self.served, self.refusals, self.words = False, 0, ""

    async def passed(self) -> float:
        """Wait until the provider may be called; the time of the call."""
        while (left := self._until - time.monotonic()) > 0:
            await asyncio.sleep(left)
        return time.monotonic()

    def worked(self) -> None:
        self._streak, self.served = 0, True

    def failed(self, begun: float, failure: ModelFailure) -> None:
        """Wait as long as the provider says, else twice as long as after the failure before."""
        self.refusals += 1 if failure.kind in WAITING else PATIENCE // FINAL
        self.words = failure.fault.detail
        if failure.kind not in WAITING:
            return
        if begun >= self._counted:  # calls that failed side by side count as one failure
            self._streak, self._counted = self._streak + 1, time.monotonic()
        asked = failure.fault.retry_after
        wait = self._first * 2 ** (self._streak - 1) if asked is None else asked
        self._until = max(self._until, time.monotonic() + min(wait, LONGEST))


_gates: dict[str, Gate] = {}


def hopeless() -> str | None:
    """What a provider says that has refused every call so far, once that is no accident."""
    for name, gate in _gates.items():
        if not gate.served and gate.refusals >= PATIENCE:
            model, address = name.split(" ")[:2]
            at = "" if address == "None" else f" at {address}"
            return f"{model}{at} answered none of the calls: {gate.words.rstrip('.')}."
    return None


def forget_refusals() -> None:
    """A run begins anew; what a provider refused before counts no more."""
    for gate in _gates.values():
        gate.served, gate.refusals, gate.words = False, 0, ""


def gate_of(provider: Provider, first_wait: float) -> Gate:
    """The one gate of a provider's model in this process."""
    return _gates.setdefault(f"{provider} {provider.api.base_url} {first_wait}", Gate(first_wait))


# --- no key in any trace ------------------------------------------------------------------------


def hide_key(api: ModelAPI) -> None:
    """Take the key out of whatever a provider says when it fails, before anybody logs it."""
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
    """The value with the key taken out of all its texts."""
    if isinstance(value, str):
        return value.replace(key, HIDDEN)
    if isinstance(value, Mapping):
        return {without(k, key): without(v, key) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without(v, key) for v in value]
    return value
