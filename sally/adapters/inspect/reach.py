"""Access to providers through Inspect, with address and key from the configuration.

Retries by Inspect and by provider clients are switched off, so that every failure is logged by kind
and retried after the time that the provider requests.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log._samples import _active_model_event
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model
from inspect_ai.model import Model as Provider

from sally.adapters.inspect.failures import causes
from sally.core import redaction as keys
from sally.core.errors import NotReady
from sally.core.log.calls import KEPT, cut
from sally.runner.config import Config

RETRYING = frozenset({"openai", "openai-api", "openrouter", "anthropic", "groq"})
OPENAI_REASONING = re.compile(r"(.*/)?(o\d|gpt-[5-9])")
MARKUP = re.compile(r"\[/?[a-z ]+\]")


def provider_of(name: str, config: Config, server: str | None = None) -> Provider:
    """Return the provider that the configuration gives for a model.

    `server` selects one of several servers; the default is the first.

    Raises:
        NotReady: The model cannot be reached.
    """
    entry = config.entry(name)
    maker = name.partition("/")[0]
    options: dict[str, Any] = {"max_retries": 0} if maker in RETRYING else {}
    address = server or entry.servers[0] or os.environ.get("OPENAI_BASE_URL")
    is_compatible = maker == "openai" and bool(address) and "api.openai.com" not in str(address)
    if is_compatible:
        options["responses_api"] = False  # compatible servers implement chat completions only
    key = entry.key()
    try:
        provider = get_model(
            entry.name,
            config=GenerateConfig(max_connections=entry.at_once),
            base_url=server or entry.servers[0],
            api_key=key,
            **options,
        )
    except (PrerequisiteError, ValueError, ImportError) as error:
        message = str(getattr(error, "message", error))
        sentence = " ".join(MARKUP.sub("", message).split()).rstrip(".").removeprefix("ERROR: ")
        raise NotReady(f"The model {name!r} cannot be reached: {sentence}.") from None
    if is_compatible:
        _send_settings_as_given(provider.api)
    _refuse_secrets(provider.api, name)
    hide_key(provider.api)
    return provider


def _send_settings_as_given(api: Any) -> None:
    """Make Inspect send temperature and max_tokens to a compatible server.

    Inspect takes every name it does not know, and names such as `demo1`, for OpenAI's newest
    models, drops their temperature with a warning, and renames max_tokens. Names of OpenAI's own
    reasoning models keep that treatment, because the server may pass calls on.
    """
    if not OPENAI_REASONING.match(api.model_family()):
        api.is_latest = lambda: False
        api.is_o_series = lambda: False


def _refuse_secrets(api: ModelAPI, name: str) -> None:
    """Raise BadInput if the address of a provider, such as OPENAI_BASE_URL, contains a key."""
    owners = [part.upper().replace("-", "_") for part in name.split("/")[:-1]]
    addresses = (os.environ.get(f"{owner}_BASE_URL") for owner in owners)
    for address in filter(None, (api.base_url, *addresses)):
        keys.refuse_secrets(
            address,
            f"The address of {name!r}",
            "put the key into the provider's environment variable, or into one that api_key_env "
            "names; it is sent in the header Authorization",
        )


def address_of(provider: Provider) -> str | None:
    """Return the address of a provider for records and messages; None if it is the provider's
    default."""
    return keys.address_without_secrets(provider.api.base_url) if provider.api.base_url else None


# --- no key in any trace ------------------------------------------------------------------------


def hide_key(api: ModelAPI) -> None:
    """Remove API keys from errors, replies and responses of a provider before Inspect logs them.

    Replies that are too long to be stored are truncated.
    """
    keys.remember(api.api_key or "")
    if getattr(api.generate, "hides_key", False):
        return
    inner = api.generate

    @wraps(inner)
    async def generate(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await inner(*args, **kwargs)
        except Exception as error:
            for cause in causes(error):
                _scrub(cause)
            raise
        finally:
            _scrub_request_ids()
        if not isinstance(result, tuple):
            return _clean(result)
        output, call = result
        if isinstance(output, Exception):
            _scrub(output)
        else:
            output = _clean(output)
        call.response = without_keys(call.response, keys.reply_without_keys)
        return output, call

    generate.hides_key = True  # type: ignore[attr-defined]
    api.generate = generate  # type: ignore[method-assign]


def _scrub_request_ids() -> None:
    """Remove keys from the ids in a response's headers, which Inspect logs with the call."""
    event = _active_model_event.get()
    for request_id in (event.request_ids if event is not None else None) or ():
        request_id.id = keys.scrub(request_id.id)


def _scrub(error: BaseException) -> None:
    error.args = tuple(without_keys(arg, keys.scrub) for arg in error.args)
    for name in ("message", "body"):
        if hasattr(error, name):
            setattr(error, name, without_keys(getattr(error, name), keys.scrub))


def _clean(output: ModelOutput) -> ModelOutput:
    try:
        # much quicker than a walk through its texts
        output_text = output.model_dump_json(warnings=False)
        if len(output_text) <= KEPT and keys.reply_without_keys(output_text) == output_text:
            return output
    except ValueError:  # such as half of a surrogate pair
        pass
    plain = without_keys(output.model_dump(warnings=False), keys.reply_without_keys)
    return ModelOutput.model_validate(plain)


def without_keys(value: Any, scrub: Callable[[str], str]) -> Any:
    """Return the value with keys removed from its texts, and with long texts truncated; names of
    fields stay as they are."""
    if isinstance(value, str):
        return scrub(cut(value))
    if isinstance(value, Mapping):
        return {name: without_keys(inside, scrub) for name, inside in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(without_keys(inside, scrub) for inside in value)
    return value
