"""Executors: who plays shards, and where."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol

from sally.runner.shards import Job, Result, Shard, Tell, work

Take = Callable[[], Shard | None]  # the next shard; None when there is none just now


class Executor(Protocol):
    """Takes shards and yields what became of them; workers put the episodes into the store."""

    name: str
    together: bool  # whether all episodes with models are best played in one process
    rates: str  # `module:function` that asks whoever keeps providers' rates for all; "" for nobody

    def slots(self) -> int:
        """How many shards it plays at the same time."""

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        """Play shards until there is none to take and none is being played.

        It may tell how far the shard is that this process plays itself.
        """


class Local:
    """This process, one shard after another."""

    name = "local"
    together = True
    rates = ""

    def slots(self) -> int:
        return 1

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        while (shard := take()) is not None:
            yield work(job, shard, tell)
