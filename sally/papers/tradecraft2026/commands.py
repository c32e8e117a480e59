"""`sally paper tradecraft2026`: check rulesets, list problems, and judge stored games."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from sally.analysis.episodes.stores import episodes_in
from sally.core.errors import BadInput, unknown
from sally.core.event_loop import run_coroutine
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.frames.replays import replay_for_measures
from sally.games.tradecraft import ruleset_checks
from sally.games.tradecraft.amounts import BadAmount
from sally.games.tradecraft.assessor import agreement, ratings_file, summary
from sally.games.tradecraft.assessor import assess as assessed
from sally.games.tradecraft.instances import Instance, all_instances, instance_set, set_names
from sally.games.tradecraft.problems import trades_of
from sally.games.tradecraft.ruleset_formats import load
from sally.games.tradecraft.rulesets import SHIPPED, BadRuleset, shipped_ruleset
from sally.games.tradecraft.speech import goods_said
from sally.output.tables.console import (
    PATH,
    TOKENS,
    WholeNumber,
    by_kind,
    json_option,
    print_json,
    print_rows,
    print_table,
)
from sally.runner.budget import Budget, BudgetSpent, Meter, Metered
from sally.runner.config import use_config


@click.group("tradecraft2026")
def COMMANDS() -> None:
    """TradeCraft: check rulesets, list problems, and have games judged."""


@COMMANDS.group()
def rules() -> None:
    """Check rulesets: recipes, tags and fuel."""


@rules.command()
@click.argument("path")
@json_option
def check(path: str, as_json: bool) -> None:
    """Look for recipes that create goods from nothing, unreachable items and empty tags.

    PATH is a ruleset file (.toml), a list of recipes with two inputs (.txt, .json), a vanilla
    data-pack folder, or the name of a shipped ruleset. The exit code is 1 if something was found.
    """
    try:
        ruleset = shipped_ruleset(path) if path in SHIPPED else load(path)
    except (BadRuleset, BadAmount, OSError) as error:
        raise BadInput(str(error)) from None
    problems = ruleset_checks.check(ruleset)
    if as_json:
        facts = {"name": ruleset.name, "recipes": len(ruleset.recipes), "items": len(ruleset.items)}
        circles = ruleset_checks.circles(ruleset)
        print_json(
            {**facts, "problems": problems, "notes": list(ruleset.notes), "circles": circles}
        )
    else:
        echo(f"{ruleset.name}: {len(ruleset.recipes)} recipes, {len(ruleset.items)} items")
        turns = (f"no problem: {line}" for line in ruleset_checks.circles(ruleset))
        notes = (f"left out: {note.replace(': left out, ', ': ')}" for note in ruleset.notes)
        for line in (*by_kind(notes), *turns, *problems):
            echo(f"- {line}")
        echo("Nothing is wrong." if not problems else f"Problems found: {len(problems)}.")
    if problems:
        sys.exit(1)


@COMMANDS.command()
@click.argument("name", required=False)
@json_option
def problems(name: str | None, as_json: bool) -> None:
    """List the certified problems of the set NAME or, without NAME, the available sets.

    Columns give, for each player, the length of the shortest chain of crafts, the kinds and units
    of goods that the plan needs from others, and the fewest trades that provide them.
    """
    if name is None:
        rows = [
            {"set": n, "ruleset": s.ruleset, "players": s.players, "problems": len(s.instances)}
            for n, s in all_instances()
        ]
    elif name in set_names():
        rows = [_problem(instance) for instance in instance_set(name).instances]
    else:
        raise unknown("set of TradeCraft problems", name, set_names())
    if as_json:
        print_json(rows)
        return
    columns_shown = [column for column in rows[0] if column != "targets"]  # too long for a line
    print_table(rows, columns_shown, title=name or "sets of problems")


def _problem(instance: Instance) -> dict[str, Any]:
    """Return a problem as one row: its targets, and the crafts, goods and trades that each player
    needs to reach its target."""
    seats = instance.certificate.seats
    return {
        "problem": instance.id,
        "grade": instance.grade,
        "targets": " / ".join(goods_said(target) for target in instance.targets),
        "crafts": "/".join(str(seat.chain) for seat in seats),
        "kinds": "/".join(str(seat.kinds) for seat in seats),
        "units": "/".join(str(seat.units) for seat in seats),
        "trades": "/".join(map(str, trades_of(instance))),
        "all can win": "yes" if instance.certificate.joint else "no",
    }


@COMMANDS.command()
@click.argument("where")
@click.option(
    "--model", required=True, help="The model that judges: embedded, openai/gpt-4o, an alias."
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="File to which ratings are appended.",
)
@click.option("--limit", type=WholeNumber(), help="At most this many games.")
@click.option("--config", type=PATH, help="Configuration file [sally.toml].")
@click.option("--budget", type=float, help="Stop after spending this much money.")
@click.option("--budget-tokens", type=TOKENS, help="Stop after using this many tokens.")
def assess(
    where: str,
    model: str,
    out: Path,
    limit: int | None,
    config: Path | None,
    budget: float | None,
    budget_tokens: int | None,
) -> None:
    """Have a model judge every player in every turn of the games in the store WHERE.

    OUT gets one line per judgement; games already in it are skipped. A game that could not be
    judged, because a reply was unreadable or a call failed, is named. OUT.calls gets one line per
    game with its calls.
    """
    used = use_config(config)
    model = used.model_name(model)
    meter = Meter(Budget(budget, budget_tokens), used)
    meter.refuse_unpriced([model])
    judge = Metered(registry.model(model), meter, model)
    done = {rating.episode for rating in ratings_file(out)} if out.exists() else set()
    games = episodes_in(where, "tradecraft")
    if not games:
        raise BadInput(f"{where} contains no game of tradecraft.")
    waiting = [episode for episode in games if episode.id not in done][:limit]
    judged = 0
    with out.open("ab") as file, out.with_name(f"{out.name}.calls").open("ab") as log:
        for episode in waiting:
            try:
                assessment = run_coroutine(assessed(replay_for_measures(episode), judge))
            except BudgetSpent as error:
                echo(f"stopped at {episode.id}: the budget is {error.detail}")
                break
            for rating in assessment.ratings:
                file.write(msgspec.json.encode(rating) + b"\n")
            calls = {"episode": episode.id, "model": model, "calls": assessment.calls}
            log.write(msgspec.json.encode(calls) + b"\n")
            if assessment.problem:
                echo(f"not judged: {episode.id}: {assessment.problem}")
            else:
                judged += 1
    echo(f"judged: {judged} of {len(games)}; judged earlier: {len(done)}")
    echo(f"used: {meter.usage_text}")


@COMMANDS.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("other", required=False, type=click.Path(path_type=Path))
@json_option
def ratings(file: Path, other: Path | None, as_json: bool) -> None:
    """Print a summary of the judgements in FILE: the share of turns with each order of theory of
    mind, and the mean grade for each dimension. With OTHER, print the agreement between the two
    files."""
    own_ratings = ratings_file(file)
    results = summary(own_ratings) if other is None else agreement(own_ratings, ratings_file(other))
    rows = [msgspec.to_builtins(result) for result in results]
    print_rows(rows, as_json, file.name if other is None else f"{file.name} and {other.name}")
