"""`sally profile`: what players knew of the others, and what they did with it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from sally.analysis.columns.rows import Row
from sally.analysis.episodes.stores import measured_stores
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.doing_scale import Zero
from sally.analysis.profile.profile import Mark, ProfileRow, profile_of
from sally.analysis.profile.selected_seats import known, select_seats
from sally.cli.common import STORE, say_bad
from sally.cli.comparing import plain
from sally.core.errors import listed, unknown
from sally.output.figures import profile as figures
from sally.output.files.bundle_reader import opened
from sally.output.tables.console import (
    estimate_cell,
    fitting,
    folded,
    json_option,
    print_json,
    print_page,
    print_table,
    progress,
)
from sally.stats import Estimate
from sally.store import Where

ESTIMATES = {  # heading -> field of a row, and how many places are shown
    "knowing %": ("accuracy", 0),
    "knowing": ("skill", 2),
    "beyond rules": ("beyond", 2),
    "Brier": ("brier", 2),
    "Brier skill": ("brier_skill", 2),
    "value error": ("value_error", 2),
    "doing": ("doing", 2),
    "at most": ("doing_most", 2),
    "as scored": ("raw", None),
    "regret": ("regret", 2),
    "acts on it %": ("consistency", 0),
    "acting": ("acting", 2),
    "inference": ("inference", 2),
    "translation": ("translation", 2),
    "format": ("format", 2),
    "luck": ("luck", 2),
}
QUIET = ("value_error", "brier_skill", "doing_most")  # blank for the reason of another column
IF_LOST = ("at most", "format")  # columns that say something only where moves or results lack


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=STORE)
@click.option("--game", "games", multiple=True, help="Only this game; may be repeated.")
@click.option("--player", "players", multiple=True, help="Only this player; may be repeated.")
@click.option("--seat", default="", help="Only this seat, studied or not.")
@click.option("--cell", "cells", multiple=True, help="Only this cell; * stands for anything.")
@click.option("--by", type=click.Choice(["cell"]), help="Keep the cells of a study apart.")
@click.option("--by-cell", is_flag=True, help="The same as --by cell.")
@click.option("--metric", "metrics", multiple=True, help="Only this column.")
@click.option("--page", default=1, show_default=True, help="Which page of a long table.")
@click.option("--all", "every", is_flag=True, help="Everything, however long.")
@click.option(
    "--zero",
    type=click.Choice(["random", "mindless"]),
    default="random",
    help="Who stands at 0 of doing; `mindless` is the scale of version 0.1 [random].",
)
@click.option("--figure", type=click.Path(path_type=Path), help="The picture: .svg, .pdf or .png.")
@click.option(
    "--calibration",
    type=click.Path(path_type=Path),
    help="Draw the calibration curves: .svg, .pdf or .png.",
)
@json_option
def profile(
    folders: tuple[Where, ...],
    games: tuple[str, ...],
    players: tuple[str, ...],
    seat: str,
    cells: tuple[str, ...],
    by: str | None,
    by_cell: bool,
    metrics: tuple[str, ...],
    page: int,
    every: bool,
    zero: Zero,
    figure: Path | None,
    calibration: Path | None,
    as_json: bool,
) -> None:
    """What each player in some stores knew of the others, and what it did with it.

    Knowing is 0 for an even guess and 1 for all there is to know. Doing is 0 for a random player
    and 1 for the optimum or the reference player, on the same problems, with the same chance and
    the same others. Players that a store lacks for this are played.
    """
    for path in filter(None, (figure, calibration)):
        figures.check(path)  # before the work, not after it
    for name in metrics:
        if name not in ESTIMATES:
            raise unknown("column of the profile", name, ESTIMATES)
    rows = profile_rows_of(
        folders,
        games=games,
        players=players,
        seat=seat,
        cells=cells,
        by_cell=by_cell or by is not None,
        zero=zero,
    )
    if figure:
        figures.write(figures.profile_figure(rows), figure)
    if calibration:
        figures.write(figures.calibration_figure(rows), calibration)
    if as_json:
        print_json(plain(rows))
        return
    if not metrics and (every or length(rows) <= ROOM):
        say(rows)
    else:
        say_brief(rows, metrics or BRIEF, page)
    for path in filter(None, (figure, calibration)):
        click.echo(f"Written: {path}")


def profile_rows_of(
    folders: Sequence[Where],
    *,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    cells: Sequence[str] = (),
    by_cell: bool = False,
    zero: Zero = "random",
) -> list[ProfileRow]:
    """The profile of some stores; mindless and reference players are played where they lack."""
    with progress() as bar, ExitStack() as open_ones:
        task = bar.add_task("measure", total=None, note="")
        places = [open_ones.enter_context(opened(folder))[0] for folder in folders]
        found = measured_stores(places, seat, lambda n: bar.update(task, completed=n))
        say_bad(found.bad)
        if found.episodes:
            known("seat in this store", [seat] if seat else [], found.seats)
        studied = select_seats(found.measured, games, players, seat, cells)
        del found  # of a million episodes, the seats that nobody studies would fill the memory
        task = bar.add_task("compare", total=None, note="mindless and reference players")
        ends = baselines(
            studied, by_cell, lambda done, all: bar.update(task, completed=done, total=all)
        )
    return profile_of(studied, ends, by_cell=by_cell, zero=zero)


# --- on a terminal --------------------------------------------------------------------------------


def say(rows: Sequence[ProfileRow]) -> None:
    """A table for each game and seat, what its ends are, and why blanks are blank."""
    groups = grouped(rows)
    for (game, seat, cell, part), group in groups.items():
        lines = [_line(row) for row in group]
        title = f"{game}, seat {seat}" + (f", cell {cell}" if cell else "")
        title += f", partners {part}" if part else ""
        for names in fitting(lines, ["player", "n"], telling(group, lines)):
            print_table(lines, ("player", "n", *names), title=title)
        for sentence in sentences(group):
            click.echo(folded(sentence))
        click.echo()
    click.echo(folded(LEGEND))


def grouped(rows: Sequence[ProfileRow]) -> dict[tuple[str, str, str, str], list[ProfileRow]]:
    """The rows that stand in one table."""
    groups: dict[tuple[str, str, str, str], list[ProfileRow]] = {}
    for row in rows:
        groups.setdefault((row.game, row.seat, row.cell, row.part), []).append(row)
    return groups


def telling(group: Sequence[ProfileRow], lines: Sequence[Row]) -> list[str]:
    """The columns that say something of these rows."""
    lost = any(row.forfeits or row.censored for row in group)
    return [
        name
        for name in ESTIMATES
        if any(line[name] != "-" for line in lines) and (lost or name not in IF_LOST)
    ]


def length(rows: Sequence[ProfileRow]) -> int:
    """About how many lines the whole profile takes."""
    found = len(folded(LEGEND).split("\n"))
    for group in grouped(rows).values():
        lines = [_line(row) for row in group]
        tables = len(fitting(lines, ["player", "n"], telling(group, lines)))
        said = sum(len(folded(sentence).split("\n")) for sentence in sentences(group))
        found += tables * (len(lines) + 5) + said + 1
    return found


ROOM = 56  # lines up to which a profile is printed whole
BRIEF = ("knowing %", "doing", "acts on it %", "knowing", "acting", "regret", "as scored")


def say_brief(rows: Sequence[ProfileRow], columns: Sequence[str], page: int) -> None:
    """Everybody in one table, a page at a time, and where the rest is said."""
    keys = ["game", "seat", "cell", "part"]
    told = [key for key in keys if key == "game" or len({getattr(r, key) for r in rows}) > 1]
    ordered = sorted(rows, key=lambda r: (r.game, r.seat, r.cell, r.part, r.player))
    lines = [{key: getattr(row, key) for key in told} | _line(row) for row in ordered]
    kept = [name for name in columns if any(line[name] != "-" for line in lines)]
    shown = print_page(lines, [*told, "player"], kept or columns[:1], page, ["n"])
    for line in shown.said("--game, --cell and --player"):
        click.echo(folded(line))
    click.echo(
        folded("--all says everything of everybody: ends, losses, and why blanks are blank.")
    )
    click.echo(folded(LEGEND))


LEGEND = (
    "knowing: predictions about others, 0 as an even guess and 1 all right; beyond rules: 0 as the "
    "best rule without a mind. doing: 0 as a random player, 1 as the optimum or reference, with "
    "forfeited moves at what the rules give (at most: at the best they could have earned). acts on "
    "it: moves that are best replies to one's own prediction; acting: the same, 0 as a blind pick. "
    "inference, translation, format: payoff lost by wrong predictions, by not acting on one's own, "
    "by unreadable moves; luck: what the second kind happened to change. After ±: 95% intervals."
)


def _line(row: ProfileRow) -> Row:
    line: dict[str, Any] = {"player": row.player, "n": row.episodes}
    for heading, (field, places) in ESTIMATES.items():
        found = getattr(row, field)
        line[heading] = estimate_cell(found.value, found.interval, places)
    return line


def sentences(group: Sequence[ProfileRow]) -> list[str]:
    """What the ends of the scale are, what was resampled, and why blanks are blank."""
    first = group[0]
    ends = [
        f"{name} = {said}"
        for name, marks in (
            ("random", [r.random for r in group]),
            ("best mindless", [r.mindless for r in group]),
            ("1", [r.reference for r in group]),
        )
        if (said := _ends(marks))
    ]
    found = [f"score: {first.metric} ({first.unit}); " + "; ".join([*ends, _guess(group)])]
    found.append(f"clusters: {listed(dict.fromkeys(row.clusters for row in group))}")
    if cut := sum(row.censored for row in group):
        found.append(f"{cut} of {sum(row.episodes for row in group)} episodes have no result")
    lost, made = sum(row.forfeits for row in group), sum(row.moves for row in group)
    found.append(
        f"{lost} of {lost + made} moves were forfeited" if lost else "no move was forfeited"
    )
    return [*found, *_blanks(group)]


def _guess(group: Sequence[ProfileRow]) -> str:
    known = [row.guess for row in group if row.guess is not None]
    if not known:
        return "nobody was asked"
    rules = [row.predictor for row in group if row.predictor is not None]
    best = max(rules, key=lambda rule: rule.accuracy)
    said = f"the best rule without a mind ('{best.rule}') up to {best.accuracy:.0f} %"
    return f"a guess knows {sum(known) / len(known):.0f} %, {said}"


def _ends(marks: Sequence[Mark | None]) -> str:
    """A baseline by name, with its mean over rows and where its episodes come from."""
    known = [mark for mark in marks if mark is not None]
    if not known:
        return ""
    mark = known[0]
    mean = sum(m.value for m in known) / len(known)
    role = f" ({mark.standing})" if mark.standing else ""
    told = f"{mark.player}{role}, {mean:.3g}"
    at = [m.doing for m in known if m.doing is not None]
    told += f" (doing {sum(at) / len(at):.2f})" if at else ""
    if not mark.stored and not mark.played:
        return told + ", computed"
    where = "found in the store" if not mark.played else "played for this"
    return told + f", {where}"


def _blanks(group: Sequence[ProfileRow]) -> list[str]:
    """Each reason once, with the columns and players that it leaves blank."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in group:
        for heading, (field, _) in ESTIMATES.items():
            if field in row.why and field not in QUIET:
                reasons.setdefault(row.why[field], {}).setdefault(heading, []).append(row.player)
    found = []
    for why, columns in reasons.items():
        players = list(dict.fromkeys(p for some in columns.values() for p in some))
        who = "" if len(players) == len(group) else f" ({listed(players)})"
        found.append(f"blank {listed(columns)}{who}: {why}")
    bare: dict[str, list[str]] = {}
    for row in group:
        for field, _ in ESTIMATES.values():
            estimate: Estimate = getattr(row, field)
            if estimate.value is not None and estimate.interval is None:
                why = estimate.method.partition("no interval: ")[2]
                bare.setdefault(why, []).append(row.player)
    for why, players in bare.items():
        found.append(f"no interval ({listed(dict.fromkeys(players))}): {why}")
    return found
