"""The user's `sally.toml`: model aliases, prices and limits; never API keys."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from sally.core import redaction as keys
from sally.core.errors import BadInput, NotReady, explain_schema_fault, unknown
from sally.core.prompt.model import Usage, read_settings
from sally.core.registry import registry
from sally.core.registry.objects import OWN

T = TypeVar("T", bound=msgspec.Struct)
NAME = "sally.toml"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # names of environment variables
PARTS = ("models", "prices", "limits")
SERVER_AT_ONCE = 64  # concurrent calls of a server without `at_once`
SERVER = "server"  # models named server/NAME are always reached by our own client
# Inspect's names of providers whose servers implement chat completions
COMPATIBLE = frozenset({"openai", "openai-api", "vllm", "sglang", "ollama", "llama-cpp-python"})


class ModelEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model entry of the config file: its name, address, limits and settings."""

    name: str
    base_url: str | None = None
    api_key_env: str | None = None  # the variable that holds the key
    settings: dict[str, Any] = {}
    at_once: int | None = None  # concurrent calls
    calls_per_minute: float | None = None
    tokens_per_minute: float | None = None
    base_urls: tuple[str, ...] = ()  # replicas of the same model; each episode uses one
    transport: Literal["", "server", "inspect"] = ""  # "": `server` for a compatible address
    prompt_logprobs: bool = False  # the server scores prompts as vLLM does

    @property
    def servers(self) -> tuple[str | None, ...]:
        """Addresses of the model; None means the provider's own."""
        return self.base_urls or (self.base_url,)

    def key(self) -> str | None:
        """Return the API key from the environment."""
        if self.api_key_env is None:
            return None
        if not (key := os.environ.get(self.api_key_env)):
            raise NotReady(
                f"The model {self.name!r} takes its key from the environment variable "
                f"{self.api_key_env}, which is not set."
            )
        return keys.remember(key)


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The prices of a million tokens."""

    input: float
    output: float
    cached: float | None = None  # cached input; None: same as input

    def of(self, usage: Usage) -> float:
        """Return the cost of a call."""
        cached = usage.cached or 0
        dear = self.input if self.cached is None else self.cached
        fresh = usage.input - cached
        return (fresh * self.input + cached * dear + usage.output * self.output) / 1e6


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dated price table."""

    date: date
    per_million: dict[str, Price]
    currency: str = "USD"


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a call and of an episode."""

    episode_tokens: int | None = None
    episode_seconds: float | None = None
    episodes_at_once: int | None = None
    call_seconds: int = 600
    call_retries: int = 5  # retries of calls with a transient failure
    first_wait: float = 1.0  # seconds; doubled with each failure in a row
    connect_seconds: float = 30.0  # for a connection to a server
    first_byte_seconds: float | None = None  # until a server begins to reply


class Config(msgspec.Struct, frozen=True):
    """Contents of a config file."""

    models: dict[str, ModelEntry] = {}
    prices: Prices | None = None
    limits: Limits = Limits()
    path: str = ""

    def entry(self, name: str) -> ModelEntry:
        """Return the entry of a model by alias or name, or a default entry."""
        if name in self.models:
            return self.models[name]
        return next((e for e in self.models.values() if e.name == name), ModelEntry(name))

    def model_name(self, name: str) -> str:
        """Return the name of a model that was given by alias or name.

        Raises:
            BadInput: It is neither an alias nor the name of a model.
        """
        full_name = self.entry(name).name
        if not registry.is_model_name(full_name):
            raise registry.unknown_model(full_name, self.models)
        return full_name

    def price(self, name: str) -> Price | None:
        """Return the price of a model, or None if unknown. Models in this process are free."""
        if in_process(name):
            return Price(0.0, 0.0, 0.0)
        return self.prices.per_million.get(name) if self.prices else None


def in_process(name: str) -> bool:
    """Return whether a model runs in this process instead of being reached through Inspect."""
    maker = name.partition(":")[0].partition("/")[0]
    return maker == OWN or maker in registry.entries("models")


def transport_of(name: str, config: Config) -> Literal["process", "server", "inspect"]:
    """Return how a model is reached: in this process, by Sally's own client, or through Inspect.

    Sally's client calls servers that implement OpenAI's chat completions at a configured address.
    """
    if in_process(name):
        return "process"
    maker, entry = name.partition("/")[0], config.entry(name)
    if entry.transport == "inspect":
        return "inspect"
    if maker == SERVER or entry.transport == "server":
        return "server"
    return "server" if maker in COMPATIBLE and entry.servers[0] else "inspect"


def declared_at_once(name: str, config: Config) -> int | None:
    """Return the number of concurrent calls that a model accepts, from the config or its kind."""
    kind = registry.entries("models").get(name.partition(":")[0].partition("/")[0])
    calls_at_once = config.entry(name).at_once or getattr(kind, "calls_at_once", None)
    if calls_at_once is not None and calls_at_once < 1:
        raise BadInput(
            f"The model {name!r} must allow at least one concurrent call, not {calls_at_once}."
        )
    return calls_at_once


_configs: list[Config] = []  # the config named for this process, if any


def use_config(config: Path | Config | None) -> Config:
    """Use this config in this process; None means the local or the user's config file."""
    if config is None:
        _configs.clear()
    else:
        _configs[:] = [config if isinstance(config, Config) else read_config(config)]
    return find_config()


