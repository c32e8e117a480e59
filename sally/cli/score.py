"""`sally score`: means with intervals, one table per game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import click

from sally import store
from sally.analysis.bounds import find_metric
from sally.analysis.score import By, Scores
from sally.api.analyses import episodes
from sally.api.analyses import score as score_rows
from sally.cli.common import STORE, open_frame, say_bad
from sally.cli.group import WithViews
from sally.core.errors import BadInput, join_names
from sally.core.terminal_text import echo
from sally.frames import Row
from sally.output.tables.console import (
    ALL_EQUAL,
    ALL_ZERO,
    estimate_cell,
    fitting,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.stats.intervals import Estimate, blank_intervals

REASONS = 8  # reasons listed one by one; the others are counted
FEW = 36  # rows of a summary
PLAYER_KEYS = ("player", "model", "strategy")
LAST = ("payoff", "forfeits")  # columns of every game, after those of one
NOTHING = (None, "-", "0.000", ALL_ZERO)  # a column with only these is left out


@click.command(cls=WithViews)
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
@click.option("--all", "every", is_flag=True, help="All metrics, not only the headline ones.")
@click.option("--rows", "as_rows", is_flag=True, help="Print JSON, one row per seat and episode.")
@json_option
def score(
    *,
    folder: Path | str,
    metrics: tuple[str, ...],
    games: tuple[str, ...],
    cells: tuple[str, ...],
    players: tuple[str, ...],
    seats: tuple[str, ...],
    by: tuple[By, ...],
    every: bool,
    as_rows: bool,
    as_json: bool,
) -> None:
    """Print mean scores of every player with 95% intervals.

    FOLDER is a store or a bundle. Cells and other players are pooled; `--by cell` and `--by others`
    separate them.
    """
    with open_frame(folder) as frame:
        if as_rows:
            print_json(episodes(frame))
            say_bad(frame.bad)
            return
        rows = score_rows(
            frame, metrics, games=games, cells=cells, players=players, seat=seats, by=by,
            every=every,
        )  # fmt: skip
    if as_json:
        print_json(rows)
    else:
        say(rows.scores)
        print_text(*reason_lines(rows.scores.reasons))
    for id in rows.scores.mixed:
        echo(f"mixed: instance {id!r} was changed between runs; both versions count here", err=True)
    say_bad(rows.bad)
    if not rows.scores.rows:
        raise BadInput(f"The store {folder} holds no episode to score.")


def reason_lines(reasons: Mapping[str, int]) -> list[str]:
    """Return one line per reason why episodes have no result, most frequent first."""
    ordered = Counter(reasons).most_common()
    lines = [f"{n} without a result ({reason})" for reason, n in ordered[:REASONS]]
    if other_reasons := ordered[REASONS:]:
        lines.append(
            f"{sum(n for _, n in other_reasons)} without a result for {len(other_reasons)} other "
            f"reasons; "
            "`sally watch DIR --once` lists them all."
        )
    return lines


def say_summary(place: store.Where) -> None:
    """Print the means of a store: by player, or by model if there are too many players."""
    rows = score_rows(place)
    if len({tuple(row[key] for key in rows.scores.keys) for row in rows}) > FEW:
        rows = score_rows(place, by=("model",))
    say(rows.scores)


def say(scores: Scores) -> None:
    """Print a table per game, and the options that show what was pooled or left out."""
    if not scores.rows:
        return
    rows, settings = without_common_settings(scores.rows)
    keys = [key for key in scores.keys if key in PLAYER_KEYS or _varies(rows, key)]
    games = list(dict.fromkeys(row["game"] for row in rows))
    shared = Counter(metric for game in games for metric in {
        row["metric"] for row in rows if row["game"] == game
    })  # fmt: skip
    cells: set[str] = set()
    for game in sorted(games):
        game_rows = [row for row in rows if row["game"] == game]
        cells |= say_game(game, game_rows, [key for key in keys if key != "game"], shared)
    print_text(*_notes(scores))
    print_text(*_without_interval(scores.rows))
    if any(cell.startswith("all ") for cell in cells):
        print_text(ALL_EQUAL)
    if settings:
        print_text(f"Settings of every player: {settings}.")


def say_game(
    game: str, rows: Sequence[Row], keys: Sequence[str], shared: Mapping[str, int]
) -> set[str]:
    """Print the means of one game, one row per player, one column per metric; return its cells.

    `n` counts episodes with a result, `missing` those without; a metric computed over a different
    number of episodes is marked. Measures that only this game has come first, because the game's
    outcome is among them.
    """
    shown_keys = [key for key in keys if key in PLAYER_KEYS or _varies(rows, key)]
    has_missing = any(row["missing"] for row in rows)
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        names = {key: str(row[key]) for key in shown_keys}
        counts = {"n": str(row["results"]), "missing": str(row["missing"])}
        line = lines.setdefault(tuple(names.values()), names | counts)
        few = "" if row["episodes"] == row["results"] else f" (n {row['episodes']})"
        line[heading(row["metric"], game)] = estimate_cell(row["value"], row["interval"]) + few
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    metrics.sort(key=lambda name: (name in LAST, shared[name]))
    heads = [heading(name, game) for name in metrics]
    table = [lines[key] for key in sorted(lines)]
    filled = [head for head in heads if any(line.get(head) not in NOTHING for line in table)]
    last = ["n", "missing"] if has_missing else ["n"]
    constant = [str(rows[0][key]) for key in keys if key not in shown_keys]
    title = ", ".join([game, *constant])
    for group in fitting(table, [*shown_keys, *last], filled or heads):
        print_table(table, [*shown_keys, *group, *last], title)
    return {line.get(head, "") for line in table for head in filled or heads}


def _notes(scores: Scores) -> list[str]:
    notes = []
    pooled = [key for key in scores.pooled if key != "strategy" or "player" not in scores.keys]
    if pooled:
        names = {"cell": "cells", "others": "other players", "strategy": "strategies"}
        options = [f"--by {'player' if key == 'strategy' else key}" for key in pooled]
        notes.append(
            f"Pooled over {join_names([names[key] for key in pooled])}: {join_names(options)} "
            f"{'separates' if len(pooled) == 1 else 'separate'} them."
        )
    if seats := scores.seats_left_out:
        notes.append(
            f"Seats without a studied player are not shown: {join_names(seats)} (see --seat)."
        )
    return notes


def _without_interval(rows: Sequence[Row]) -> list[str]:
    """Return one line for each reason why means have no interval."""
    keys = [key for key in ("game", *PLAYER_KEYS) if key in rows[0] and _varies(rows, key)]
    estimates = []
    for row in rows:
        low, high = row["interval"] or (None, None)
        name = " ".join(str(row[key]) for key in keys) or "every mean"
        estimate = Estimate(row["value"], low, high, row["episodes"], row["method"])
        estimates.append((name, estimate))
    return blank_intervals(estimates)


def without_common_settings(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Cut the settings that all labels end with; return the rows and the settings that were cut.

    A label is a model, a strategy and settings (`qwen-0.5b qa T=0.7`); settings contain `=`.
    """
    labels = {row["player"]: str(row["player"]).split(" ") for row in rows if "player" in row}
    common = 0
    while (
        len(ends := {tuple(words[len(words) - common - 1 :]) for words in labels.values()}) == 1
        and "=" in next(iter(ends))[0]
    ):
        common += 1
    if not common:
        return list(rows), ""
    cut = {label: " ".join(words[:-common]) for label, words in labels.items()}
    settings = " ".join(next(iter(labels.values()))[-common:])
    return [{**row, "player": cut[row["player"]]} for row in rows], settings


def heading(metric: str, game: str = "") -> str:
    """Return the short name of a metric, for a column heading; without a game, all are loaded."""
    entry = find_metric(metric, game)
    return entry.label or metric if entry else metric


def _varies(rows: Sequence[Row], key: str) -> bool:
    """Return whether a column has different values; cells named after their game do not count."""
    if key == "cell" and all(row["cell"] == row["game"] for row in rows):
        return False
    return len({row[key] for row in rows}) > 1
