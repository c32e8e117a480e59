"""Play missing episodes through Inspect, for `sally run STUDY --model openai/gpt-4o`.

An Inspect eval keeps all samples in memory, so a study with more than `EVAL_SIZE` episodes is
played in several consecutive evals.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import rich
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

from sally.adapters.inspect.reach import provider_of
from sally.adapters.inspect.session import OnStored, session
from sally.adapters.inspect.tasks import task_of
from sally.core.errors import RunFailed
from sally.runner.budget import Meter
from sally.runner.config import in_process
from sally.runner.gates import forget_refusals, hopeless
from sally.runner.orders import Order, models_in
from sally.store import Ours, Where

EVAL_SIZE = 2000  # episodes per eval; each eval ends with its slowest episode


def play_orders(
    name: str,
    orders: Sequence[Order],
    out: Where,
    meter: Meter | None = None,
    cache: bool = False,
    display: str = "plain",
    label: str = "",
    on_stored: OnStored | None = None,
    ours: Ours | None = None,
) -> None:
    """Play these episodes; Inspect's logs go to the `inspect` folder of the store.

    Args:
        name: Name of the study.
        orders: The episodes.
        out: The store.
        meter: Budget and configuration.
        cache: Whether to use Inspect's cache of replies.
        display: Inspect's display; "none" shows nothing.
        label: Prefix of the store's file.
        on_stored: Called with each stored episode.
        ours: Function that returns whether this run still owns the shard; called before uploads.

    Raises:
        BadInput: A model cannot be reached.
        RunFailed: A provider refused every call, or Inspect stopped.
    """
    meter = meter or Meter()
    config, limits = meter.config, meter.config.limits
    for model in {name for _, _, setup in orders for name in models_in(setup)}:
        if not in_process(model):
            provider_of(model, config)  # fails before anything is spent
    forget_refusals()
    with (
        rarer_collections(),
        console_on_stderr(),
        session(out, meter, cache, label, on_stored, ours),
    ):
        for begin in range(0, len(orders), EVAL_SIZE):
            logs = inspect_eval(
                task_of(name, orders[begin : begin + EVAL_SIZE], str(out)),
                model=None,  # every seat names its own model
                log_dir=f"{out}/inspect",
                log_realtime=False,  # measured: halves the cost of a call
                # "none" still renders its tables unseen; "log" renders none (INFO records only).
                display="log" if display == "none" else display,  # type: ignore[arg-type]
                score_display=False,  # interim means cost a tenth of a run
                fail_on_error=False,
                token_limit=limits.episode_tokens,
                max_samples=limits.episodes_at_once,
            )
            check(logs)


def check(logs: Sequence[EvalLog]) -> None:
    """Raise RunFailed if an eval did not finish."""
    if (reason := hopeless()) is not None:
        raise RunFailed(f"{reason} The run was stopped.")
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    if logs[0].status == "error":
        message = logs[0].error.message if logs[0].error else "no reason given"
        raise RunFailed(f"Inspect stopped the run: {message}")


@contextmanager
def rarer_collections() -> Iterator[None]:
    """Run the garbage collector less often, because Inspect keeps many objects."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # measured: saves a tenth of the time of a call
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@contextmanager
def console_on_stderr() -> Iterator[None]:
    """Redirect Inspect's display and log output to stderr; stdout is for results.

    Inspect's log handler keeps Rich's global console, which writes to stdout by default.
    """
    console = rich.get_console()
    usual = console.__dict__
    rich.reconfigure(stderr=True)
    try:
        yield
    finally:
        console.__dict__ = usual
