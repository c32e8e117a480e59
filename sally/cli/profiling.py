"""`sally profile`: what players knew about the others, and how well they acted on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sally import store
from sally.analysis.columns.rows import Row
from sally.analysis.columns.seat_table import seats_in
from sally.analysis.episodes.stores import measured_stores
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.depth_curve import depth_curve
from sally.analysis.profile.doing_scale import Mark
from sally.analysis.profile.ideal_scale import IdealRow, ideal_rows, without_pool
from sally.analysis.profile.literal_beside import (
    LITERAL,
    STRICT,
    literal_beside,
    strict_scores,
)
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.analysis.profile.selected_seats import known, select_seats
from sally.cli.common import STORE, say_bad
from sally.cli.comparing import plain
from sally.core.errors import listed, unknown
from sally.core.grouping import grouped
from sally.core.log.events import Episode
from sally.core.terminal_text import echo
from sally.output.figures import panels
from sally.output.figures.depth_curve import depth_figure
from sally.output.figures.ideal import ideal_figure
from sally.output.figures.profile import calibration_figure, profile_figure
from sally.output.files.bundle_reader import all_opened
from sally.output.tables.console import (
    PATH,
    estimate_cell,
    fitting,
    folded,
    json_option,
    print_json,
    print_page,
    print_table,
    print_text,
    progress,
)
from sally.output.tables.represented import by_question
from sally.output.tables.represented import say as say_probes
from sally.represent.results import read_results
from sally.stats.intervals import Estimate, blank_intervals
from sally.store import Where

ESTIMATES = {  # heading -> field of a row and decimal places
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
    "beyond habits": ("acting_beyond", 2),
    "beyond one move": ("acting_beyond_move", 2),
    "beyond repetition": ("acting_beyond_repetition", 2),
    "label bias": ("pooled_label_bias", 2),
    "position bias": ("pooled_position_bias", 2),
    "imitates %": ("pooled_imitation", 0),
    "copies %": ("pooled_copying", 0),
    "repeats %": ("pooled_repetition", 0),
    "inference": ("inference", 2),
    "translation": ("translation", 2),
    "format": ("format", 2),
    "luck": ("luck", 2),
}
QUIET = (
    "value_error",
    "brier_skill",
    "doing_most",
    "pooled_position_bias",
    "pooled_copying",
    "pooled_repetition",
)  # missing for the reason of another column
IF_LOST = ("at most", "format")  # shown only where moves were forfeited or episodes censored


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=STORE)
@click.option("--game", "games", multiple=True, help="Only this game; may be repeated.")
@click.option("--player", "players", multiple=True, help="Only this player; may be repeated.")
@click.option("--seat", default="", help="Only this seat, studied or not.")
@click.option("--cell", "cells", multiple=True, help="Only this cell; * stands for anything.")
@click.option("--by", type=click.Choice(["cell"]), help="One row per player and cell of the study.")
@click.option("--by-cell", is_flag=True, help="The same as --by cell.")
@click.option("--metric", "metrics", multiple=True, help="Only this column.")
@click.option("--page", default=1, show_default=True, help="Page of a long table.")
@click.option("--all", "every", is_flag=True, help="Print the full profile, however long.")
@click.option("--figure", type=PATH, help="Draw the profile: .svg, .pdf or .png.")
@click.option(
    "--calibration",
    type=PATH,
    help="Draw the calibration curves: .svg, .pdf or .png.",
)
@click.option(
    "--depth", "by_depth", is_flag=True, help="Print accuracy by certified depth, and pass^k."
)
@click.option(
    "--ideal",
    is_flag=True,
    help="Print knowing and regret beside the ideal observer and the Bayes-adaptive player.",
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
    figure: Path | None,
    calibration: Path | None,
    by_depth: bool,
    ideal: bool,
    as_json: bool,
) -> None:
    """Show what each player knew about the others, and how well it acted on it.

    Knowing is 0 for a uniform guess and 1 for perfect prediction. Doing is 0 for a random player
    and 1 for the optimum or the reference player, on the same instances, with the same random draws
    and the same other players. Baselines that the stores lack are played.
    """
    for path in filter(None, (figure, calibration)):
        panels.check(path)  # fail before the work rather than after it
    if by_depth or ideal:
        with all_opened(folders) as places:
            episodes = [e for place in places for e in store.load(place).episodes.values()]
        print_part = say_depths if by_depth else say_ideal
        print_part(episodes, games, players, figure, as_json)
        return
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
    )
    if figure:
        panels.write(profile_figure(rows), figure)
    if calibration:
        panels.write(calibration_figure(rows), calibration)
    if as_json:
        print_json(plain(rows))
        return
    if not metrics and (every or length(rows) <= ROOM):
        say(rows)
    else:
        say_brief(rows, metrics or BRIEF, page)
    say_literal(rows, folders)
    say_represented(folders)
    for path in filter(None, (figure, calibration)):
        echo(f"Written: {path}")


def say_literal(rows: Sequence[ProfileRow], folders: Sequence[Where]) -> None:
    """Print scores on a battery of literal theory-of-mind items beside knowing and doing, if the
    stores hold both."""
    kinds = {row.metric == LITERAL for row in rows}
    if kinds != {True, False}:
        return
    with all_opened(folders) as places:
        found = strict_scores([seats_in(place, (STRICT,)) for place in places])
    lines = [
        {
            "player": one.player,
            "game": one.game,
            "literal %": estimate_cell(one.literal.value, one.literal.interval, 0),
            "mindless %": estimate_cell(one.mindless, None, 0),
            "above": estimate_cell(one.above, None, 2),
            "strict %": estimate_cell(one.strict, one.strict_interval, 0),
            "knowing": estimate_cell(one.knowing.value, one.knowing.interval, 2),
            "doing": estimate_cell(one.doing.value, one.doing.interval, 2),
        }
        for one in literal_beside(rows, found)
    ]
    if lines:
        for names in fitting(lines, ["player", "game"], list(lines[0])[2:]):
            print_table(lines, ("player", "game", *names), title="literal beside knowing and doing")
        print_text(LITERAL_LEGEND)


LITERAL_LEGEND = (
    "literal %: right answers on the battery; mindless %: the best mindless player on the same "
    "items; above: 0 is that player, 1 all right; strict %: groups of items that are all "
    "right. No correlation across models is computed: it would need at least eight."
)


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
    """Print each player's accuracy at each depth of reasoning that problems are certified to
    require, with pass^k over repeats of a problem."""
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
        echo("No episode has a decision of a certified set; `sally audit GAME --depth` lists them.")
        return
    for game, seat in dict.fromkeys((point.game, point.seat) for point in points):
        there = [point for point in points if (point.game, point.seat) == (game, seat)]
        lines = []
        for point in there:
            most = max(point.pass_all)
            lines.append(
                {
                    "player": point.player,
                    "depth": point.depth,
                    "right": estimate_cell(point.right.value, point.right.interval),
                    "chance": point.chance,
                    "corrected": point.corrected,
                    "pass^k": f"{point.pass_all[most]:.2f} (k = {most})",
                    "n": point.right.n,
                }
            )
        columns = ("player", "depth", "right", "chance", "corrected", "pass^k", "n")
        print_table(lines, columns, title=f"{game}, seat {seat}, by certified depth")
    named = ((f"{p.player} in {p.game} at depth {p.depth}", p.right) for p in points)
    print_text(*blank_intervals(named))
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
    for game, seat in dict.fromkeys((row.game, row.seat) for row in rows):
        there = [row for row in rows if (row.game, row.seat) == (game, seat)]
        lines = [{"player": row.player, "n": row.episodes, **_ideal_cells(row)} for row in there]
        for names in fitting(lines, ["player", "n"], list(IDEAL_COLUMNS)):
            print_table(lines, ("player", "n", *names), title=f"{game}, seat {seat}")
        values = [f"{row.adaptive:.2f}" for row in there if row.adaptive is not None]
        if values:
            adaptive = " or ".join(dict.fromkeys(values))
            echo(f"The Bayes-adaptive player expects {adaptive} per {there[0].per} over the pool.")
        else:
            echo("Only predictions are compared: Bayes-adaptive play is not computed in this game.")
    print_text(IDEAL_LEGEND)


IDEAL_COLUMNS = {
    "right %": "pool_accuracy",
    "ideal %": "ideal_accuracy",
    "of ideal": "knowing_of_ideal",
    "earned": "earned",
    "pool regret": "pool_regret",
    "price": "price",
    "pool inference": "pool_inference",
    "pool translation": "pool_translation",
    "by moves": "by_moves",
    "pool luck": "pool_luck",
}
IDEAL_LEGEND = (
    "right %: of the predictions in rounds that were played; ideal %: of the ideal observer on the "
    "same questions; of ideal: 0 is an even guess, 1 the ideal observer. pool regret: "
    "best play against the known partner less what was earned = price (of finding out, which is "
    "unavoidable) + pool inference + pool translation + pool luck. by moves: inference + "
    "translation, known without predictions too."
)


def _ideal_cells(row: IdealRow) -> Row:
    found = {name: getattr(row, field) for name, field in IDEAL_COLUMNS.items()}
    return {name: estimate_cell(one.value, one.interval) for name, one in found.items()}


DEPTH_LEGEND = (
    "depth: reasoners of this depth answer the whole block, shallower ones are at chance. "
    "corrected: 0 is chance, 1 the whole block. pass^k: the chance that k repeats of one problem "
    "are all right. Forfeited decisions are wrong."
)


def profile_rows_of(
    folders: Sequence[Where],
    *,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    cells: Sequence[str] = (),
    by_cell: bool = False,
) -> list[ProfileRow]:
    """Return the profile rows of some stores. Mindless and reference players are played in the same
    settings, for comparison."""
    with progress() as bar, all_opened(folders) as places:
        task = bar.add_task("measure", total=None, note="")
        found = measured_stores(places, seat, lambda n: bar.update(task, completed=n))
        say_bad(found.bad)
        if found.episodes:
            known("seat in this store", [seat] if seat else [], found.seats)
        studied = select_seats(found.measured, games, players, seat, cells)
        del found  # frees the seats that are not studied, much memory with a million episodes
        task = bar.add_task("compare", total=None, note="mindless and reference players")
        ends = baselines(
            studied, by_cell, lambda done, all: bar.update(task, completed=done, total=all)
        )
    return profile_of(studied, ends, by_cell=by_cell)


# --- output --------------------------------------------------------------------------------------


def say(rows: Sequence[ProfileRow]) -> None:
    """Print a table per game and seat, its scale, and why values are missing."""
    groups = by_table(rows)
    for (game, seat, cell, part), group in groups.items():
        lines = [_line(row) for row in group]
        title = f"{game}, seat {seat}" + (f", cell {cell}" if cell else "")
        title += f", partners {part}" if part else ""
        first = counts(group)
        for names in fitting(lines, first, telling(group, lines)):
            print_table(lines, (*first, *names), title=title)
        print_text(*sentences(group))
        echo()
    print_text(LEGEND)


def by_table(rows: Sequence[ProfileRow]) -> dict[tuple[str, str, str, str], list[ProfileRow]]:
    """Return the rows of each table, by game, seat, cell and partners."""
    return grouped(rows, lambda row: (row.game, row.seat, row.cell, row.part))


def counts(group: Sequence[ProfileRow]) -> list[str]:
    """Return the headings of the first columns; `missing` is included only if a result is
    missing."""
    return ["player", "n", *(["missing"] if any(row.censored for row in group) else [])]


def telling(group: Sequence[ProfileRow], lines: Sequence[Row]) -> list[str]:
    """Return the columns that have a value in at least one of these rows."""
    lost = any(row.forfeits or row.censored for row in group)
    return [
        name
        for name in ESTIMATES
        if any(line[name] != "-" for line in lines) and (lost or name not in IF_LOST)
    ]


def length(rows: Sequence[ProfileRow]) -> int:
    """Return roughly how many lines the full profile takes."""
    found = len(folded(LEGEND).split("\n"))
    for group in by_table(rows).values():
        lines = [_line(row) for row in group]
        tables = len(fitting(lines, counts(group), telling(group, lines)))
        said = sum(len(folded(sentence).split("\n")) for sentence in sentences(group))
        found += tables * (len(lines) + 5) + said + 1
    return found


ROOM = 56  # lines up to which the full profile is printed
BRIEF = ("knowing %", "doing", "acts on it %", "knowing", "acting", "regret", "as scored")


def say_brief(rows: Sequence[ProfileRow], columns: Sequence[str], page: int) -> None:
    """Print one page of a table of all players, and the options that show the other pages."""
    keys = ["game", "seat", "cell", "part"]
    told = [key for key in keys if key == "game" or len({getattr(r, key) for r in rows}) > 1]
    ordered = sorted(rows, key=lambda r: (r.game, r.seat, r.cell, r.part, r.player))
    lines = [{key: getattr(row, key) for key in told} | _line(row) for row in ordered]
    kept = [name for name in columns if any(line[name] != "-" for line in lines)]
    shown = print_page(lines, [*told, "player"], kept or columns[:1], page, counts(rows)[1:])
    print_text(*shown.said("--game, --cell and --player"))
    print_text("--all prints the full profile: scales, losses, and why values are missing.")
    print_text(LEGEND)


LEGEND = (
    "knowing % and acts on it % pool all answers and moves of a row; `sally score` has means over "
    "episodes (ToM %, action_consistency). knowing: predictions about others, 0 for a uniform "
    "guess and 1 if all are correct; beyond "
    "rules: 0 for the best mindless rule. doing: 0 for a random player, 1 for the optimum or the "
    "reference, with forfeited moves as the rules score them (at most: at the best they could have "
    "earned). acts on it: moves that are best replies to the player's own prediction; acting: the "
    "same, 0 for a random choice; beyond habits: 0 for the habit that explains most of it (one "
    "label, one position, the predicted label, the other's last move), by exchanging moves between "
    "instances; beyond one move, beyond repetition: with always the same move, and with its own "
    "last move, among the habits. label bias, position bias: moves with the favourite label or "
    "position, 0 for a random choice, 1 for always; imitates: moves with the label that the player "
    "predicted; copies, repeats: with the label of the other's last move, of its own. inference, "
    "translation, format: payoff lost by wrong predictions, by not acting on them, by unreadable "
    "moves; luck: payoff that not acting on them happened to change. n: episodes with a result. "
    "After ±: 95% intervals."
)


def _line(row: ProfileRow) -> Row:
    results = row.episodes - row.censored
    line: dict[str, Any] = {"player": row.player, "n": results, "missing": row.censored}
    for heading, (field, places) in ESTIMATES.items():
        found = getattr(row, field)
        line[heading] = estimate_cell(found.value, found.interval, places)
    return line


def sentences(group: Sequence[ProfileRow]) -> list[str]:
    """Return sentences on the scale, the clusters, forfeited moves, and why values are missing."""
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
    for row in group:
        found += habit_sentences(row)
    return [*found, *_blanks(group)]


def habit_sentences(row: ProfileRow) -> list[str]:
    """Return sentences on a player's habits, and on what else explains its moves."""
    found = [f"{row.player} {row.called}"] if row.called else []
    if row.habit is not None and row.decides is not None and row.decides < 100:
        found.append(
            f"{row.player}: the best reply depends on the prediction in {row.decides:.0f} % of "
            "its moves"
        )
    return found


