"""`sally run STUDY --model openai/gpt-4o`: play what is missing through Inspect.

An eval of Inspect keeps all its samples in memory, before and after they are played. A study of
more than `AN_EVAL` episodes is therefore played in several evals, one after another.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

from sally.adapters.inspect.display import unseen
from sally.adapters.inspect.reach import forget_refusals, hopeless, provider_of
from sally.adapters.inspect.session import Told, session
from sally.adapters.inspect.tasks import task_of
from sally.core.errors import RunFailed
from sally.players.language import LANGUAGE
from sally.runner.budget import Meter
from sally.runner.config import in_process
from sally.runner.orders import Order
from sally.store import Ours, Where

AN_EVAL = 2000  # episodes; at the end of each some wait for the slowest


def play_orders(
    name: str,
    wanted: Sequence[Order],
    out: Where,
    meter: Meter | None = None,
    cache: bool = False,
    display: str = "plain",
    label: str = "",
    told: Told | None = None,
    ours: Ours | None = None,
) -> None:
    """Play these episodes: records go to the store, the trace to its `inspect` folder.

    The records' file has a name that begins with the label; `told` hears of each that is stored.
    Once `ours` says no, nothing more is put to a store at an address.
    """
    meter = meter or Meter()
    config, limits = meter.config, meter.config.limits
    for model in models_in(wanted):  # whoever cannot be reached is named before anything is spent
        if not in_process(model):
            provider_of(model, config)
    forget_refusals()
    with unseen(display), rarer_collections(), session(out, meter, cache, label, told, ours):
        for begin in range(0, len(wanted), AN_EVAL):
            logs = inspect_eval(
                task_of(name, wanted[begin : begin + AN_EVAL], str(out)),
                model=None,  # every seat names its own
                log_dir=f"{out}/inspect",
                log_realtime=False,  # measured: halves the cost of a call
                display=display,  # type: ignore[arg-type]
                score_display=False,  # our own summary follows; interim means cost a tenth of a run
                fail_on_error=False,
                token_limit=limits.episode_tokens,
                max_samples=limits.episodes_at_once,
            )
            check(logs)


def check(logs: Sequence[EvalLog]) -> None:
    """Raise what ended an eval before its end."""
    if (why := hopeless()) is not None:
        raise RunFailed(f"{why} The run was stopped.")
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    if logs[0].status == "error":
        said = logs[0].error.message if logs[0].error else "Inspect does not say why"
        raise RunFailed(f"Inspect broke the run off: {said}")


@contextmanager
def rarer_collections() -> Iterator[None]:
    """Let Python look for lost cycles less often; among all of Inspect's objects it takes long."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # measured: a tenth of the time of a call
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def models_in(wanted: Sequence[Order]) -> set[str]:
    """The models that these episodes name."""
    return {
        who.params["model"]
        for _, _, setup in wanted
        for who in setup.lineup.values()
        if who.player == LANGUAGE
    }
