"""Rate limits: calls and tokens per minute, shared by all callers.

Limits are token buckets with a capacity of one second. A caller that takes more puts its bucket
into debt and waits until it is refilled. The tokens of a call are known only afterwards, so the
following calls wait for them.
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
    """A token bucket."""

    def __init__(self, per_minute: float, now: float) -> None:
        self._rate, self._at = per_minute / 60, now
        self._most = max(self._rate, 1.0)
        self._level = self._most

    def take(self, amount: float, now: float) -> float:
        """Take an amount from the bucket; return the seconds to wait until it is available."""
        self._level = min(self._level + (now - self._at) * self._rate, self._most) - amount
        self._at = now
        return max(-self._level / self._rate, 0.0)


class TokenBuckets:
    """The token buckets of all models with a rate limit."""

    def __init__(self, models: Mapping[str, ModelEntry]) -> None:
        now = time.monotonic()
        self._calls, self._tokens = dict[str, Bucket](), dict[str, Bucket]()
        for entry in models.values():
            if entry.calls_per_minute is not None:
                self._calls[entry.name] = Bucket(entry.calls_per_minute, now)
            if entry.tokens_per_minute is not None:
                self._tokens[entry.name] = Bucket(entry.tokens_per_minute, now)

    def wait(self, model: str, used: int) -> float:
        """Return the seconds the next call must wait; `used` are tokens of earlier calls."""
        now, waits = time.monotonic(), [0.0]
        if model in self._calls:
            waits.append(self._calls[model].take(1, now))
        if model in self._tokens:
            waits.append(self._tokens[model].take(used, now))
        return max(waits)


class CallLimiter:
    """A limiter that delays the model calls of one process to stay within the rate limits."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self._used = ask, Counter[str]()
        self.waited = 0.0  # seconds, summed over the calls

    async def wait_turn(self, model: str) -> None:
        """Wait until another call is allowed."""
        if (wait := await self._ask(model, self._used.pop(model, 0))) > 0:
            import asyncio  # imported late: a sixth of a worker's start-up, not needed for bots

            self.waited += wait
            await asyncio.sleep(wait)

    def used(self, model: str, tokens: int) -> None:
        """Count the tokens a call used."""
        self._used[model] += tokens


_elsewhere: list[CallLimiter] = []  # shared by a whole cluster
_limiters: dict[bytes, CallLimiter] = {}  # by the config's model entries


def use_turnstile(limiter: CallLimiter | None) -> None:
    """Use this rate limiter for all model calls of the process; None restores the process's own
    limiters."""
    _elsewhere[:] = [] if limiter is None else [limiter]


def turnstile_of(config: Config, model: str) -> CallLimiter | None:
    """Return the rate limiter of a model, or None if the model has no rate limit."""
    entry = config.entry(model)
    if entry.calls_per_minute is None and entry.tokens_per_minute is None:
        return None
    if _elsewhere:
        return _elsewhere[0]
    key = msgspec.json.encode(config.models, order="sorted")
    if key not in _limiters:
        rates = TokenBuckets(config.models)

        async def ask(model: str, used: int) -> float:
            return rates.wait(model, used)

        _limiters[key] = CallLimiter(ask)
    return _limiters[key]


def waited_for_rates() -> float:
    """Return the seconds that the calls of this process have waited for rate limits in total."""
    return sum(turnstile.waited for turnstile in (*_elsewhere, *_limiters.values()))


def has_rates(config: Config) -> bool:
    """Return whether any model has a rate limit."""
    entries = config.models.values()
    return any(e.calls_per_minute is not None or e.tokens_per_minute is not None for e in entries)


def divide_limits(config: Config, parts: int, rates: bool) -> Config:
    """Return the config for one of `parts` processes, with its share of the limits.

    The number of concurrent calls is divided; rates are divided only if `rates` is true, that is,
    if the processes do not share a rate limiter.
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
