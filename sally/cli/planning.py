"""`sally plan`: what a study would take, before anything is spent."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally import store
from sally.cli.common import json_option, print_json, print_table
from sally.cli.running import asked_study, model_options
from sally.core.errors import BadInput
from sally.reports.rows import Row
from sally.runner.config import Prices, use_config
from sally.runner.plan import CHARACTERS, REPLY, Bill, Part, Plan
from sally.runner.plan import plan as planned
from sally.store import Contents


@click.command()
@model_options
@click.option("--reply-tokens", default=REPLY, show_default=True, help="Tokens taken for a reply.")
@json_option
def plan(
    study: str,
    out: Path | str | None,
    limit: int | None,
    seed: int | None,
    model: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    config: Path | None,
    reply_tokens: int,
    as_json: bool,
) -> None:
    """Calls, tokens, cost and time of what is missing of STUDY."""
    if reply_tokens < 1:
        raise BadInput(f"--reply-tokens must be at least 1, not {reply_tokens}.")
    used = use_config(config)
    wanted = asked_study(study, limit, seed, model, settings, used, without)
    folder = out or Path("out") / wanted.name
    held = store.load(folder) if store.place(folder).exists() else Contents()
    found = planned(wanted, limit, used, held.episodes, held.finished, reply_tokens)
    if as_json:
        date = str(used.prices.date) if used.prices else None
        print_json({"study": wanted.name, "prices": date, **msgspec.to_builtins(found)})
        return
    say(found, used.prices)


def say(plan: Plan, prices: Prices | None) -> None:
    """The plan as a table, with how each number came about."""
    click.echo(f"{plan.wanted} episodes wanted, {plan.there} of them in the store")
    if not plan.parts:
        click.echo("No call of a model is needed for what is missing.")
        return
    print_table([_row(part) for part in plan.parts], list(_row(plan.parts[0])))
    for bill in plan.bills:
        for line in lines(bill, prices):
            click.echo(line)
    click.echo(
        "How: pilot episodes of each row were played with a model that only counts; pages are\n"
        f"real, a token is taken as {CHARACTERS} characters and a reply as {plan.reply_tokens} "
        "tokens; answers that must be\nasked again, calls tried again and tools come on top."
    )


def _row(part: Part) -> Row:
    each, n = part.each, part.episodes
    return {
        "cell": part.cell,
        "strategy": part.who,
        "episodes": n,
        "calls each": round(each.calls),
        "input each": round(each.input),
        "calls": round(each.calls * n),
        "input": round(each.input * n),
        "output": round(each.output * n),
    }


def lines(bill: Bill, prices: Prices | None) -> list[str]:
    """One model's totals, cost and time; what is unknown is said to be."""
    count = bill.count
    said = [
        f"{bill.model}: {count.calls:,.0f} calls, {count.input:,.0f} input tokens "
        f"({count.shared:,.0f} of them repeat an earlier page), {count.output:,.0f} output tokens"
    ]
    if bill.cost is None:
        said.append(f"  cost: unknown, because no price of {bill.model} stands in sally.toml")
    elif prices is None or not bill.cost:
        said.append(f"  cost: {bill.cost:,.2f}")
    else:
        cached = bill.cost_cached
        less = "" if cached is None else f", {cached:,.2f} if every repeated page is cached"
        said.append(f"  cost: {bill.cost:,.2f} {prices.currency}{less} (prices of {prices.date})")
    if bill.seconds is None:
        said.append("  time: unknown, because no call of it was timed here; run --limit 1 first")
    else:
        said.append(f"  time: about {_clock(bill.seconds)}, as its calls in this store took")
    return said


def _clock(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
