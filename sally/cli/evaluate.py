"""`sally evaluate`: evaluate a player on certified pairs, or on whole episodes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from sally.analysis.evaluation import CONTRASTS, Evaluation
from sally.api.board import file_name
from sally.api.evaluation import SIZES, SUITES, Suite, check_games, evaluate
from sally.api.pair_evaluation import PairRows, plan_pairs
from sally.api.studies import RunRequest, prepared_study
from sally.cli import INCOMPLETE
from sally.cli.common import STORE, parse_settings
from sally.cli.group import WithViews
from sally.cli.pair_screen import print_evaluation, print_plan
from sally.cli.run import ON_HELP, progress_watcher
from sally.core.errors import BadInput
from sally.core.prompt.model import read_settings
from sally.core.terminal_text import echo
from sally.output.page.evaluation import (
    said_calls,
    said_recorded,
    said_reliability,
)
from sally.output.tables.console import (
    PATH,
    TOKENS,
    FiniteNumber,
    estimate_cell,
    fitting,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.runner.budget import money_text
from sally.runner.config import Config, use_config
from sally.runner.models import ANY_MODEL
from sally.runner.plan import plan as planned
from sally.stats.intervals import blank_intervals
from sally.store import Where
from sally.studies import sally_1, sally_2
from sally.studies.sally_1 import Size


@click.command("evaluate", cls=WithViews)
@click.option("--model", help="Model to evaluate: embedded, openai/gpt-4o, hf:PATH, an alias.")
@click.option("--bot", metavar="NAME", help=f"Bot to evaluate: {', '.join(sally_2.BOTS)}.")
@click.option("--people", type=STORE, help="Store with the pairs that people played.")
@click.option("--suite", type=click.Choice(SUITES), default="sally_2", show_default=True,
              help="Certified pairs (sally_2) or whole episodes (sally_1).")  # fmt: skip
@click.option("--size", type=click.Choice(SIZES), default="S", show_default=True, help="Size.")
@click.option("--out", type=PATH, help="Store [out/SUITE-NAME].")
@click.option("--until", type=FiniteNumber(0.005, 1), metavar="WIDTH",
              help="Play larger sizes until the means are known to within this.")  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="Print every table.")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Print the calls of each size; play nothing."
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE",
              help="Set a model setting, such as max_tokens=2000.")  # fmt: skip
@click.option("--game", "games", multiple=True, help="Only this game; may be repeated.")
@click.option("--config", type=PATH, help="Configuration file [sally.toml].")
@click.option("--on", default="local", show_default=True, metavar="WHERE", help=ON_HELP)
@click.option("--budget", type=float, help="Stop after spending this much money.")
@click.option("--budget-tokens", type=TOKENS, help="Stop after using this many tokens.")
@click.option("--no-play", is_flag=True, help="Evaluate the episodes in the store; play nothing.")
@json_option
def evaluate_(
    *,
    model: str | None,
    bot: str | None,
    people: Where | None,
    suite: Suite,
    size: Size,
    out: Path | None,
    until: float | None,
    show_all: bool,
    only_plan: bool,
    settings: tuple[str, ...],
    games: tuple[str, ...],
    config: Path | None,
    on: str,
    budget: float | None,
    budget_tokens: int | None,
    no_play: bool,
    as_json: bool,
) -> None:
    """Evaluate a model: whether it predicts others, and acts on it.

    Sally-2 consists of certified pairs of positions that look alike and differ in what the other
    will do.
    Sally-1 (--suite sally_1) plays whole episodes instead. The same command continues a stopped
    run; a larger size keeps the episodes of a smaller one.
    """
    if only_plan:
        used = use_config(config)
        currency = used.prices.currency if used.prices else ""
        if suite == "sally_1":
            say_plan(model or ANY_MODEL, games, used, as_json)
            return
        rows = plan_pairs(model or ANY_MODEL, games, used)
        print_json(rows) if as_json else print_plan(rows, currency)
        return
    if sum(player is not None for player in (model, bot, people)) != 1:
        raise BadInput("Name the player: --model MODEL, --bot BOT, or --people STORE.")
    model_settings = parse_settings(settings)
    read_settings(model_settings, "--set")  # raises if one is unknown
    place = out or Path("out") / f"{suite}-{file_name(model or bot or 'people')}"
    with progress_watcher(suite, use_config(config)) as watch:
        result = evaluate(
            model,
            bot=bot,
            people=people,
            suite=suite,
            size=size,
            games=games,
            until=until,
            out=place,
            play=not no_play,
            budget=budget,
            budget_tokens=budget_tokens,
            on=on,
            config=config,
            watch=watch,
            **model_settings,
        )
    page = place.parent / f"{place.name}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    result.page(page)
    if as_json:
        plain = msgspec.to_builtins(result.evaluation, str_keys=True)
        print_json({"page": str(page), "out": str(place), **plain})
    elif isinstance(result, PairRows):
        print_evaluation(result.evaluation, show_all)
    else:
        say(result.evaluation, show_all)
    if not as_json:
        episodes = people or place
        echo(f"Page: {page}   Episodes: {episodes}   Share: sally pack {episodes}")
    if not result.is_readable:
        if people is None:
            echo(f"`sally show {place}` prints replies that could not be read.", err=True)
        sys.exit(INCOMPLETE)
    if not result.is_complete:
        without = " without --no-play" if no_play else ""
        echo(f"Unfinished: the same command{without} continues.", err=True)
        sys.exit(INCOMPLETE)


# --- output ---------------------------------------------------------------------------------------


SHORT = ("knowing", "acting on it", "doing", "rule")  # columns of one screen


def say(evaluation: Evaluation, show_all: bool) -> None:
    """Print an evaluation on one screen; with `show_all` also every other table of its page."""
    print_text(*evaluation.sentences)
    lines = [
        {
            "game": game.game,
            "knowing": _cell(game.knowing),
            "beyond learning rules": _cell(game.knowing_beyond_learning),
            "acting on it": _cell(game.acting),
            "doing": _cell(game.doing),
            "rule": None if game.mindless is None else f"{game.mindless:.2f}",
            **{line.player: line.doing for line in game.lines},
            "label bias": _cell(game.pooled_label_bias),
            "position bias": _cell(game.pooled_position_bias),
            "error survival": _cell(game.error_survival),
            "forfeits": f"{game.forfeits}/{game.forfeits + game.moves}",
            "predictions judged": f"{game.predictions}/{game.predictions_asked}",
            "reliability": said_reliability(game),
        }
        for game in evaluation.games
    ]
    names = list(dict.fromkeys(name for line in lines for name in line if name != "game"))
    names = names if show_all else list(SHORT)
    rows = [{name: line.get(name) for name in ("game", *names)} for line in lines]
    for n, group in enumerate(fitting(rows, ["game"], names)):
        title = "" if n else f"{evaluation.player}, {evaluation.suite}"
        print_table(rows, ["game", *group], title=title)
    if show_all:
        measures = {
            "knowing": "knowing",
            "knowing_beyond_learning": "beyond learning rules",
            "acting": "acting on it",
            "doing": "doing",
        }
        print_text(
            *blank_intervals(
                (f"{name} in {game.game}", getattr(game, field))
                for game in evaluation.games
                for field, name in measures.items()
            )
        )
    for arm, (_, question) in CONTRASTS.items():
        verdicts = [control.verdict for control in evaluation.controls if control.arm == arm]
        if verdicts:
            counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
            print_text(f"{arm}: {question} {counts}")
    if evaluation.depths and show_all:
        by_game: dict[str, list[str]] = {}
        for point in evaluation.depths:
            point_text = f"{point.depth}: {point.right.value:.2f} (chance {point.chance:.2f})"
            by_game.setdefault(point.game, []).append(point_text)
        for game, texts in by_game.items():
            print_text(f"right by reasoner depth, {game}: {', '.join(texts)}")
    for record in evaluation.recorded if show_all else ():
        print_text(f"recorded play, not the suite, {record.game}: {said_recorded(record)}")
    forfeits = sum(game.forfeits for game in evaluation.games)
    if forfeits:
        moves = forfeits + sum(game.moves for game in evaluation.games)
        print_text(f"forfeited: {forfeits:,} of {moves:,} moves")
    print_text(said_calls(evaluation.bill))
    legend_of_all = (
        "; beyond learning rules: 0 for the best simple rule; bots: their doing on the same "
        "problems; reliability: retest of knowing, acting and doing on bots of graded skill"
    )
    print_text(
        "knowing, acting, doing: 0 for a guess or a random player, 1 for all right or the optimum; "
        "rule: doing of the best mindless player on the same problems; ±, []: 95% intervals over "
        f"problems{legend_of_all if show_all else ''}."
    )


def _cell(estimate: Any) -> str:
    return estimate_cell(estimate.value, estimate.interval, 2)


def say_plan(model: str, games: Sequence[str], config: Config, as_json: bool) -> None:
    """Print, for each suite size, the calls, the tokens and the smallest detectable differences."""
    chosen = games or sally_1.GAMES
    check_games(chosen)
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        open_suite = sally_1.suite(size, chosen)
        filled, _ = prepared_study(open_suite, RunRequest(model=model), config)
        plan = planned(filled, config=config)
        (bill,) = plan.bills
        knowing, doing = (
            {game: sally_1.smallest_differences(size, measure)[game] for game in chosen}
            for measure in ("knowing", "doing")
        )
        rows.append(
            {
                "size": size,
                "episodes": plan.wanted,
                "calls": round(bill.count.calls),
                "input tokens": round(bill.count.input),
                "output tokens": round(bill.count.output),
                "cost": bill.cost,
                "knowing": knowing,
                "doing": doing,
            }
        )
    if as_json:
        print_json(rows)
        return
    currency = config.prices.currency if config.prices else ""
    lines = [
        {**row, "cost": None if row["cost"] is None else money_text(row["cost"], currency),
         **{m: _span(row[m]) for m in ("knowing", "doing")},
         **{k: f"{row[k]:,}" for k in ("episodes", "calls", "input tokens", "output tokens")}}
        for row in rows
    ]  # fmt: skip
    print_table(lines, list(lines[0]), title=f"Sally-1, version {sally_1.VERSION}")
    print_text(sally_1.DETECTS)


def _span(differences: Mapping[str, float | None]) -> str:
    values = sorted(value for value in differences.values() if value is not None)
    texts = dict.fromkeys(f"{value:.2f}" for value in (*values[:1], *values[-1:]))
    return " to ".join(texts) or "-"
