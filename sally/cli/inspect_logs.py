"""`sally compare A.eval B.eval`: compare Inspect logs, and plan the size of further logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sally.cli.compare import plain
from sally.core.errors import needs_extra
from sally.core.terminal_text import echo
from sally.frames import Row
from sally.output.tables.console import (
    WholeNumber,
    estimate_cell,
    json_option,
    p_cell,
    print_json,
    print_table,
    print_text,
)
from sally.stats.intervals import blank_intervals
from sally.stats.paired_tests import SMALL

if TYPE_CHECKING:
    from sally.adapters.inspect.compare_logs import LogComparison, LogPower

LOG = click.Path(path_type=Path, dir_okay=False)
cluster_option = click.option(
    "--cluster", metavar="COLUMN", help="Metadata column of the clusters [samples: their epochs]."
)
scorer_option = click.option(
    "--scorer", "scorers", multiple=True, help="Only this scorer, or SCORER.KEY; may be repeated."
)


@click.command("compare")
@click.argument("logs", metavar="A.eval B.eval ...", nargs=-1, required=True, type=LOG)
@scorer_option
@cluster_option
@click.option(
    "--margin",
    type=float,
    help=f"Smallest difference that matters [{SMALL} standard deviations of the scores].",
)
@click.option("--ids-only", is_flag=True, help="Pair samples by id even if their inputs differ.")
@click.option("--out", "page", type=LOG, help="Also write one self-contained page.")
@json_option
def compare_logs_(
    logs: tuple[Path, ...],
    scorers: tuple[str, ...],
    cluster: str | None,
    margin: float | None,
    ids_only: bool,
    page: Path | None,
    as_json: bool,
) -> None:
    """Compare Inspect logs of the same samples.

    Samples are paired by id and epoch. Samples that a log planned but did not finish get the lowest
    score; the difference over complete pairs is shown as well.
    """
    with needs_extra("inspect"):
        from sally.adapters.inspect.compare_logs import compare_logs

    comparisons = compare_logs(
        logs, scorers=scorers, cluster=cluster, margin=margin, ids_only=ids_only
    )
    if page is not None:
        from sally.output.page.log_comparison import write_comparison

        write_comparison([plain(c) for c in comparisons], notes(comparisons, margin), page)
    if as_json:
        print_json({"comparisons": plain(comparisons)})
        return
    names = list(dict.fromkeys(name for c in comparisons for name in (c.first, c.second)))
    letters = {name: chr(ord("A") + n) if n < 26 else f"log {n}" for n, name in enumerate(names)}
    for name, letter in letters.items():
        echo(f"{letter}: {name}")
    rows = [_row(c, letters) for c in comparisons]
    print_table(rows, [name for name in rows[0] if name != "logs" or len(names) > 2])
    print_text(*notes(comparisons, margin))
    if page is not None:
        echo(f"Page: {page}")


@click.command("compare --power")
@click.argument("logs", metavar="A.eval [B.eval]", nargs=-1, required=True, type=LOG)
@click.option("--detect", type=float, help="The difference that the next logs should find.")
@click.option(
    "--comparisons",
    default=1,
    type=WholeNumber(),
    show_default=True,
    help="Comparisons that are adjusted together.",
)
@scorer_option
@cluster_option
@json_option
def power(
    logs: tuple[Path, ...],
    detect: float | None,
    comparisons: int,
    scorers: tuple[str, ...],
    cluster: str | None,
    as_json: bool,
) -> None:
    """Show the smallest difference that Inspect logs like these can detect.

    With --detect, also show the samples that the next logs need. Two logs of the same samples give
    the deviation of paired differences; one log gives an upper bound, as if two models never found
    the same samples hard.
    """
    with needs_extra("inspect"):
        from sally.adapters.inspect.compare_logs import power_of_logs

    powers = power_of_logs(
        logs, detect=detect, scorers=scorers, cluster=cluster, comparisons=comparisons
    )
    if as_json:
        print_json({"power": plain(powers)})
        return
    rows = [_power_row(estimate, detect) for estimate in powers]
    print_table(rows, list(rows[0]))
    source = "paired differences" if powers[0].paired else "one log, taken as independent"
    print_text(
        f"sd: standard deviation of {source}, over {powers[0].clusters}; detects: smallest "
        f"difference found with a power of .8 at a level of .05 / {comparisons}, by a paired "
        "t test."
    )


def notes(comparisons: Sequence[LogComparison], margin: float | None) -> list[str]:
    """Return notes on how the numbers are computed, and on missing or scarce data."""
    wide = f"{margin:g}" if margin else f"{SMALL} standard deviations of the scores"
    clusters = comparisons[0].clusters
    lines = [
        f"difference: first minus second over pairs of samples, []: 95% intervals over "
        f"{clusters}; p: "
        f"sign flips of {clusters}, adjusted over {len(comparisons)} comparisons (Holm); "
        f"equivalent: within "
        f"{wide}; detects: smallest difference found with a power of .8."
    ]
    lines += [
        f"{c.scorer}: {c.needs:,} {clusters} would settle it"
        for c in comparisons
        if c.needs is not None and c.needs > c.units
    ]
    for c in comparisons:
        if any(c.missing):
            complete = c.complete
            beside = "" if complete is None else estimate_cell(complete.value, complete.interval)
            lines.append(
                f"{c.scorer}: {c.missing[0]} samples of {c.first} and {c.missing[1]} of {c.second} "
                "were not finished or not scored and count as the lowest score"
                + (f"; over complete pairs the difference is {beside}." if beside else ".")
            )
    for first, second, alone in dict.fromkeys((c.first, c.second, c.alone) for c in comparisons):
        if any(alone):
            lines.append(
                f"left out: {alone[0]} samples only in {first}, {alone[1]} only in {second}"
            )
    differences = ((f"{c.first} minus {c.second}: {c.scorer}", c.difference) for c in comparisons)
    return [*lines, *blank_intervals(differences)]


def _row(c: LogComparison, letters: Mapping[str, str]) -> Row:
    first, second = letters[c.first], letters[c.second]
    is_one_letter = len(letters) == 2
    return {
        "logs": f"{first} - {second}",
        "scorer": c.scorer,
        first if is_one_letter else "first": estimate_cell(c.first_mean, None),
        second if is_one_letter else "second": estimate_cell(c.second_mean, None),
        "difference": estimate_cell(c.difference.value, c.difference.interval),
        f"{first if is_one_letter else 'first'} is": c.verdict,
        "p": p_cell(c.p_holm),
        c.clusters: c.units,
        "detects": None if c.detects is None else f"{c.detects:.2g}",
    }


def _power_row(estimate: LogPower, detect: float | None) -> Row:
    row: Row = {
        "scorer": estimate.scorer,
        estimate.clusters: estimate.units,
        "sd": f"{estimate.deviation:.3g}",
        "detects": None if estimate.detects is None else f"{estimate.detects:.3g}",
    }
    return (
        row
        if detect is None
        else {**row, f"{estimate.clusters} to detect {detect:g}": estimate.needs}
    )
