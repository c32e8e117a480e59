"""`sally score`: means with intervals, one screen at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import click

from sally import store
from sally.analysis.columns.rows import Row, episode_rows
from sally.analysis.columns.scores import FINEST, By, ScoreQuery, chosen, keys_for, studied
from sally.analysis.columns.seat_table import SeatTable, seats_in, table_means
from sally.analysis.episodes.stores import each_once
from sally.cli.common import STORE, say_bad
from sally.core.errors import BadInput, listed
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.output.files.bundle_reader import opened
from sally.output.tables.console import (
    ALL_ZERO,
    SCREEN,
    PrintedPage,
    estimate_cell,
    fitting,
    json_option,
    print_json,
    print_page,
    print_table,
    print_text,
    progress,
)
from sally.stats.intervals import Estimate, blank_intervals

REASONS = 8  # reasons listed one by one; the others are counted
FEW = 36  # rows of a summary that fit on a screen
CHOOSE = "--game, --cell, --seat and --player"


@click.command()
@click.argument("folder", type=STORE)
@click.option("--metric", "metrics", multiple=True, help="Only this metric; may be repeated.")
@click.option("--game", "games", multiple=True, help="Only this game; * matches anything.")
@click.option("--cell", "cells", multiple=True, help="Only this cell; * matches anything.")
@click.option(
    "--player", "players", multiple=True, help="Only this player or model; * matches anything."
)
@click.option("--seat", "seats", multiple=True, help="Only this seat, studied or not.")
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(get_args(By)),
    help="Also group by this; model and strategy replace the player.",
)
@click.option("--page", default=1, show_default=True, help="Page of a long table.")
@click.option("--all", "every", is_flag=True, help="All metrics, not only the headline ones.")
@click.option("--rows", "as_rows", is_flag=True, help="Print JSON, one row per seat and episode.")
@json_option
def score(
    folder: Path | str,
    metrics: tuple[str, ...],
    games: tuple[str, ...],
    cells: tuple[str, ...],
    players: tuple[str, ...],
    seats: tuple[str, ...],
    by: tuple[By, ...],
    page: int,
    every: bool,
    as_rows: bool,
    as_json: bool,
) -> None:
    """Print means with 95% intervals for every player in a store or a bundle.

    Cells and other players are pooled; `--by cell` and `--by others` separate them.
    """
    wanted = ScoreQuery(metrics, every or as_json, seats, players, cells, games)
    with opened(folder) as (place, _):
        if as_rows:
            bad: list[str] = []
            print_json(list(episode_rows(each_once([place], bad.append))))
            say_bad(bad)
            return
        with progress() as bar:
            task = bar.add_task("measure", total=None, note="")
            table = seats_in(place, wanted.named, lambda n: bar.update(task, completed=n))
    kinds = chosen(table.kinds, wanted)
    if as_json:
        print_json(table_means(table, kinds, wanted.named, keys_for(by) if by else FINEST))
    else:
        say(table, kinds, wanted, keys_for(by), page, SCREEN if not every else 10**6)
        print_text(*without_result(table.reasons))
    warn(table)


def warn(seats: SeatTable) -> None:
    """Print warnings about instances whose parameters changed and about unreadable lines."""
    for id in seats.mixed:
        echo(f"mixed: instance {id!r} was changed between runs; both versions count here", err=True)
    say_bad(seats.bad)


def without_result(reasons: Mapping[str, int]) -> list[str]:
    """Return one line per reason why episodes have no result, most frequent first."""
    ordered = Counter(reasons).most_common()
    found = [f"{n} without a result ({why})" for why, n in ordered[:REASONS]]
    if rest := ordered[REASONS:]:
        found.append(
            f"{sum(n for _, n in rest)} without a result for {len(rest)} other reasons; "
            "`sally watch DIR --once` lists them all."
        )
    return found


def say(
    seats: SeatTable,
    kinds: Sequence[Row],
    wanted: ScoreQuery,
    keys: Sequence[str],
    page: int = 1,
    most: int = SCREEN,
) -> None:
    """Print the means of the studied players, and the options that show what was left out."""
    shown = kinds if wanted.seats or wanted.players else studied(kinds)
    found = table_means(seats, shown, wanted.named, keys)
    if not found:
        echo("Nothing to score.")
        return
    end = ""
    if "player" in keys:
        found, end = _without_common_end(found)
    print_text(*notes(print_scores(found, keys, page, most), kinds, shown, keys))
    print_text(*without_interval(found))
    if end:
        print_text(f"Settings of every player: {end}.")


def without_interval(found: Sequence[Row]) -> list[str]:
    """Return one line for each reason why means have no interval."""
    told = [key for key in ("game", *WHO) if key in found[0] and varies(found, key)]
    named = []
    for row in found:
        low, high = row["interval"] or (None, None)
        name = " ".join(str(row[key]) for key in told) or "every mean"
        named.append((name, Estimate(row["value"], low, high, row["episodes"], row["method"])))
    return blank_intervals(named)


def say_summary(place: store.Where) -> None:
    """Print one screen about a store: by player, or by model if there are too many players."""
    wanted = ScoreQuery()
    seats = seats_in(place, wanted.named)
    kinds = studied(seats.kinds)
    keys = keys_for(())
    if len({tuple(kind[key] for key in keys) for kind in kinds}) > FEW:
        keys = keys_for(("model",))
    say(seats, kinds, wanted, keys)


def notes(
    printed: PrintedPage, every: Sequence[Row], shown: Sequence[Row], keys: Sequence[str]
) -> list[str]:
    """Return notes on pooled groups, omitted seats, and the pages of the table not printed here."""
    said = printed.said(CHOOSE)
    pooled = [
        key
        for key in ("cell", "others", "strategy")
        if key not in keys and varies(shown, key) and ("player" not in keys or key != "strategy")
    ]
    if pooled:
        names = {"cell": "cells", "others": "other players", "strategy": "strategies"}
        by = {"strategy": "player"}
        said.append(
            f"Pooled over {listed([names[key] for key in pooled])}: "
            f"{listed([f'--by {by.get(key, key)}' for key in pooled])} "
            f"{'separates' if len(pooled) == 1 else 'separate'} them."
        )
    if left := sorted({row["seat"] for row in every} - {row["seat"] for row in shown}):
        said.append(f"Seats without a studied player are not shown: {listed(left)} (see --seat).")
    return said


def print_scores(
    found: Sequence[Row],
    keys: Sequence[str] = FINEST,
    page: int = 1,
    most: int = SCREEN,
) -> PrintedPage:
    """Print means and 95% intervals, one row per player, one column per metric.

    `n` counts episodes with a result, `missing` those without; a metric computed over a different
    number of episodes is marked.
    """
    told = [key for key in keys if key in WHO or varies(found, key)]
    groups: dict[tuple[str, ...], dict[str, str]] = {}
    missing = any(row["missing"] for row in found)
    for row in found:
        who = tuple(str(row[k]) for k in told)
        counts = {"n": str(row["results"])} | ({"missing": str(row["missing"])} if missing else {})
        group = groups.setdefault(who, counts)
        few = "" if row["episodes"] == row["results"] else f" (n {row['episodes']})"
        group[heading(row["metric"])] = estimate_cell(row["value"], row["interval"]) + few
    rows = [dict(zip(told, g, strict=True)) | cells for g, cells in sorted(groups.items())]
    metrics = list(dict.fromkeys(heading(row["metric"]) for row in found))
    last = ["n", "missing"] if missing else ["n"]
    said = [name for name in metrics if any(row.get(name) not in NOTHING for row in rows)]
    if "game" in told and most <= SCREEN:
        return _print_by_game(rows, told, said or metrics, page, last, most - NOTES)
    return print_page(rows, told, said or metrics, page, last, most=most)


LATER = ("payoff", "forfeits")  # columns of every game, after those of one


def _print_by_game(
    rows: Sequence[dict[str, str]],
    told: Sequence[str],
    metrics: Sequence[str],
    page: int,
    last: Sequence[str],
    most: int,
) -> PrintedPage:
    """Print one table per game with its own measures, as many games as fit on a screen.

    Measures that only this game has come first, because the game's outcome is among them.
    """
    games = list(dict.fromkeys(row["game"] for row in rows))
    has = {
        game: {n for n in metrics if any(n in row for row in rows if row["game"] == game)}
        for game in games
    }
    shared = {name: sum(name in mine for mine in has.values()) for name in metrics}
    blocks: list[tuple[str, list[dict[str, str]], list[str], list[str]]] = []
    for game in games:
        mine = [row for row in rows if row["game"] == game]
        filled = [n for n in metrics if any(row.get(n) not in NOTHING for row in mine)]
        filled = filled or [n for n in metrics if n in has[game]]
        order = sorted(filled, key=lambda n: (n in LATER, shared[n]))
        keys = [k for k in told if k != "game" and (k in WHO or len({r[k] for r in mine}) > 1)]
        groups = fitting(mine, [*keys, *last], order)
        title = ", ".join([game, *(mine[0][k] for k in told if k not in keys and k != "game")])
        blocks.append((title, mine, [*keys, *groups[0], *last], [n for g in groups[1:] for n in g]))
    sizes = [len(mine) + HEAD for _, mine, _, _ in blocks]
    pages: list[list[int]] = [[]]
    for at, size in enumerate(sizes):
        if pages[-1] and sum(sizes[n] for n in pages[-1]) + size > most:
            pages.append([])
        pages[-1].append(at)
    if not 1 <= page <= len(pages):
        raise BadInput(f"There is no page {page}; the tables have {len(pages)}.")
    for at in pages[page - 1]:
        title, mine, columns, _ = blocks[at]
        print_table(mine, columns, title)
    left = dict.fromkeys(name for at in pages[page - 1] for name in blocks[at][3])
    before = sum(len(blocks[at][1]) for some in pages[: page - 1] for at in some)
    here = sum(len(blocks[at][1]) for at in pages[page - 1])
    return PrintedPage(before + 1, before + here, len(rows), len(pages), tuple(left))


NOTES = 4  # lines by which the notes below several tables exceed those below one
HEAD = 5  # lines of a table besides its rows: title, heading, rule and space


def _without_common_end(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Cut the settings that all labels end with; return the rows and the settings that were cut.

    A label is a model, a strategy and settings (`qwen-0.5b qa T=0.7`); settings contain `=`.
    """
    labels = {row["player"]: str(row["player"]).split(" ") for row in rows}
    common = 0
    while (
        len(ends := {tuple(words[len(words) - common - 1 :]) for words in labels.values()}) == 1
        and "=" in next(iter(ends))[0]
    ):
        common += 1
    if not common:
        return list(rows), ""
    cut = {label: " ".join(words[:-common]) for label, words in labels.items()}
    end = " ".join(next(iter(labels.values()))[-common:])
    return [{**row, "player": cut[row["player"]]} for row in rows], end


WHO = ("player", "model", "strategy")
NOTHING = (None, "-", "0.000", ALL_ZERO)  # a column with only these is left out


def heading(metric: str) -> str:
    """Return the short name of a metric, for a column heading."""
    entry = registry.entries("metrics").get(metric)
    return entry.label or metric if entry else metric


def varies(rows: Sequence[Row], key: str) -> bool:
    """Return whether a column has different values. The column `cell` counts as constant if every
    cell has the name of its game."""
    if key == "cell" and all(row["cell"] == row["game"] for row in rows):
        return False
    return len({row[key] for row in rows}) > 1
