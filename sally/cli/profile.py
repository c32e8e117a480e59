"""`sally profile`: what players knew about the others, and how well they acted on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sally.analysis.profile.columns import COLUMNS, ProfileColumn
from sally.analysis.profile.depth_curve import depth_curve
from sally.analysis.profile.doing_scale import Mark
from sally.analysis.profile.ideal_scale import IDEAL_COLUMNS, ideal_rows, without_pool
from sally.analysis.profile.literal_beside import (
    LITERAL_COLUMNS,
    LITERAL_NOTE,
    literal_beside,
)
from sally.analysis.profile.profile import ProfileRow
from sally.api.analyses import profile as profile_of
from sally.api.results import ProfileRows
from sally.cli.common import STORE, open_frame, say_bad
from sally.cli.compare import plain
from sally.cli.group import WithViews
from sally.core.errors import join_names, unknown
from sally.core.grouping import group_by
from sally.core.log.events import Episode
from sally.core.terminal_text import echo
from sally.frames import Row
from sally.frames.frame import Frame, Source
from sally.frames.schema import COUNT, TEXT, Column
from sally.output.figures import panels
from sally.output.figures.depth_curve import depth_figure
from sally.output.figures.ideal import ideal_figure
from sally.output.figures.profile import calibration_figure, profile_figure
from sally.output.tables.columns import legend, print_columns
from sally.output.tables.console import (
    PATH,
    estimate_cell,
    json_option,
    print_json,
    print_table,
    print_text,
    progress,
)
from sally.output.tables.representation import by_question
from sally.output.tables.representation import say as say_probes
from sally.represent.results import read_results
from sally.stats.intervals import blank_intervals
from sally.store import Where

NAMES = {
    name: Column(name, type=TEXT) for name in ("game", "seat", "cell", "part", "player", "model")
}  # columns that name a row
N = Column("results", "n", type=COUNT, about="episodes with a result")
MISSING = Column("censored", "missing", type=COUNT, about="episodes without a result")


@click.command(cls=WithViews)
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=STORE)
@click.option("--game", "games", multiple=True, help="Only this game; may be repeated.")
@click.option("--player", "players", multiple=True, help="Only this player; may be repeated.")
@click.option("--seat", default="", help="Only this seat, studied or not.")
@click.option("--cell", "cells", multiple=True, help="Only this cell; * matches anything.")
@click.option("--by", type=click.Choice(["cell"]), help="One row per player and cell of the study.")
@click.option("--metric", "metrics", multiple=True, help="Only this column.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Print the full profile: all columns, scales, losses, and why values are missing.",
)
@click.option("--figure", type=PATH, help="Draw the profile: .svg, .pdf or .png.")
@click.option(
    "--calibration",
    type=PATH,
    help="Draw the calibration curves: .svg, .pdf or .png.",
)
@click.option(
    "--depth", "by_depth", is_flag=True, help="Print accuracy by reasoner depth, and pass^k."
)
@click.option(
    "--ideal",
    is_flag=True,
    help="Print knowing and regret beside the ideal observer and the Bayes-adaptive player.",
)
@json_option
def profile(
    *,
    folders: tuple[Where, ...],
    games: tuple[str, ...],
    players: tuple[str, ...],
    seat: str,
    cells: tuple[str, ...],
    by: str | None,
    metrics: tuple[str, ...],
    every: bool,
    figure: Path | None,
    calibration: Path | None,
    by_depth: bool,
    ideal: bool,
    as_json: bool,
) -> None:
    """Show what players knew of the others, and how they acted on it.

    Knowing is 0 for a uniform guess and 1 for perfect prediction. Doing is 0 for a random player
    and 1 for the optimum or the reference player, on the same instances, with the same random draws
    and the same other players. Baselines that the stores lack are played.
    """
    for path in filter(None, (figure, calibration)):
        panels.check(path)  # fail before the work rather than after it
    columns = [column_titled(title) for title in metrics]
    with open_frame(folders) as frame:
        if by_depth or ideal:
            print_part = say_depths if by_depth else say_ideal
            print_part(list(frame), games, players, figure, as_json)
            return
        rows = profile_rows(
            frame, games=games, players=players, seat=seat, cells=cells, by_cell=by == "cell"
        )
    if figure:
        panels.write(profile_figure(rows.estimates), figure)
    if calibration:
        panels.write(calibration_figure(rows.estimates), calibration)
    if as_json:
        print_json([json_row(row) for row in rows.estimates])
        return
    if every and not columns:
        say(rows.estimates)
    else:
        say_brief(rows.estimates, columns or [column for column in COLUMNS if column.is_brief])
    say_literal(rows.estimates, frame)
    say_represented(folders)
    for path in filter(None, (figure, calibration)):
        echo(f"Written: {path}")


def json_row(row: ProfileRow) -> Row:
    """Return a row of a profile with its facts and estimates side by side."""
    facts: Row = plain(row)
    estimates: Row = facts.pop("estimates")
    return {**facts, **estimates}


def column_titled(title: str) -> ProfileColumn:
    """Return the column with this heading or field."""
    titles = {column.title: column for column in COLUMNS}
    fields = {column.field: column for column in COLUMNS}
    if title not in titles | fields:
        raise unknown("column of the profile", title, titles)
    return (titles | fields)[title]


def profile_rows(
    source: Source,
    *,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    cells: Sequence[str] = (),
    by_cell: bool = False,
) -> ProfileRows:
    """Return a profile, with a progress bar while baseline players play; report bad lines."""
    with open_frame(source) as frame, progress() as bar:
        task = bar.add_task("compare", total=None, note="mindless and reference players")
        rows = profile_of(
            frame, games=games, players=players, seat=seat, cells=cells, by_cell=by_cell,
            watch=lambda n, of: bar.update(task, completed=n, total=of),
        )  # fmt: skip
    say_bad(rows.bad)
    return rows


def say_literal(rows: Sequence[ProfileRow], frame: Frame) -> None:
    """Print scores on a battery of literal theory-of-mind items beside knowing and doing, if the
    stores hold both."""
    if lines := literal_beside(rows, frame):
        keys = (NAMES["player"], NAMES["game"])
        print_columns(lines, keys, LITERAL_COLUMNS, "literal beside knowing and doing")
        print_text(f"{legend(LITERAL_COLUMNS[:4])} {LITERAL_NOTE}")


def say_represented(folders: Sequence[Where]) -> None:
    """Print what local models represent, for stores that have results of `sally represent`."""
    for folder in folders:
        if isinstance(folder, Path) and folder.is_dir():
            for group in by_question(read_results(folder)):
                say_probes(group)


def say_depths(
    episodes: Sequence[Episode],
    games: Sequence[str],
    players: Sequence[str],
    figure: Path | None,
    as_json: bool,
) -> None:
    """Print each player's accuracy at each depth of the reasoners that solve a block of
    problems, with pass^k over repeats of a problem."""
    points = [
        point
        for point in depth_curve(episodes)
        if (not games or point.game in games) and (not players or point.player in players)
    ]
    if figure:
        panels.write(depth_figure(points), figure)
    if as_json:
        print_json(plain(points))
        return
    if not points:
        echo(
            "No episode has a decision of a set with depths; `sally audit GAME --depth` lists them."
        )
        return
    for game, seat in dict.fromkeys((point.game, point.seat) for point in points):
        seat_points = [point for point in points if (point.game, point.seat) == (game, seat)]
        lines = []
        for point in seat_points:
            largest = max(point.pass_all)
            lines.append(
                {
                    "player": point.player,
                    "depth": point.depth,
                    "right": estimate_cell(point.right.value, point.right.interval),
                    "chance": point.chance,
                    "corrected": point.corrected,
                    "pass^k": f"{point.pass_all[largest]:.2f} (k = {largest})",
                    "n": point.right.n,
                }
            )
        columns = ("player", "depth", "right", "chance", "corrected", "pass^k", "n")
        print_table(lines, columns, title=f"{game}, seat {seat}, by reasoner depth")
    estimates = ((f"{p.player} in {p.game} at depth {p.depth}", p.right) for p in points)
    print_text(*blank_intervals(estimates))
    print_text(DEPTH_LEGEND)


def say_ideal(
    episodes: Sequence[Episode],
    games: Sequence[str],
    players: Sequence[str],
    figure: Path | None,
    as_json: bool,
) -> None:
    """Print each player, compared with the ideal observer and the Bayes-adaptive player."""
    rows = [
        row
        for row in ideal_rows(episodes)
        if (not games or row.game in games) and (not players or row.player in players)
    ]
    if figure and rows:
        panels.write(ideal_figure(rows), figure)
    if as_json:
        print_json(plain(rows))
        return
    if not rows:
        echo("No episode has a partner of a declared pool and a fixed number of rounds.")
        print_text(*without_pool(e.setup.instance.game for e in episodes))
        return
    keys = (NAMES["player"], Column("episodes", "n", type=COUNT))
    for (game, seat), seat_rows in group_by(rows, lambda row: (row.game, row.seat)).items():
        print_columns(seat_rows, keys, IDEAL_COLUMNS, f"{game}, seat {seat}")
        values = [f"{row.adaptive:.2f}" for row in seat_rows if row.adaptive is not None]
        if values:
            adaptive = " or ".join(dict.fromkeys(values))
            echo(
                f"The Bayes-adaptive player expects {adaptive} per {seat_rows[0].per} over the "
                f"pool."
            )
        else:
            echo("Only predictions are compared: Bayes-adaptive play is not computed in this game.")
    print_text(legend(IDEAL_COLUMNS))


DEPTH_LEGEND = (
    "depth: reasoners of this depth answer the whole block, shallower ones are at chance. "
    "corrected: 0 is chance, 1 the whole block. pass^k: the chance that k repeats of one problem "
    "are all right. Forfeited decisions are wrong."
)


# --- output --------------------------------------------------------------------------------------


def say(rows: Sequence[ProfileRow]) -> None:
    """Print a table per game and seat, its scale, and why values are missing."""
    groups = group_by(rows, lambda row: (row.game, row.seat, row.cell, row.part))
    printed: dict[ProfileColumn, None] = {}
    for (game, seat, cell, part), group in groups.items():
        title = f"{game}, seat {seat}" + (f", cell {cell}" if cell else "")
        title += f", partners {part}" if part else ""
        columns = telling(group)
        print_columns(group, (NAMES["player"], *counts(group)), columns, title)
        print_text(*sentences(group))
        echo()
        printed |= dict.fromkeys(columns)
    print_text(legend(column for column in COLUMNS if column in printed))
    print_text(AFTER)


AFTER = (
    "n: episodes with a result. After ± or in brackets: 95% intervals; all: equal in every cluster."
)


def say_brief(rows: Sequence[ProfileRow], columns: Sequence[ProfileColumn]) -> None:
    """Print one table of all players with some columns."""
    keys = ["game", "seat", "cell", "part"]
    varying = [key for key in keys if key == "game" or len({getattr(r, key) for r in rows}) > 1]
    ordered = sorted(rows, key=lambda r: (r.game, r.seat, r.cell, r.part, r.player))
    filled = [c for c in columns if any(row.estimates[c.field].value is not None for row in rows)]
    names = [NAMES[key] for key in (*varying, "player")]
    print_columns(ordered, (*names, *counts(rows)), filled or columns[:1])
    print_text("--all prints the full profile: scales, losses, and why values are missing.")
    print_text(legend(filled or columns[:1]))
    print_text(AFTER)


def counts(group: Sequence[ProfileRow]) -> tuple[Column, ...]:
    """Return the columns of counts; `missing` is included only if a result is missing."""
    return (N, MISSING) if any(row.censored for row in group) else (N,)


def telling(group: Sequence[ProfileRow]) -> list[ProfileColumn]:
    """Return the columns that have a value in at least one of these rows."""
    is_lost = any(row.forfeits or row.censored for row in group)
    return [
        column
        for column in COLUMNS
        if any(row.estimates[column.field].value is not None for row in group)
        and (is_lost or not column.only_if_lost)
    ]


def sentences(group: Sequence[ProfileRow]) -> list[str]:
    """Return sentences on the scale, the clusters, forfeited moves, and why values are missing."""
    first = group[0]
    ends = [
        f"{name} = {ends_text}"
        for name, marks in (
            ("random", [r.random for r in group]),
            ("best mindless", [r.mindless for r in group]),
            ("1", [r.reference for r in group]),
        )
        if (ends_text := _ends(marks))
    ]
    lines = [f"score: {first.metric} ({first.unit}); " + "; ".join([*ends, _guess(group)])]
    lines.append(f"clusters: {join_names(dict.fromkeys(row.clusters for row in group))}")
    if cut := sum(row.censored for row in group):
        lines.append(f"{cut} of {sum(row.episodes for row in group)} episodes have no result")
    forfeits, moves = sum(row.forfeits for row in group), sum(row.moves for row in group)
    lines.append(
        f"{forfeits} of {forfeits + moves} moves were forfeited"
        if forfeits
        else "no move was forfeited"
    )
    counts = [
        f"{row.predictions} of {row.predictions_asked} predictions ({row.player})"
        for row in group
        if row.predictions < row.predictions_asked
    ]
    if counts:
        joined = join_names(counts, "and")
        lines.append(f"knowing counts {joined}; the others were unreadable or have no truth")
    for row in group:
        lines += habit_sentences(row)
    return [*lines, *_blanks(group)]


def habit_sentences(row: ProfileRow) -> list[str]:
    """Return sentences on a player's habits, and on what else explains its moves."""
    lines = [f"{row.player} {row.called}"] if row.called else []
    if row.habit is not None and row.decides is not None and row.decides < 100:
        lines.append(
            f"{row.player}: the best reply depends on the prediction in {row.decides:.0f} % of "
            "its moves"
        )
    return lines


