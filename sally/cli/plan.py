"""`sally plan`: estimate what a study needs before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from sally import __version__, store
from sally.analysis.design import registration as registrations
from sally.analysis.design.power import POWERS, EpisodesNeeded, needs
from sally.api.studies import RunRequest, prepared_study
from sally.cli.common import STORE
from sally.cli.preregistration import freeze_people, people_study, write_frozen
from sally.cli.run import model_options
from sally.core.errors import BadInput, join_names
from sally.core.grouping import group_by
from sally.core.registry.study import Study
from sally.core.terminal_text import echo
from sally.frames import Row
from sally.frames.frame import as_frame
from sally.output.progress import clock
from sally.output.tables.console import (
    PATH,
    TOKENS,
    WholeNumber,
    fits,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.runner.budget import CHARACTERS, money_text
from sally.runner.config import Prices, use_config
from sally.runner.models import PRECEDENCE, SettingUsed
from sally.runner.pilot import REPLY, Count
from sally.runner.plan import ModelCost, Plan, PlanPart
from sally.runner.plan import plan as planned
from sally.runner.progress import Speed, speed_of
from sally.store import Contents, Where


@click.command()
@model_options
@click.option(
    "--reply-tokens",
    default=REPLY,
    type=TOKENS,
    show_default=True,
    help="Tokens assumed per reply.",
)
@click.option(
    "--detect",
    type=float,
    help="Also estimate the episodes needed to detect this difference between two players, in the "
    "unit of the metric (0.05 is 5 percentage points).",
)
@click.option(
    "--equivalent",
    type=float,
    help="Also estimate the episodes needed to find two equal players equivalent within this "
    "margin, in the unit of the metric.",
)
@click.option(
    "--family",
    type=WholeNumber(),
    help="Comparisons whose verdicts are adjusted together [all that `sally compare` makes].",
)
@click.option("--pilot", type=STORE, help="Store whose episodes give the variance of scores.")
@click.option("--sd", type=float, help="Standard deviation of differences, if there is no pilot.")
@click.option("--metric", default="", help="Metric of the difference [the game's own score].")
@click.option(
    "--freeze",
    type=PATH,
    help="Write a preregistration: FILE.json, and FILE.md as text for a preregistration site.",
)
@click.option(
    "--registration",
    type=click.Path(path_type=Path, dir_okay=False),
    help="For --freeze: TOML file with hypotheses, measures, exclusion, stopping, analysis.",
)
@click.option("--alpha", default=0.05, show_default=True, help="Probability of a false positive.")
@json_option
def plan(
    *,
    study: str,
    request: RunRequest,
    out: Path | str | None,
    config: Path | None,
    reply_tokens: int,
    detect: float | None,
    equivalent: float | None,
    family: int | None,
    pilot: Where | None,
    sd: float | None,
    metric: str,
    freeze: Path | None,
    registration: Path | None,
    alpha: float,
    as_json: bool,
) -> None:
    """Estimate the calls, tokens, cost and time that a study needs.

    Only missing episodes of STUDY are counted. With --detect, also estimate the episodes needed to
    detect a difference. --freeze preregisters STUDY, which may be a study with people (a file like
    the one that `sally people template` prints).
    """
    if (people := people_study(study)) is not None:
        freeze_people(people, freeze, registration, detect, sd, alpha)
        return
    if reply_tokens < 1:
        raise BadInput(f"--reply-tokens must be at least 1, not {reply_tokens}.")
    used = use_config(config)
    filled_study, chosen = prepared_study(study, request, used)
    folder = out or Path("out") / filled_study.name
    contents = store.load(folder) if store.place(folder).exists() else Contents()
    remaining_plan = planned(
        filled_study,
        request.limit,
        used,
        contents.episodes,
        contents.finished_ids,
        reply_tokens,
        chosen,
    )
    speed = speed_of(folder)
    needed: list[EpisodesNeeded] = []
    full_plan = remaining_plan
    if detect is not None and equivalent is not None:
        raise BadInput("Give --detect or --equivalent, not both.")
    size = equivalent if detect is None else detect
    if size is not None:
        full_plan = planned(filled_study, request.limit, used, {}, (), reply_tokens)
        tried = None if pilot is None else as_frame(pilot)
        needed = needs(filled_study, full_plan, used, size, metric=metric, sd=sd, pilot=tried,
                       limit=request.limit, alpha=alpha, equivalent=detect is None,
                       family=family)  # fmt: skip
    elif pilot is not None or sd is not None or family is not None:
        raise BadInput("--pilot, --sd and --family need --detect or --equivalent.")
    if freeze is not None:
        frozen = write_registration(filled_study, freeze, registration, needed)
        if not as_json:
            echo(f"{frozen.with_suffix('.md')} is the text for a preregistration site.")
    if as_json:
        date = str(used.prices.date) if used.prices else None
        power = {"needs": msgspec.to_builtins(needed)} if needed else {}
        pace = {"speed": msgspec.to_builtins(speed)} if speed else {}
        plain = {**msgspec.to_builtins(remaining_plan), **pace, **power}
        print_json({"study": filled_study.name, "prices": date, **plain})
        return
    say(remaining_plan, used.prices, speed)
    if needed:
        say_needs(needed, full_plan, used.prices, alpha, detect is None)


def write_registration(
    study: Study, out: Path, intent: Path | None, needed: Sequence[EpisodesNeeded]
) -> Path:
    """Write the preregistration of a study; an existing file is never overwritten."""
    power = [{k: v for k, v in _need_row(need).items() if v is not None} for need in needed]
    return write_frozen(
        out,
        intent,
        lambda intention, today: registrations.freeze(study, intention, power, __version__, today),
    )


def say(plan: Plan, prices: Prices | None, speed: Speed | None) -> None:
    """Print the plan as a table, and explain how its numbers were computed."""
    echo(f"{plan.wanted} episodes wanted, {plan.there} of them in the store")
    if not plan.parts:
        echo("The missing episodes need no model calls.")
        return
    rows = [_row(part) for part in plan.parts]
    is_short = fits(rows, list(rows[0]))
    if not is_short:
        by_strategy = group_by(plan.parts, lambda part: part.who)
        rows = [_strategy_row(strategy, parts) for strategy, parts in by_strategy.items()]
    print_table(rows, list(rows[0]))
    if not is_short:
        print_text(f"{len(plan.parts)} cells and strategies; --json prints each of them.")
    print_text(*settings_lines(plan.settings))
    for bill in plan.bills:
        for line in lines(bill, prices, timed=speed is None):
            echo(line)
    if speed is not None:
        calls = sum(bill.count.calls for bill in plan.bills)
        rate = speed.calls_a_second
        echo(
            f"time: about {clock(calls / rate)}, at the {rate:,.1f} calls a second of the last "
            f"run, which was bound by the {speed.bound}"
        )
    print_text(
        "Method: pilot episodes of each row were played with a model that only counts and moves at "
        f"random. Prompts are real; a token is taken as {CHARACTERS} characters and a reply as "
        f"{plan.reply_tokens} tokens."
    )
    if any(bill.fewest < bill.most for bill in plan.bills):
        print_text(
            "In brackets: the range where the number of calls depends on the moves, from episodes "
            "in which the first or the last option is always taken."
        )
    if any(bill.adjusted is not None for bill in plan.bills):
        print_text(
            "Calls and tokens are those of pilots times what the stored episodes took for each "
            "call and token of their own pilots, separately for each row with stored episodes."
        )
        return
    print_text(
        "Not included: questions repeated after an unreadable reply (up to two times each), "
        "messages that the rules refuse, calls repeated after a failure, tool calls, and episodes "
        "that end early by forfeits or at a model's context limit. `sally run --limit 1` plays an "
        "episode of each cell; plans then use what these took."
    )


def settings_lines(settings: Sequence[SettingUsed]) -> list[str]:
    """Return one line per model on its settings, and the rule by which they were chosen."""
    if not settings:
        return []
    rule = " over ".join(PRECEDENCE)
    models = dict.fromkeys(used.model for used in settings)
    return [
        *(
            f"{model} settings: {'; '.join(u.setting_text for u in settings if u.model == model)}"
            for model in models
        ),
        f"Precedence of settings: {rule}; what none of them sets is left to the provider.",
    ]


def say_needs(
    needed: Sequence[EpisodesNeeded],
    plan: Plan,
    prices: Prices | None,
    alpha: float,
    equivalent: bool,
) -> None:
    """Print the episodes that each cell needs and their cost."""
    rows = [_need_row(need) for need in needed]
    has_several = len({row["difference"] for row in rows}) > 1
    paid = bool(plan.parts)
    columns = [
        name
        for name in rows[0]
        if (has_several or name != "difference") and (paid or not name.startswith("cost"))
    ]
    aim = "to find equal players equivalent within" if equivalent else "to detect a difference"
    title = "" if has_several else f"{aim}{' ' if equivalent else ' of '}{rows[0]['difference']}"
    print_table(rows, columns, title=title)
    money = f"in {prices.currency}, prices of {prices.date}" if prices else "no price is known"
    family = needed[0].family
    shared = f", shared by {family} comparisons as by Holm's method" if family > 1 else ""
    tests = "two one-sided t tests" if equivalent else "paired t test, two-sided"
    claim = "find two equal players equivalent" if equivalent else "detect such a difference"
    print_text(
        f"{' and '.join(f'{p:.0%}' for p in POWERS)}: episodes per player to {claim} with that "
        f"power, in the same settings ({tests}, alpha {alpha:g}{shared}). spread: standard "
        "deviation of differences; clustered: design effect of repeated instances and of "
        "several other players." + (f" cost: the whole cell at that size, {money}." if paid else "")
    )
    for reason in dict.fromkeys(need.why for need in needed if need.why):
        cells = [need.cell for need in needed if need.why == reason]
        print_text(f"blank ({_cells(cells)}): {reason}")
    if few := [need.cell for need in needed if 0 < need.pairs < FEW]:
        print_text(f"rough estimate, from fewer than {FEW} pilot pairs: {_cells(few)}")
    if any(need.elsewhere for need in needed):
        echo("elsewhere: the pilot lacks the cell; other cells of the same game are used.")


FEW = 20  # pilot differences below which the spread is poorly estimated


def _need_row(need: EpisodesNeeded) -> Row:
    sizes: tuple[int | None, ...] = need.episodes or (None,) * len(POWERS)
    costs = need.cost or (None,) * len(POWERS)
    row: Row = {
        "cell": need.cell,
        "difference": f"{need.detect:g} {need.metric} ({need.unit})",
        "spread": need.sd,
        "from": _source(need),
        "clustered": f"x{need.effect:.2f}" if need.sd else None,
        "has": need.now,
    }
    for power, size, cost in zip(POWERS, sizes, costs, strict=True):
        row[f"{power:.0%}"] = size
        row[f"cost {power:.0%}"] = None if cost is None else f"{cost:,.2f}"
    return row


def _source(need: EpisodesNeeded) -> str | None:
    if not need.pairs:
        return "stated" if need.sd else None
    return f"{need.pairs} pairs{' elsewhere' if need.elsewhere else ''}"


def _cells(names: Sequence[str]) -> str:
    return join_names(names) if len(names) <= 4 else f"{len(names)} cells"


def _row(part: PlanPart) -> Row:
    per_episode, n = part.each, part.episodes
    return {
        "cell": part.cell,
        "strategy": part.who,
        "episodes": f"{n:,}",
        "calls each": calls_text(per_episode.calls, part.fewest, part.most),
        **_totals(per_episode.times(n)),
    }


def _strategy_row(strategy: str, parts: Sequence[PlanPart]) -> Row:
    """Return the row of all cells with the same models and strategies."""
    total = sum((part.each.times(part.episodes) for part in parts), Count())
    cells, episodes = len({part.cell for part in parts}), sum(part.episodes for part in parts)
    return {"strategy": strategy, "cells": cells, "episodes": f"{episodes:,}", **_totals(total)}


def _totals(count: Count) -> Row:
    counts = {"calls": count.calls, "input": count.input, "output": count.output}
    return {name: f"{number:,.0f}" for name, number in counts.items()}


def calls_text(calls: float, lowest: float, highest: float) -> str:
    """Return a number of calls, with its range if it depends on the moves."""
    text, low, high = (f"{number:,.0f}" for number in (calls, lowest, highest))
    return text if low == high else f"{text} ({low} to {high})"


def lines(bill: ModelCost, prices: Prices | None, timed: bool = True) -> list[str]:
    """Return lines on one model's totals, cost and time, naming what is unknown."""
    count = bill.count
    sentences = [
        f"{bill.model}: {calls_text(count.calls, bill.fewest, bill.most)} calls, "
        f"{count.input:,.0f} input tokens "
        f"({count.shared:,.0f} of them repeat an earlier prompt), {count.output:,.0f} output tokens"
    ]
    if bill.adjusted is not None:
        sentences.append(
            f"  adjusted to the stored episodes: {bill.adjusted:.2f} calls for each of the pilots'"
        )
    if bill.cost is None:
        sentences.append(f"  cost: unknown, because sally.toml has no price for {bill.model}")
    elif prices is None or not bill.cost:
        sentences.append(f"  cost: {money_text(bill.cost, '')}")
    else:
        cached, currency = bill.cost_cached, prices.currency
        cached_text = (
            ""
            if cached is None
            else f", {money_text(cached, currency)} if every repeated prompt is cached"
        )
        cost_text = money_text(bill.cost, currency)
        sentences.append(f"  cost: {cost_text}{cached_text} (prices of {prices.date})")
    if not timed:  # the speed of a whole run is known
        return sentences
    if bill.seconds is None:
        sentences.append(
            "  time: unknown, because the store has no timed call; run with --limit 1 first"
        )
    else:
        sentences.append(
            f"  time: about {clock(bill.seconds)}, at the speed of its calls in this store"
        )
    return sentences
