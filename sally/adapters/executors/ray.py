"""The Ray executor, which plays a study on all machines of a cluster.

Every node needs the same version of Sally and access to the same store. Shards are sent as JSON and
results come back as counts, so no data is kept in Ray.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Generator
from contextlib import redirect_stdout
from typing import Any

import msgspec

from sally.adapters.executors.services import SERVICES, keeper_name
from sally.core.errors import BadInput, install_command
from sally.runner.executors import TELL_SECONDS, Take
from sally.runner.rates import TokenBuckets
from sally.runner.shards import EpisodeCounts, Job, Result, Shard, Tell, play_encoded_shard

AHEAD = 1  # queued shards per running one, so that no worker is idle
PATIENCE = 10.0  # seconds to wait for the head node


class Cluster:
    """A Ray cluster: the one at an address, or the one that Ray finds or starts."""

    together = False
    rates = True

    def __init__(self, address: str = "") -> None:
        self.name = f"ray://{address}" if address else "ray"
        self._address, self._ray = address, _import_ray()
        self._ours = not self._ray.is_initialized()  # keep a connection made by the caller
        self._connect()

    def _connect(self) -> None:
        if not self._ray.is_initialized():
            _init(self._ray, self._address)
        self._slots = self._cores()
        self._play = self._ray.remote(
            num_cpus=1,
            max_retries=0,  # the run itself resends shards and counts the attempts
            scheduling_strategy="SPREAD",
        )(_work_on_shard)

    def _cores(self) -> int:
        return max(int(self._ray.cluster_resources().get("CPU", 0)), 1)

    def slots(self) -> int:
        """Return the current number of cores of the cluster, which may change."""
        return self._slots

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        first = take()
        if first is None:
            return
        # Ray reports dead workers with print(), which must not mix with our output; it has no
        # option for this (https://docs.ray.io, "Configuring logging").
        with redirect_stdout(sys.stderr):
            self._connect()
            yield from self._play_shards(job, _beginning_with(first, take), tell)
            if self._ours:
                self._ray.shutdown()  # ends its messages

    def _play_shards(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        line = msgspec.json.encode(job)
        # the actor lives as long as this reference
        keeper = self._keeper(job) if job.rates else None
        out: dict[Any, Shard] = {}
        try:
            while True:
                self._slots = self._cores()
                while len(out) < self._slots * (1 + AHEAD) and (shard := take()) is not None:
                    out[self._play.remote(line, msgspec.json.encode(shard))] = shard
                if not out:
                    return
                done, _ = self._ray.wait(list(out), num_returns=1, timeout=TELL_SECONDS)
                if not done:
                    tell(EpisodeCounts())
                for reference in done:
                    yield self._result(reference, out.pop(reference))
        finally:
            for reference in out:
                self._ray.cancel(reference, force=True)
            del keeper

    def _keeper(self, job: Job) -> Any:
        """Return the actor that tracks the providers' rate limits for the whole cluster."""
        actor = self._ray.remote(num_cpus=0, max_restarts=-1)(TokenBuckets)
        return actor.options(name=keeper_name(job), get_if_exists=True).remote(job.config.models)

    def _result(self, reference: Any, shard: Shard) -> Result:
        errors = self._ray.exceptions
        try:
            return msgspec.json.decode(self._ray.get(reference), type=Result)
        except errors.RayTaskError as error:  # could not start, e.g. Sally is missing
            return Result(shard.label, refused=f"A Ray worker cannot play: {error.cause}.")
        except errors.RayError as error:  # the worker or its node died
            return Result(shard.label, lost=_sentence(error))


def _work_on_shard(job: bytes, shard: bytes) -> bytes:
    return play_encoded_shard(job, shard, SERVICES)


def _sentence(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _beginning_with(first: Shard, take: Take) -> Take:
    """Return a `take` function that first returns `first`, which was already taken from the
    queue."""
    waiting = [first]
    return lambda: waiting.pop() if waiting else take()


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise BadInput(
            f"Ray is not installed; install it with `{install_command('ray')}`."
        ) from None
    return ray


def _init(ray: Any, address: str) -> None:
    if address:
        _refuse_silence(address)
    try:
        ray.init(
            address=address or None,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=None if address else False,
        )
    except Exception as error:  # Ray raises ConnectionError, ValueError, RuntimeError and others
        place = f"The Ray cluster at {address}" if address else "Ray"
        raise BadInput(f"{place} cannot be reached: {_sentence(error)}.") from None


def _refuse_silence(address: str) -> None:
    """Raise BadInput if nothing listens at the address; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise BadInput(f"A Ray cluster is named as ray://HOST:PORT, not {address!r}.")
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"The Ray cluster at {address} cannot be reached: {reason}.") from None
