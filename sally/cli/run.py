"""`sally run`: play a study, or continue one that was stopped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

import click

from sally import store
from sally.adapters.executors.lookup import NAMES, executor
from sally.api.studies import RunRequest, prepared_study
from sally.cli import INCOMPLETE
from sally.cli.common import STORE, parse_settings, say_bad
from sally.cli.score import reason_lines, say_summary
from sally.core.errors import RunFailed
from sally.core.log.events import Episode
from sally.core.terminal_text import echo, harmless
from sally.output.progress import progress_note
from sally.output.tables.console import (
    PATH,
    SEED,
    TOKENS,
    WholeNumber,
    json_option,
    print_json,
    print_text,
    progress,
)
from sally.runner import local
from sally.runner.budget import Budget, Meter, money_text
from sally.runner.config import Config, use_config
from sally.runner.models import models_of
from sally.runner.pilot import Count
from sally.runner.plan import Plan
from sally.runner.plan import plan as planned
from sally.runner.run import Progress, Watcher, play_missing
from sally.runner.shards import EpisodeCounts
from sally.store import Survey
from sally.studies import arms

ON_HELP = f"Executor: {NAMES}."
QUIET_SECONDS = 60.0  # between progress lines if standard error is not a terminal
FAILING_SECONDS = 10.0  # between progress lines while calls fail
SET_HELP = "Set a model setting (temperature=0) or a parameter of every instance (rounds=10)."


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that `run` and `plan` share; the command receives one `RunRequest`."""

    @wraps(command)
    def with_request(
        *,
        cells: tuple[str, ...],
        tables: tuple[str, ...],
        games: tuple[str, ...],
        strategies: tuple[str, ...],
        limit: int | None,
        seed: int | None,
        model: str | None,
        settings: tuple[str, ...],
        without: tuple[str, ...],
        unasked: bool,
        packs: tuple[str, ...],
        aware: bool,
        ask_again: int | None,
        against: str | None,
        **others: Any,
    ) -> None:
        part, values = (
            arms.StudySelection(cells, tables, games, strategies),
            parse_settings(settings),
        )
        request = RunRequest(
            limit,
            seed,
            model,
            values,
            without,
            part,
            unasked,
            packs,
            aware,
            against,
            ask_again or 0,
        )
        command(request=request, **others)

    for option in (
        click.option(
            "--against",
            metavar="PLAYER",
            help="Opponent in a game of another program (textarena:NAME) [random].",
        ),
        click.option(
            "--ask-again",
            type=WholeNumber(),
            metavar="N",
            help="Ask each question about a mind a second time, in one of N turns (1: in all).",
        ),
        click.option(
            "--aware", is_flag=True, help="Also play every cell with the awareness probe."
        ),
        click.option(
            "--packs",
            multiple=True,
            metavar="all|twin|aware|NAME",
            help="Also play the cells with models in these words packs; may be repeated.",
        ),
        click.option("--unasked", is_flag=True, help="Also play every cell without its probes."),
        click.option("--config", type=PATH, help="Configuration file [sally.toml]."),
        click.option(
            "--without",
            multiple=True,
            metavar="STRATEGY",
            help="Skip lineups with this strategy, such as lm for a model that cannot score.",
        ),
        click.option("--strategy", "strategies", multiple=True, help="Only this strategy."),
        click.option("--game", "games", multiple=True, help="Only this game."),
        click.option("--table", "tables", multiple=True, help="Only this table of the paper."),
        click.option("--cell", "cells", multiple=True, help="Only this cell; * matches anything."),
        click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=SET_HELP),
        click.option(
            "--model", help="Model for the open seats: embedded, openai/gpt-4o, an alias."
        ),
        click.option("--seed", type=SEED, help="Use this seed instead of the study's own."),
        click.option(
            "--limit", type=WholeNumber(), metavar="N", help="Play only N episodes of each cell."
        ),
        click.option("--out", type=STORE, help="Store: a folder or an address [out/STUDY]."),
    ):
        with_request = option(with_request)
    return click.argument("study")(with_request)


