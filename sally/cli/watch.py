"""`sally watch`: show the progress of a study on any machine that can read its store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from rich.live import Live
from rich.text import Text

from sally import store
from sally.cli.common import STORE
from sally.core.terminal_text import echo
from sally.output.progress import clock
from sally.output.tables.console import console, harmless, json_option, print_json
from sally.runner.budget import money_text
from sally.runner.progress import ProgressSnapshot, RunSnapshot, look

LOOK_SECONDS = 2.0


@click.command()
@click.argument("place", metavar="STORE", type=STORE)
@click.option("--once", is_flag=True, help="Print the progress once and exit.")
@json_option
def watch(place: Path | str, once: bool, as_json: bool) -> None:
    """Show the progress of the runs of a store until they finish."""
    if as_json:
        for now in _looks(place, once):
            print_json(msgspec.to_builtins(now))
        return
    out = console()
    if once or not out.is_terminal:
        for now in _looks(place, once):
            echo("\n".join(lines(now)))
    else:
        with Live(console=out, auto_refresh=False) as live:
            for now in _looks(place, once):
                live.update(Text(harmless("\n".join(lines(now)))), refresh=True)
    if now.censored:
        for reason, n in store.survey(place).reasons.items():
            echo(f"  {n} without a result ({reason})")


def _looks(place: Path | str, only_once: bool) -> Iterator[ProgressSnapshot]:
    while True:
        now = look(place)
        yield now
        if only_once or now.is_over:
            return
        time.sleep(LOOK_SECONDS)


def lines(now: ProgressSnapshot) -> list[str]:
    """Return the progress as a few short lines."""
    of = "" if now.wanted is None else f" of {now.wanted}"
    sentences = [
        f"{now.study or 'no study'}: {now.done}{of} episodes done, {now.in_flight} in flight, "
        f"{now.failed} failed, {now.censored} censored"
    ]
    if now.rate is not None and now.seconds_left is not None:
        sentences.append(f"{_rate(now.rate)}, about {clock(now.seconds_left)} left")
    if now.used.calls:
        sentences.append(_money(now))
    if not now.runs:
        sentences.append("No run is active here, and the number of wanted episodes is unknown.")
    return [*sentences, *(_run(run) for run in now.runs)]


def _money(now: ProgressSnapshot) -> str:
    failed = f" ({now.used.failed_calls:,} failed)" if now.used.failed_calls else ""
    used = f"used by the runs below: {now.used.calls:,} calls{failed}, {now.used.tokens:,} tokens"
    if now.used.unpriced:
        return f"{used}; the cost is unknown, because sally.toml has no price"
    if now.cost_left is None:
        return used
    spent, remaining = (
        money_text(amount, now.currency) for amount in (now.used.money, now.cost_left)
    )
    return f"{used}, {spent}; about {remaining} more expected"


def _run(run: RunSnapshot) -> str:
    word = f", last seen {clock(run.last_word)} ago" if run.state in ("running", "silent") else ""
    flying = f", {run.in_flight} in flight" if run.in_flight else ""
    return f"  {run.name} on {run.on}: {run.state.rstrip('.')}, {run.played} played{flying}{word}"


def _rate(rate: float) -> str:
    if rate >= 1:
        return f"{rate:,.1f} episodes a second"
    return f"{rate * 60:,.1f} a minute" if rate >= 1 / 60 else f"{rate * 3600:,.1f} an hour"
