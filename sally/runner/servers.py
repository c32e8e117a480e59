"""Models on servers, called with Sally's own client: address, key and limits come from the
config."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

from sally.core import redaction
from sally.core.errors import NotReady
from sally.core.prompt.model import Answer, Context, Model, ModelFailure, WrappedModel
from sally.models.chat_server import ChatServer, Timeouts
from sally.runner.config import SERVER_AT_ONCE, Config, find_config
from sally.runner.gates import Gate, gate_of
from sally.runner.rates import CallLimiter, turnstile_of
from sally.runner.routing import Routed, order_servers

# variables that models of `server/` fall back to
ADDRESS, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"


def model_of(name: str) -> Model:
    """Return the model with a name such as `server/qwen-7b`; called by the registry."""
    return server_model(name, find_config())


def server_model(name: str, config: Config, episode: str = "") -> Model:
    """Return a model on its server or, if it has several, on the server that this episode uses.

    Raises:
        NotReady: If the address is missing or wrong, or the key is not set.
    """
    servers = config.entry(name).base_urls
    if servers:
        return Routed(
            order_servers(servers, episode), lambda server: _open_model(name, config, server)
        )
    return _open_model(name, config, None)


def _open_model(name: str, config: Config, server: str | None) -> Model:
    entry, limits = config.entry(name), config.limits
    address = server or entry.base_url or os.environ.get(ADDRESS)
    if not address:
        raise NotReady(
            f"The model {name!r} has no address; give base_url under [models.NAME] in sally.toml, "
            f"or set the environment variable {ADDRESS}."
        )
    timeouts = Timeouts(limits.connect_seconds, limits.first_byte_seconds, limits.call_seconds)
    server_model = ChatServer(
        entry.name,
        served_name(entry.name),
        address,
        entry.key() or redaction.remember(os.environ.get(KEY, "")),
        entry.at_once or SERVER_AT_ONCE,
        timeouts,
        entry.prompt_logprobs,
    )
    gate = gate_of(entry.name, server_model.address, limits.first_wait)
    return Gated(server_model, gate, turnstile_of(config, name))


def served_name(name: str) -> str:
    """Return the name of a model on its server: `qwen-7b` for `openai-api/lab/qwen-7b`."""
    maker, _, path = name.partition("/")
    return path.partition("/")[2] if maker == "openai-api" else path


class Gated(WrappedModel):
    """A server's model whose calls respect the rate limits and wait together after failures."""

    def __init__(self, model: ChatServer, gate: Gate, turnstile: CallLimiter | None) -> None:
        self._model, self._gate, self._turnstile = model, gate, turnstile

    async def call(self, ask: Callable[[Model], Awaitable[Answer]], context: Context) -> Answer:
        if self._turnstile is not None:
            await self._turnstile.wait_turn(self.name)
        begun = await self._gate.wait_turn()
        try:
            answer = await ask(self._model)
        except ModelFailure as error:
            self._gate.record_failure(begun, error)
            raise
        self._gate.record_success()
        if self._turnstile is not None:
            self._turnstile.used(self.name, answer.usage.input + answer.usage.output)
        return answer
