"""Several servers behind one model name; an episode stays on one server, for its prefix cache.

Rendezvous hashing of episode and address chooses the same server in every process, so adding or
removing a server moves only its own share of the episodes.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Any

from sally.core.prompt.model import Answer, Context, Model, ModelFailure, WrappedModel

AVOIDED = 60.0  # seconds for which new episodes avoid an unreachable server
_down: dict[str, float] = {}  # address -> end of avoidance


def order_servers(servers: Sequence[str], episode: str) -> list[str]:
    """Return the servers in this episode's order, unreachable ones last."""
    now = time.monotonic()

    def rank(server: str) -> tuple[bool, bytes]:
        draw = blake2b(f"{episode} {server}".encode(), digest_size=8).digest()
        return _down.get(server, 0.0) > now, draw

    return sorted(servers, key=rank)


class Routed(WrappedModel):
    """A model on several servers; an episode stays on one server as long as it can be reached."""

    def __init__(self, servers: Sequence[str], reach: Callable[[str], Model]) -> None:
        self._left, self._reach = list(servers), reach
        self._model = reach(self._left[0])
        self._visited: list[Model] = [self._model]

    @property
    def used(self) -> Any:
        """The model that answered: one record, or a list if the server changed."""
        used = [getattr(model, "used", None) for model in self._visited]
        return used[0] if len(used) == 1 else used

    async def call(self, ask: Callable[[Model], Awaitable[Answer]], context: Context) -> Answer:
        model = self._model
        try:
            return await ask(model)
        except ModelFailure as error:
            self._leave(model, error)
            raise

    def _leave(self, model: Model, failure: ModelFailure) -> None:
        """Change to the next server if the current server is unreachable."""
        if failure.kind != "connection" or model is not self._model:  # already changed
            return
        _down[self._left[0]] = time.monotonic() + AVOIDED
        if len(self._left) > 1:
            self._left.pop(0)
            self._model = self._reach(self._left[0])
            self._visited.append(self._model)