def _guess(group: Sequence[ProfileRow]) -> str:
    guesses = [row.guess for row in group if row.guess is not None]
    if not guesses:
        return "no seat was probed"
    rules = [row.predictor for row in group if row.predictor is not None]
    best = max(rules, key=lambda rule: rule.accuracy)
    rule_text = f"the best simple rule ('{best.rule}') up to {best.accuracy:.0f} %"
    return f"a guess is right in {sum(guesses) / len(guesses):.0f} %, {rule_text}"


def _ends(marks: Sequence[Mark | None]) -> str:
    """Return a description of a baseline: its name, its mean, and the source of its episodes."""
    known_marks = [mark for mark in marks if mark is not None]
    if not known_marks:
        return ""
    mark = known_marks[0]
    mean = sum(m.value for m in known_marks) / len(known_marks)
    role = f" ({mark.standing})" if mark.standing else ""
    text = f"{mark.player}{role}, {mean:.3g}"
    doings = [m.doing for m in known_marks if m.doing is not None]
    text += f" (doing {sum(doings) / len(doings):.2f})" if doings else ""
    if mark.error is not None:
        return text + f", the mean of {mark.draws} draws (standard error {mark.error:.2g})"
    if not mark.stored and not mark.played:
        return text + ", computed"
    source = "from the store" if not mark.played else "played for this profile"
    return text + f", {source}"


def _blanks(group: Sequence[ProfileRow]) -> list[str]:
    """Return each reason for missing values once, with its columns and players."""
    reasons: dict[str, dict[str, list[str]]] = {}
    bare: dict[str, list[str]] = {}
    for row in group:
        for column in COLUMNS:
            estimate = row.estimates[column.field]
            if column.field in row.why and not column.has_reason_of_other:
                columns = reasons.setdefault(row.why[column.field], {})
                columns.setdefault(column.title, []).append(row.player)
            if estimate.value is not None and estimate.interval is None:
                reason = estimate.method.partition("no interval: ")[2]
                bare.setdefault(reason, []).append(row.player)
    lines = []
    for reason, columns in reasons.items():
        players = list(dict.fromkeys(p for names in columns.values() for p in names))
        whose = "" if len(players) == len(group) else f" ({join_names(players)})"
        lines.append(f"missing {join_names(columns)}{whose}: {reason}")
    for reason, players in bare.items():
        lines.append(f"no interval ({join_names(dict.fromkeys(players))}): {reason}")
    return lines
