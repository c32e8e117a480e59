"""Executors, which play shards in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol

from sally.runner.shards import NO_SERVICES, Job, Result, Services, Shard, Tell, work

TELL_SECONDS = 2.0  # between reports of progress while workers play
Take = Callable[[], Shard | None]  # return the next shard, or None if there is none now


class Executor(Protocol):
    """An object that plays shards and yields their results; workers write episodes to the store."""

    name: str
    together: bool  # whether episodes with models are played in one process
    rates: bool  # whether its workers share the rate limits of the run

    def slots(self) -> int:
        """Return the number of shards played concurrently."""

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        """Play shards until none is waiting or in progress.

        `tell` is called every second or two: with the counts of a shard played in this process, or
        without counts while workers play, which publish theirs in the store.
        """


class Local:
    """An executor that plays one shard after another in this process."""

    name = "local"
    together = True
    rates = False

    def __init__(self, services: Services = NO_SERVICES) -> None:
        self._services = services

    def slots(self) -> int:
        return 1

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        while (shard := take()) is not None:
            yield work(job, shard, self._services, tell)