def find_config() -> Config:
    """Return the config in use: the one set by `use_config`, else the one in the local or the
    user's config file, else an empty one."""
    if _configs:
        return _configs[0]
    places = (Path(NAME), user_folder() / NAME)
    return next((read_config(place) for place in places if place.is_file()), Config())


def user_folder() -> Path:
    """Return the user's configuration directory."""
    if base := os.environ.get("XDG_CONFIG_HOME"):
        return Path(base).expanduser() / "sally"
    if sys.platform == "win32" and (roaming := os.environ.get("APPDATA")):
        return Path(roaming) / "sally"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "sally"
    return Path.home() / ".config" / "sally"


def read_config(path: Path) -> Config:
    """Read and check a config file.

    Raises:
        BadInput: If the file cannot be read, is not TOML, or has a wrong entry."""
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"The config file {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"The config file {path} is not TOML: {error}.") from None
    for part in plain:
        if part not in PARTS:
            raise unknown(f"part of the config file {path}", part, PARTS)
    models = {
        alias: _model(entry, f"{path}, models.{alias}")
        for alias, entry in _table(plain, "models", path).items()
    }
    _refuse_two_ways(models, path)
    prices = _table(plain, "prices", path)
    return Config(
        models,
        _checked_prices(_read(prices, Prices, f"{path}, prices"), path) if prices else None,
        _checked_limits(_read(_table(plain, "limits", path), Limits, f"{path}, limits"), path),
        str(path),
    )


def _table(plain: Mapping[str, Any], part: str, path: Path) -> Mapping[str, Any]:
    table = plain.get(part, {})
    if not isinstance(table, dict):
        raise BadInput(f"{path}: {part} must be a table, written as [{part}].")
    return table


def _read(plain: Any, kind: type[T], source: str) -> T:
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    for name in plain if isinstance(plain, dict) else ():
        if name not in names:
            raise unknown(f"field of {source},", name, names)
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise BadInput(f"{source}: {explain_schema_fault(str(error))}.") from None


def _model(plain: Any, source: str) -> ModelEntry:
    for name in plain if isinstance(plain, dict) else ():
        if "key" in name and name != "api_key_env":  # never echo the value
            raise BadInput(
                f"{source}: a key does not belong in a file; put it into an environment variable "
                "and name that in api_key_env."
            )
    entry = _read(plain, ModelEntry, source)
    if entry.api_key_env is not None and not VARIABLE.fullmatch(entry.api_key_env):
        raise BadInput(
            f"{source}: api_key_env must be the name of an environment variable, such as "
            "LAB_API_KEY, and not the key itself."
        )
    read_settings(entry.settings, source)  # raises if one is unknown or wrong
    if entry.at_once is not None and entry.at_once < 1:
        raise BadInput(f"{source}: at_once must be at least 1, not {entry.at_once}.")
    for name in ("calls_per_minute", "tokens_per_minute"):
        if (rate := getattr(entry, name)) is not None and not rate > 0:
            raise BadInput(f"{source}: {name} must be above 0, not {rate}.")
    if entry.base_url and entry.base_urls:
        raise BadInput(
            f"{source}: give base_url for one server or base_urls for several, not both."
        )
    for address in filter(None, entry.servers):
        keys.refuse_secrets(
            address,
            f"{source}: base_url",
            "put the key into an environment variable and name that in api_key_env; it is sent in "
            "the header Authorization",
        )
        if not address.startswith(("http://", "https://")):
            raise BadInput(
                f"{source}: base_url must look like http://localhost:8000/v1, not {address!r}."
            )
    if len(set(entry.base_urls)) < len(entry.base_urls):
        raise BadInput(f"{source}: base_urls names a server twice.")
    return entry


def _refuse_two_ways(models: Mapping[str, ModelEntry], path: Path) -> None:
    """Raise BadInput if two aliases reach one model in different ways, because episodes do not
    store the alias."""
    ways: dict[str, tuple[str, Any]] = {}
    for alias, entry in models.items():
        access = (entry.servers, entry.api_key_env)
        other_alias, other_access = ways.setdefault(entry.name, (alias, access))
        if other_access != access:
            raise BadInput(
                f"{path}: {other_alias} and {alias} both name {entry.name} but reach it in two "
                "ways. Episodes store the name, not the alias: give both the same address and "
                "api_key_env, or different names."
            )


def _checked_prices(prices: Prices, path: Path) -> Prices:
    for name, price in prices.per_million.items():
        if min(price.input, price.output, price.cached or 0.0) < 0:
            raise BadInput(f"{path}: the prices of {name} must be at least 0.")
    return prices


def _checked_limits(limits: Limits, path: Path) -> Limits:
    for name in Limits.__struct_fields__:
        value = getattr(limits, name)
        lowest = 0 if name in {"call_retries", "first_wait"} else 1e-9
        if value is not None and not value >= lowest:
            bound_text = "at least 0" if lowest == 0 else "above 0"
            raise BadInput(f"{path}: limits.{name} must be {bound_text}, not {value}.")
    return limits
