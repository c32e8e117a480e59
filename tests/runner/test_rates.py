"""Rates that a provider allows, whoever makes the calls."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.runner.config import Config, ModelEntry
from sally.runner.rates import (
    Bucket,
    CallLimiter,
    TokenBuckets,
    divide_limits,
    turnstile_of,
    use_turnstile,
)

PACED = ModelEntry("lab/x", at_once=8, calls_per_minute=600, tokens_per_minute=6000)


def test_bucket_holds_one_second_of_calls_and_then_delays() -> None:
    bucket = Bucket(per_minute=120, now=0.0)  # two a second
    assert [bucket.take(1, 0.0) for _ in range(4)] == [0.0, 0.0, 0.5, 1.0]
    assert bucket.take(0, 1.0) == 0.0  # the debt is filled
    assert bucket.take(1, 100.0) == 0.0
    assert bucket.take(2, 100.0) == 0.5  # a long rest is worth a second, not a minute


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.floats(30, 6000))
def test_calls_per_minute_never_exceed_the_rate_plus_one_second(
    gaps: list[float], per_minute: float
) -> None:
    bucket, now, begun = Bucket(per_minute, 0.0), 0.0, []
    for gap in gaps:
        now += gap
        begun.append(now + bucket.take(1, now))
    begun.sort()
    for start in begun:
        within = sum(start <= at < start + 60 for at in begun)
        assert within <= per_minute + max(per_minute / 60, 1.0) + 1


def test_tokens_are_charged_to_later_calls() -> None:
    rates = TokenBuckets({"x": ModelEntry("lab/x", tokens_per_minute=6000)})
    assert rates.wait("lab/x", 0) == 0.0
    assert rates.wait("lab/x", 300) == pytest.approx(2.0, abs=0.05)  # a second was held
    assert rates.wait("lab/unpaced", 10**9) == 0.0


def test_turnstile_reports_used_tokens_once() -> None:
    pairs: list[tuple[str, int]] = []

    async def ask(model: str, used: int) -> float:
        pairs.append((model, used))
        return 0.0

    turnstile = CallLimiter(ask)
    turnstile.used("lab/x", 5)
    turnstile.used("lab/x", 7)
    asyncio.run(turnstile.wait_turn("lab/x"))
    asyncio.run(turnstile.wait_turn("lab/x"))
    assert pairs == [("lab/x", 12), ("lab/x", 0)]


def test_process_has_one_turnstile_unless_a_cluster_provides_it() -> None:
    config = Config({"x": PACED, "free": ModelEntry("lab/free")})
    call_limiter = turnstile_of(config, "x")
    assert call_limiter is not None and call_limiter is turnstile_of(config, "lab/x")
    assert turnstile_of(config, "free") is None
    elsewhere = CallLimiter(lambda model, used: asyncio.sleep(0, 0.0))
    use_turnstile(elsewhere)
    try:
        assert turnstile_of(config, "x") is elsewhere
    finally:
        use_turnstile(None)


def test_processes_divide_connections_and_unmanaged_rates() -> None:
    config = Config({"x": PACED, "free": ModelEntry("lab/free")})
    item = divide_limits(config, 4, rates=True).models["x"]
    assert (item.at_once, item.calls_per_minute, item.tokens_per_minute) == (2, 150, 1500)
    kept = divide_limits(config, 16, rates=False).models["x"]
    assert (kept.at_once, kept.calls_per_minute, kept.tokens_per_minute) == (1, 600, 6000)
    assert divide_limits(config, 4, rates=True).models["free"] == ModelEntry("lab/free")
    assert divide_limits(config, 1, rates=True) is config
