"""`sally compare`: whether one player is better than another, where, and how certain that is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from sally.analysis.compare.compare import (
    ALPHA,
    KNOWING,
    WORDS,
    By,
    Comparison,
    clusters_needed,
    word_of,
)
from sally.api.analyses import compare as compare_players
from sally.cli.common import STORE, open_frame, say_bad
from sally.cli.evaluation_drift import compare_evaluations
from sally.cli.group import WithViews
from sally.cli.pair_comparison import evaluation_place
from sally.cli.score import heading
from sally.core.errors import BadInput, join_names
from sally.core.terminal_text import echo
from sally.frames import Row
from sally.output.tables.console import (
    estimate_cell,
    fitting,
    fold_text,
    json_option,
    p_cell,
    print_json,
    print_table,
    print_text,
)
from sally.stats.intervals import FEW, Estimate, blank_intervals
from sally.stats.paired_tests import SMALL

PLACES: Mapping[int, tuple[str, ...]] = {  # number of names -> their options
    2: ("every",),
    3: ("metrics", "by", "margin"),
}


@click.command(cls=WithViews)
@click.argument("places", metavar="DIR A B | OLD NEW", nargs=-1, required=True)
@click.option("--metric", "metrics", multiple=True, help="Compare by this metric; may be repeated.")
@click.option(
    "--by",
    type=click.Choice(["game", "cell", "others"]),
    default="game",
    show_default=True,
    help="Compare separately by game, by cell of the study, or by the other players.",
)
@click.option(
    "--margin",
    type=float,
    help=f"Smallest difference that matters [{SMALL} standard deviations].",
)
@click.option("--all", "every", is_flag=True, help="OLD NEW: also print cells that did not move.")
@json_option
@click.pass_context
def compare(
    ctx: click.Context,
    places: tuple[str, ...],
    metrics: tuple[str, ...],
    by: By,
    margin: float | None,
    every: bool,
    as_json: bool,
) -> None:
    """Compare players, evaluations, conditions or Inspect logs.

    DIR A B compares A with B in the store DIR: which is better, where, and how certain that is.
    OLD NEW compares two evaluations (stores, bundles or names of models) pair by pair or problem by
    problem, on the suite's own scales.

    A and B are players as listed by `sally score DIR`, or models; models are pooled over the
    strategies they share. Differences are A minus B on the same instances, with the same random
    draws and the same other players.
    """
    if len(places) not in PLACES:
        raise BadInput(
            "sally compare takes a store and two players (DIR A B), two evaluations (OLD NEW), "
            f"or Inspect logs (A.eval B.eval), not {len(places)} names."
        )
    refuse_other_options(ctx, PLACES[len(places)])
    if len(places) == 2:
        old, new = map(evaluation_place, places)
        compare_evaluations(old, new, every, as_json)
        return
    folder = STORE.convert(places[0], None, None)
    first, second = places[1:]
    with open_frame(folder) as frame:
        comparisons = compare_players(frame, first, second, metrics=metrics, by=by, margin=margin)
    say_bad(comparisons.bad)
    if as_json:
        lines = {"by_strategy": plain(comparisons.by_strategy)} if comparisons.by_strategy else {}
        summary = {"first": first, "second": second, "conclusion": comparisons.conclusion}
        print_json({**summary, "comparisons": plain(list(comparisons)), **lines})
        return
    say(comparisons, first, second, margin)
    if comparisons.by_strategy:
        say_strategies(comparisons.by_strategy)
    echo("\n" + fold_text(comparisons.conclusion))


def refuse_other_options(ctx: click.Context, options: Collection[str]) -> None:
    """Raise BadInput if an option was typed that these places have no use for."""
    for option in ctx.command.params:
        typed = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if typed and option.name not in {"places", "as_json", *options}:
            raise BadInput(
                f"{option.opts[0]} belongs to another comparison; see `sally compare --help`."
            )


def plain(value: Any) -> Any:
    """Convert structs to JSON types; intervals of estimates become [low, high]."""
    if isinstance(value, Estimate):
        return {
            "value": value.value,
            "interval": value.interval,
            "n": value.n,
            "method": value.method,
        }
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return msgspec.to_builtins(value)


def say(comparisons: Sequence[Comparison], first: str, second: str, margin: float | None) -> None:
    """Print the comparisons as a table, and explain how each number is computed."""
    rows = [_row(c) for c in comparisons]
    has_several_seats = len({c.seat for c in comparisons}) > 1
    key_columns = {
        "game": True,
        "seat": has_several_seats,
        "where": any(c.where for c in comparisons),
        "metric": True,
    }
    keys = [name for name, is_shown in key_columns.items() if is_shown]
    hidden = (
        {*key_columns} if any(any(c.missing) for c in comparisons) else {*key_columns, "missing"}
    )
    for group in fitting(rows, keys, [name for name in rows[0] if name not in hidden]):
        print_table(rows, [*keys, *group])
    alone = [sum(c.alone[n] for c in comparisons) for n in (0, 1)]
    if any(alone):
        echo(f"left out because unpaired: {alone[0]} values of {first}, {alone[1]} of {second}")
    if "missing" not in hidden:
        print_text(f"missing: episodes of {first} and of {second} without a result")
    wide = f"{margin:g}" if margin else f"{SMALL} standard deviations of the players' scores"
    cluster_names = " or ".join(dict.fromkeys(c.clusters for c in comparisons))
    if comparisons[0].design == "unpaired":
        method = (
            f"UNPAIRED: {first} and {second} never met the same setting, so problems, random draws "
            f"and other players may differ between them. difference: {first} minus {second}, 95% "
            f"intervals by Welch's t over {cluster_names}; p: the same test,"
        )
        effect = "Cohen's d"
    else:
        method = (
            f"difference: {first} minus {second} over pairs, 95% intervals from a bootstrap over "
            f"{cluster_names}; p: sign flips,"
        )
        effect = "Cohen's dz"
    print_text(
        f"{method} adjusted by Holm over {len(comparisons)} comparisons (significance level "
        f"{ALPHA}); "
        f"effect: {effect}; equivalent: two one-sided tests within {wide}, adjusted likewise."
    )
    print_text(*blank_intervals((_about(c, first, second), c.difference) for c in comparisons))
    needed = FEW if comparisons[0].design == "unpaired" else clusters_needed(len(comparisons))
    if few := [c for c in comparisons if not c.decidable]:
        smallest = min(few, key=lambda c: c.units)
        print_text(
            f"too few clusters for any claim among {len(comparisons)} comparisons: "
            f"{smallest.units} {smallest.clusters}; {needed} are needed."
        )
    if any(c.company > 1 for c in comparisons):
        echo("several partners are pooled; `--by others` compares them separately.")
    if alike := [c.metric for c in comparisons if c.alike]:
        echo(
            f"all pairs differ by the same amount in {join_names(dict.fromkeys(alike))}: more "
            f"repeats "
            "of a deterministic comparison add no information."
        )


def _about(c: Comparison, first: str, second: str) -> str:
    """Return the subject of a difference: players, game, metric and the part of the data
    compared."""
    seat = f" as {c.seat}" if c.seat else ""
    part = f", {c.where}" if c.where else ""
    return f"{first} minus {second}{seat} in {c.game}: {heading(c.metric)}{part}"


def say_strategies(comparisons: Sequence[Comparison]) -> None:
    """Print the differences by strategy, adjusted for multiple testing as one family."""
    echo("\ndifference by strategy, adjusted as one family; verdicts only where one is supported:")
    rows: dict[str, Row] = {}
    for c in comparisons:
        difference_text = estimate_cell(c.difference.value, c.difference.interval, 2)
        claim = "" if c.verdict == "undecided" else f" {c.verdict}"
        row = rows.setdefault(c.where, {"strategy": c.where})
        row[f"{c.game} {heading(c.metric)}"] = difference_text + claim
    doing_first = sorted(comparisons, key=lambda c: (c.metric in KNOWING, c.metric, c.game))
    columns = list(dict.fromkeys(f"{c.game} {heading(c.metric)}" for c in doing_first))
    ordered = [rows[name] for name in sorted(rows)]
    for group in fitting(ordered, ["strategy"], columns):
        print_table(ordered, ["strategy", *group])


def _row(c: Comparison) -> Row:
    return {
        "game": c.game,
        "seat": c.seat,
        "where": c.where,
        "metric": heading(c.metric),
        "A": estimate_cell(c.first, None),
        "B": estimate_cell(c.second, None),
        "difference": estimate_cell(c.difference.value, c.difference.interval),
        "A is": WORDS[word_of(c)][1],
        "p": p_cell(c.p_holm),
        "effect": None if c.effect is None else f"{c.effect:.2f}",
        ("pairs" if c.design == "paired" else "unpaired, n"): c.pairs,
        "missing": f"{c.missing[0]}, {c.missing[1]}",
    }
