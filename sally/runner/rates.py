"""Rates that a provider allows: so many calls and tokens a minute, whoever makes the calls.

A bucket fills at a steady pace and holds a second's worth. Who takes more than it holds goes into
debt and waits until the debt is filled; tokens are known after a call, so the next calls wait for
them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

import msgspec
from msgspec.structs import replace

from sally.runner.config import Config, ModelEntry

Ask = Callable[[str, int], Awaitable[float]]  # (model, tokens used since) -> seconds to wait


class Bucket:
    """Something that may be used up at a steady rate."""

    def __init__(self, per_minute: float, now: float) -> None:
        self._rate, self._at = per_minute / 60, now
        self._most = max(self._rate, 1.0)
        self._level = self._most

    def take(self, amount: float, now: float) -> float:
        """Use so much; how many seconds to wait before it is ours."""
        self._level = min(self._level + (now - self._at) * self._rate, self._most) - amount
        self._at = now
        return max(-self._level / self._rate, 0.0)


class Rates:
    """The buckets of all models that have a rate."""

    def __init__(self, models: Mapping[str, ModelEntry]) -> None:
        now = time.monotonic()
        self._calls, self._tokens = dict[str, Bucket](), dict[str, Bucket]()
        for entry in models.values():
            if entry.calls_per_minute is not None:
                self._calls[entry.name] = Bucket(entry.calls_per_minute, now)
            if entry.tokens_per_minute is not None:
                self._tokens[entry.name] = Bucket(entry.tokens_per_minute, now)

    def wait(self, model: str, used: int) -> float:
        """How long the next call must wait; `used` are tokens of earlier calls, told late."""
        now, waits = time.monotonic(), [0.0]
        if model in self._calls:
            waits.append(self._calls[model].take(1, now))
        if model in self._tokens:
            waits.append(self._tokens[model].take(used, now))
        return max(waits)


class Turnstile:
    """Where the calls of one process wait for their turn."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self._used = ask, Counter[str]()

    async def passed(self, model: str) -> None:
        """Wait until one more call may be made."""
        if (wait := await self._ask(model, self._used.pop(model, 0))) > 0:
            import asyncio  # a sixth of a worker's start, and bots need none

            await asyncio.sleep(wait)

    def used(self, model: str, tokens: int) -> None:
        """Count what a call used."""
        self._used[model] += tokens


_elsewhere: list[Turnstile] = []  # one whose buckets are kept for a whole cluster
_here: dict[bytes, Turnstile] = {}  # by what the config says of models


def use_turnstile(given: Turnstile | None) -> None:
    """Let all calls of this process wait there."""
    _elsewhere[:] = [] if given is None else [given]


def turnstile_of(config: Config, model: str) -> Turnstile | None:
    """Where calls of a model wait; None where it has no rate."""
    entry = config.entry(model)
    if entry.calls_per_minute is None and entry.tokens_per_minute is None:
        return None
    if _elsewhere:
        return _elsewhere[0]
    key = msgspec.json.encode(config.models, order="sorted")
    if key not in _here:
        rates = Rates(config.models)

        async def ask(model: str, used: int) -> float:
            return rates.wait(model, used)

        _here[key] = Turnstile(ask)
    return _here[key]


def has_rates(config: Config) -> bool:
    """Whether any model has a rate to keep to."""
    entries = config.models.values()
    return any(e.calls_per_minute is not None or e.tokens_per_minute is not None for e in entries)


def divided(config: Config, parts: int, rates: bool) -> Config:
    """What each of so many processes may use, so that together they keep to the config.

    Connections are divided; rates only where nobody keeps them for all.
    """

    def part(entry: ModelEntry) -> ModelEntry:
        at_once = entry.at_once and max(entry.at_once // parts, 1)
        calls, tokens = entry.calls_per_minute, entry.tokens_per_minute
        if rates:
            calls, tokens = calls and calls / parts, tokens and tokens / parts
        return replace(entry, at_once=at_once, calls_per_minute=calls, tokens_per_minute=tokens)

    if parts == 1:
        return config
    return replace(config, models={alias: part(e) for alias, e in config.models.items()})
