"""`sally run STUDY --model openai/gpt-4o`: play what is missing through one Inspect eval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from inspect_ai import eval as inspect_eval

from sally.adapters.inspect.tasks import Order, task_of, writing


class Limits(msgspec.Struct, frozen=True):
    """Where an episode, or the run, must stop."""

    tokens: int | None = None  # per episode
    seconds: int | None = None  # per episode
    cost: float | None = None  # per episode, in dollars, where prices are known
    episodes_at_once: int | None = None


def play_orders(
    name: str,
    wanted: Sequence[Order],
    out: Path,
    limits: Limits | None = None,
    cache: bool = False,
    display: str = "plain",
) -> str:
    """Play these episodes: records go to the store, the trace to its `inspect` folder."""
    bounds = limits or Limits()
    with writing(out):
        logs = inspect_eval(
            task_of(name, wanted, str(out), cache),
            model=None,  # every seat names its own
            log_dir=str(out / "inspect"),
            log_realtime=False,  # measured: halves the cost of a call
            display=display,  # type: ignore[arg-type]
            fail_on_error=False,
            token_limit=bounds.tokens,
            time_limit=bounds.seconds,
            cost_limit=bounds.cost,
            max_samples=bounds.episodes_at_once,
        )
    return str(logs[0].status)
