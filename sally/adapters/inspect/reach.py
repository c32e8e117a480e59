"""Access to providers through Inspect, with address and key from the configuration.

Retries by Inspect and by provider clients are switched off, so that every failure is logged by kind
and retried after the wait that the provider asks for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import wraps
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, ModelAPI, get_model
from inspect_ai.model import Model as Provider

from sally.adapters.inspect.failures import causes
from sally.core.errors import BadInput
from sally.runner.config import Config

RETRYING = frozenset({"openai", "openai-api", "openrouter", "anthropic", "groq"})
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
