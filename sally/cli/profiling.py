"""`sally profile`: what players knew of the others, and what they did with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from sally.analysis.baselines import baselines, studied_seats
from sally.analysis.measured import Measured
from sally.analysis.profile import Mark, ProfileRow, profile_of
from sally.analysis.rows import Row
from sally.analysis.stores import measured_stores
from sally.cli.common import STORE
from sally.cli.comparing import plain
from sally.core.errors import BadInput, listed, unknown
from sally.core.log import label
from sally.output import figures
from sally.output.console import (
    estimate_cell,
    fitting,
    folded,
    json_option,
    print_json,
    print_table,
    progress,
)
from sally.output.unpacked import opened
from sally.stats import Estimate
from sally.store import Where

ESTIMATES = {  # heading -> field of a row, and how many places are shown
    "knowing %": ("accuracy", 0),
    "Brier": ("brier", 2),
    "value error": ("value_error", 2),
    "doing": ("doing", 2),
    "as scored": ("raw", None),
    "inference": ("inference", 2),
    "translation": ("translation", 2),
    "format": ("format", 2),
    "horizon": ("horizon", 2),
}


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=STORE)
@click.option("--game", "games", multiple=True, help="Only this game; may be given again.")
@click.option("--player", "players", multiple=True, help="Only this player; may be given again.")
@click.option("--seat", default="", help="Only this seat, studied or not.")
@click.option("--by-cell", is_flag=True, help="Each cell of a study apart.")
@click.option("--figure", type=click.Path(path_type=Path), help="The picture: .svg, .pdf or .png.")
@click.option("--calibration", type=click.Path(path_type=Path), help="Calibration curves likewise.")
@json_option
def profile(
    folders: tuple[Where, ...],
    games: tuple[str, ...],
    players: tuple[str, ...],
    seat: str,
    by_cell: bool,
    figure: Path | None,
    calibration: Path | None,
    as_json: bool,
) -> None:
    """What each player in some stores knew of the others, and what it did with it.

    Doing is 0 for the best mindless player and 1 for the optimum or the reference player, on the
    same problems with the same chance and company; where a store lacks them, they are played.
    """
    for path in filter(None, (figure, calibration)):
        figures.check(path)  # before the work, not after it
    rows = profile_rows_of(folders, games=games, players=players, seat=seat, by_cell=by_cell)
    if figure:
        figures.write(figures.profile_figure(rows), figure)
    if calibration:
        figures.write(figures.calibration_figure(rows), calibration)
    if as_json:
        print_json(plain(rows))
        return
    say(rows)
    for path in filter(None, (figure, calibration)):
        click.echo(f"Written: {path}")


def profile_rows_of(
    folders: Sequence[Where],
    *,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    by_cell: bool = False,
) -> list[ProfileRow]:
    """The profile of some stores; mindless and reference players are played where they lack."""
    with progress() as bar, ExitStack() as open_ones:
        task = bar.add_task("measure", total=None, note="")
        places = [open_ones.enter_context(opened(folder))[0] for folder in folders]
        found = measured_stores(places, seat, lambda n: bar.update(task, completed=n))
        for line in found.bad:
            click.echo(f"unreadable, kept in quarantine: {line}", err=True)
        if found.episodes:
            _known("seat in this store", [seat] if seat else [], found.seats)
        studied = chosen(found.measured, games, players, seat)
        task = bar.add_task("compare", total=None, note="mindless and reference players")
        ends = baselines(
            studied, by_cell, lambda done, all: bar.update(task, completed=done, total=all)
        )
    return profile_of(studied, ends, by_cell=by_cell)


def chosen(
    found: Sequence[Measured],
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
) -> list[Measured]:
    """The seats that are studied, or those that were asked for."""
    if not found:
        raise BadInput("The store holds no episode.")
    _known("game in this store", games, {m.game for m in found})
    kept = [m for m in found if not games or m.game in games]
    seats = {
        game: {seat} if seat else studied_seats([m for m in kept if m.game == game])
        for game in {m.game for m in kept}
    }
    kept = [m for m in kept if m.seat in seats[m.game]]
    _known("player in this store", players, {_player(m) for m in kept})
    return [m for m in kept if not players or _player(m) in players]


def _player(m: Measured) -> str:
    return label(m.setup.lineup[m.seat])


def _known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise unknown(what, name, known)


# --- on a terminal --------------------------------------------------------------------------------


def say(rows: Sequence[ProfileRow]) -> None:
    """A table for each game and seat, what its ends are, and why blanks are blank."""
    groups: dict[tuple[str, str, str], list[ProfileRow]] = {}
    for row in rows:
        groups.setdefault((row.game, row.seat, row.cell), []).append(row)
    for (game, seat, cell), group in groups.items():
        lines = [_line(row) for row in group]
        lost = any(row.forfeits for row in group)
        said = [
            name
            for name in ESTIMATES
            if any(line[name] != "-" for line in lines) and (lost or name != "format")
        ]
        title = f"{game}, seat {seat}" + (f", cell {cell}" if cell else "")
        for names in fitting(lines, ["player", "n"], said):
            print_table(lines, ("player", "n", *names), title=title)
        for sentence in sentences(group):
            click.echo(folded(sentence))
        click.echo()
    click.echo(
        "knowing: right predictions about others; doing: 0 as the best mindless player, 1 as the\n"
        "optimum or reference; inference, translation, format and horizon: where payoff was lost,\n"
        "in the unit of the score. In brackets or after ±: 95% intervals, bootstrap over clusters."
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
            ("0", [r.mindless for r in group]),
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
    return f"a guess knows {sum(known) / len(known):.0f} %" if known else "nobody was asked"


def _ends(marks: Sequence[Mark | None]) -> str:
    """A baseline by name, with its mean over rows and where its episodes come from."""
    known = [mark for mark in marks if mark is not None]
    if not known:
        return ""
    mark = known[0]
    mean = sum(m.value for m in known) / len(known)
    role = mark.standing or "best mindless"
    told = f"{mark.player} ({role}), {mean:.3g}"
    if not mark.stored and not mark.played:
        return told + ", computed"
    where = "found in the store" if not mark.played else "played for this"
    return told + f", {where}"


def _blanks(group: Sequence[ProfileRow]) -> list[str]:
    """Each reason once, with the columns and players that it leaves blank."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in group:
        for heading, (field, _) in ESTIMATES.items():
            if field in row.why and field != "value_error":
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