def _guess(group: Sequence[ProfileRow]) -> str:
    known = [row.guess for row in group if row.guess is not None]
    if not known:
        return "no seat was probed"
    rules = [row.predictor for row in group if row.predictor is not None]
    best = max(rules, key=lambda rule: rule.accuracy)
    said = f"the best mindless rule ('{best.rule}') up to {best.accuracy:.0f} %"
    return f"a guess is right in {sum(known) / len(known):.0f} %, {said}"


def _ends(marks: Sequence[Mark | None]) -> str:
    """Return a description of a baseline: its name, its mean, and the source of its episodes."""
    known = [mark for mark in marks if mark is not None]
    if not known:
        return ""
    mark = known[0]
    mean = sum(m.value for m in known) / len(known)
    role = f" ({mark.standing})" if mark.standing else ""
    told = f"{mark.player}{role}, {mean:.3g}"
    at = [m.doing for m in known if m.doing is not None]
    told += f" (doing {sum(at) / len(at):.2f})" if at else ""
    if mark.error is not None:
        return told + f", the mean of {mark.draws} draws (standard error {mark.error:.2g})"
    if not mark.stored and not mark.played:
        return told + ", computed"
    where = "from the store" if not mark.played else "played for this profile"
    return told + f", {where}"


def _blanks(group: Sequence[ProfileRow]) -> list[str]:
    """Return each reason for missing values once, with its columns and players."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in group:
        for heading, (field, _) in ESTIMATES.items():
            if field in row.why and field not in QUIET:
                reasons.setdefault(row.why[field], {}).setdefault(heading, []).append(row.player)
    found = []
    for why, columns in reasons.items():
        players = list(dict.fromkeys(p for some in columns.values() for p in some))
        who = "" if len(players) == len(group) else f" ({listed(players)})"
        found.append(f"missing {listed(columns)}{who}: {why}")
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