@click.command()
@model_options
@click.option("--on", default="local", show_default=True, metavar="WHERE", help=ON_HELP)
@click.option("--budget", type=float, help="Stop after spending this much money.")
@click.option("--budget-tokens", type=TOKENS, help="Stop after using this many tokens.")
@click.option(
    "--cache", is_flag=True, help="Reuse replies to identical earlier calls (Inspect's cache)."
)
@json_option
def run(
    study: str,
    request: RunRequest,
    out: Path | str | None,
    config: Path | None,
    on: str,
    budget: float | None,
    budget_tokens: int | None,
    cache: bool,
    as_json: bool,
) -> None:
    """Play the missing episodes of a study.

    STUDY is a name, a TOML file, or a game of TextArena (textarena:Nim-v0).
    """
    used = use_config(config)
    filled_study, chosen = prepared_study(study, request, used)
    meter = Meter(Budget(budget, budget_tokens), used)
    meter.refuse_unpriced(models_of(filled_study))
    place = out or Path("out") / filled_study.name
    job: dict[str, Any] = {"tables": True, "cache": cache}
    listed = local.orders(filled_study, request.limit)
    job |= {"planned": listed, "settings": chosen}
    if models_of(filled_study):
        finished: Collection[str] = ()
        stored: dict[str, Episode] = {}
        if store.manifest_of(place):
            finished = store.survey(place).finished
            stored = first_episodes(place)
        plan = planned(
            filled_study, request.limit, used, stored, finished, settings=chosen, planned=listed
        )
        echo(estimate_line(plan, request.limit, used), err=True)
    with progress_watcher(filled_study.name, used) as watch:
        play_missing(filled_study, place, request.limit, watch, meter, executor(on), **job)
    survey = store.survey(place)
    done = sum(listed.found_in(survey.finished) or ())
    void = sum(listed.found_in(set(survey.blank)) or ())
    missing_count, results = len(listed) - done, done - void
    if as_json:
        spent = {"calls": meter.calls, "tokens": meter.tokens, "money": meter.money}
        summary = {**counts(survey), "spent": spent, "not_run": missing_count, "void": void}
        print_json({"study": filled_study.name, "out": str(place), **summary})
        sys.exit(INCOMPLETE if missing_count or not results else 0)
    say_summary(place)
    echo(f"{survey.episodes} episodes in {place}")
    if meter.calls:
        echo(f"Used: {meter.usage_text}")
    print_text(*reason_lines(survey.reasons))
    if n := survey.broken_readers:
        echo(
            f"{n} {'reply' if n == 1 else 'replies'} crashed a reply reader and counted as "
            "unreadable; `sally show` prints them. Please report this as a bug."
        )
    if missing_count:
        reason = " because the budget was spent" if meter.spent else ""
        echo(
            f"{missing_count} episodes are missing{reason}; run the same command again to play "
            f"them."
        )
    say_bad(map(str, survey.bad))
    echo(f"Next: sally score {place}   sally replay {place}   sally show {place}")
    if not results and not missing_count:
        echo("No episode has a result.")
    if missing_count or not results:
        sys.exit(INCOMPLETE)


COMPARED = 500  # stored episodes that the estimate of a continued run uses, at most


def first_episodes(place: Path | str) -> dict[str, Episode]:
    """Return the first episodes of a store by id."""
    lines = islice(store.read(place, quarantine=False), COMPARED)
    return {episode.id: episode for episode in lines if isinstance(episode, Episode)}


def estimate_line(plan: Plan, limit: int | None, config: Config) -> str:
    """Return the size of a run in one line: its episodes, calls, tokens and cost."""
    missing = plan.wanted - plan.there
    if not missing:
        return f"Nothing to play: all {plan.there:,} episodes are stored."
    of_cells = "" if limit is None else f" ({limit} of each cell)"
    stored = f"; {plan.there:,} more are stored" if plan.there else ""
    costs = [bill.cost for bill in plan.bills]
    currency = config.prices.currency if config.prices else ""
    known_costs = [cost for cost in costs if cost is not None]
    cost = money_text(sum(known_costs), currency) if any(known_costs) else "at no cost"
    if len(known_costs) < len(costs):
        cost = "at unknown cost"
    count = sum((bill.count for bill in plan.bills), Count())
    lowest, highest = (
        round(sum(calls))
        for calls in ([bill.fewest for bill in plan.bills], [bill.most for bill in plan.bills])
    )
    span = f" ({lowest:,} to {highest:,}, depending on the moves)" if lowest < highest else ""
    return (
        f"To play: {missing:,} episodes{of_cells}{stored}; about {count.calls:,.0f} calls{span}, "
        f"{count.input:,.0f} input and {count.output:,.0f} output tokens, {cost}."
    )


@contextmanager
def progress_watcher(study: str, config: Config) -> Iterator[Watcher]:
    """Yield a function that shows the progress of a run: by a bar, or by a line per minute if
    standard error is not a terminal. If the run is stopped, print what it has used."""
    currency = config.prices.currency if config.prices else ""
    line_at, failed_calls = time.monotonic() - QUIET_SECONDS, 0
    used = EpisodeCounts()
    with _usage_if_stopped(lambda: used, config), progress() as bar:
        task = bar.add_task(f"{study}: preparing", total=None, note="")

        def watch(now: Progress) -> None:
            nonlocal line_at, failed_calls, used
            used = now.used
            note = harmless(progress_note(now, currency))
            name = f"{study}: playing"
            bar.update(task, description=name, total=now.wanted, completed=now.done, note=note)
            is_failing = now.used.failed_calls > failed_calls
            is_first_failure = is_failing and not failed_calls
            seconds = FAILING_SECONDS if is_failing else QUIET_SECONDS
            is_due = is_first_failure or time.monotonic() - line_at >= seconds
            if bar.disable and is_due and now.used.calls:
                line_at, failed_calls = time.monotonic(), now.used.failed_calls
                echo(f"{name}, {now.done} of {now.wanted} episodes, {note}", err=True)

        yield watch


@contextmanager
def _usage_if_stopped(usage: Callable[[], EpisodeCounts], config: Config) -> Iterator[None]:
    """Print the calls, tokens and cost of a run that ends by Ctrl-C or a failure."""
    try:
        yield
    except (KeyboardInterrupt, RunFailed):
        if (used := usage()).calls:
            meter = Meter(config=config)
            counted = (used.calls, used.failed_calls, used.tokens, used.money)
            meter.add(*counted, used.unpriced, used.guessed)
            echo(f"Used: {meter.usage_text}, with those of unfinished episodes.", err=True)
        raise


def counts(survey: Survey) -> dict[str, object]:
    """Return the counts of a store for JSON output."""
    return {
        "episodes": survey.episodes,
        "censored": len(survey.blank) + len(survey.cut),
        "reasons": survey.reasons,
        "bad_lines": [str(line) for line in survey.bad],
        "doubled": survey.doubled,
        "broken_readers": survey.broken_readers,
    }
