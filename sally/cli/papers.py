"""`sally reproduce` and `sally audit`: compare published values with ours; audit a game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from sally.analysis.compare import published as reference
from sally.analysis.compare.agreement import MARGIN, POWER, Verdict
from sally.analysis.design.adversary import MARGIN as ABOVE_CHANCE
from sally.analysis.design.adversary import QUESTIONS, attacked
from sally.analysis.design.audit import (
    audit_of,
    card_of,
    conditions_of,
    off_chance,
    without_intervals,
)
from sally.analysis.design.checklist import checklist as checked_off
from sally.analysis.design.depth import depth_table, depths_of
from sally.api.studies import find_study
from sally.cli.audit_pairs import print_pair_audit
from sally.cli.common import STORE
from sally.cli.group import WithViews
from sally.cli.scoring import heading
from sally.core.errors import BadInput, listed, unknown
from sally.core.registry import registry
from sally.core.rules.card import Condition
from sally.core.terminal_text import echo
from sally.output.figures.paper_figures import Picture, as_rows, draw
from sally.output.tables.console import (
    PATH,
    cell,
    console,
    estimate_cell,
    fitting,
    folded,
    json_option,
    print_json,
    print_table,
    print_text,
    progress,
)
from sally.output.tables.grid_files import fresh, write_grids
from sally.output.tables.layout import LEGEND, PUBLISHED, SIGNS, Grid, is_printed, laid_out
from sally.output.tables.reproduce import (
    NOT_RUN,
    Effort,
    Reproduction,
    Row,
    engine_of,
    line_verdicts,
)
from sally.store import Where


@click.command()
@click.argument("paper", metavar="PAPER[:TABLE]")
@click.option(
    "--episodes",
    type=STORE,
    help="Store with episodes for the rows that need played games.",
)
@click.option("--model", help="Model whose episodes are compared with the published models.")
@click.option("--exact", is_flag=True, help="Show our exact measures instead of the paper's own.")
@click.option("--ours", is_flag=True, help="Print only the rows that have a value of ours.")
@click.option("--all", "whole", is_flag=True, help="Print every table instead of an overview.")
@click.option(
    "--out",
    "table_file",
    type=PATH,
    help="Write the tables to a .tex or .csv file.",
)
@click.option(
    "--figure",
    "figure_file",
    type=PATH,
    help="Draw the figure PAPER:FIGURE to an .svg, .pdf or .png file.",
)
@click.option(
    "--repeats",
    type=int,
    help=f"Episodes played for each computed cell [{Effort().repeats}]; papers whose cells take "
    "minutes to compute show them only with this option.",
)
@click.option("--seed", default=1, show_default=True)
@json_option
def reproduce(
    paper: str,
    episodes: Where | None,
    model: str | None,
    exact: bool,
    ours: bool,
    whole: bool,
    table_file: Path | None,
    figure_file: Path | None,
    repeats: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Print the tables of a paper, published values beside ours.

    PAPER alone prints an overview of its tables: what is available, what agrees, and what is
    missing.
    """
    name, _, wanted = paper.partition(":")
    effort = Effort(Effort().repeats if repeats is None else repeats, seed)
    found = Reproduction(name, engine_of(name), episodes, model, effort, quick=repeats is None)
    if wanted and wanted not in found.names:
        raise unknown(f"table or figure of {name}", wanted, found.names)
    pictured = wanted in found.engine.figures
    if figure_file is not None:
        _draw(found, wanted if pictured else "", figure_file)
    rows = [] if pictured else found.rows(wanted)
    pictures = found.pictures(wanted) if pictured else [] if wanted else found.pictures()
    tables = dict.fromkeys(row.table for row in rows)
    grids = {each: _grid(found, each, rows, exact) for each in tables}
    if table_file is not None:
        if pictured:
            raise BadInput(f"--out writes tables; {wanted} is a figure, use --figure FILE.")
        write_grids(list(grids.values()), table_file)
    if as_json:
        print_json(msgspec.to_builtins({"rows": rows, "figures": pictures}))
        return
    if not (wanted or ours or whole) and len(grids) > 1:
        _print_overview(found, list(grids.values()), rows)
        return
    if ours:
        rows = [row for row in rows if row.ours is not None]
        tables = dict.fromkeys(row.table for row in rows)
        grids = {each: _grid(found, each, rows, exact) for each in tables}
        if not rows:
            raise BadInput(f"No episodes of ours are stored yet; `{found.command({})}` plays some.")
    for each, grid in grids.items():
        _print_grid(name, grid)
        _print_notes(found, each, [row for row in rows if row.table == each], exact)
    if not ours:
        _print_pictures(found, pictures, asked=pictured)
    print_text(*wording(name))
    if rows:
        print_text(verdict(rows))


def _print_overview(found: Reproduction, grids: Sequence[Grid], rows: Sequence[Row]) -> None:
    """Print one line per table, what is missing, and the commands that show or fill the rest."""
    lines = []
    for grid in grids:
        mine = [row for row in rows if row.table == grid.name]
        judged = [row.verdict for row in mine if row.verdict is not None]
        lines.append(
            {
                "table": grid.name,
                "values": sum(row.published is not None for row in mine),
                "ours": sum(row.ours is not None for row in mine),
                "equivalent": judged.count("equivalent") if judged else None,
                "different": judged.count("different") if judged else None,
                "about": grid.caption.partition(". ")[0],
            }
        )
    room = console().width - max(len(grid.name) for grid in grids) - NUMBERS
    for each in lines:
        each["about"] = _shortened(str(each["about"]), room)
    print_table(
        lines, ("table", "values", "ours", "equivalent", "different", "about"), title=found.paper
    )
    if figures := list(found.engine.figures):
        few = len(figures) <= FIGURES
        print_text(f"Figures: {listed(figures) if few else f'{figures[0]} to {figures[-1]}'}.")
    print_text(verdict(rows))
    print_text(*incomplete(rows), *missing(found, rows), *wording(found.paper))
    first = grids[0].name
    print_text(
        f"`sally reproduce {found.paper}:{first}` prints one table, `--episodes DIR` takes "
        "our values from a store, `--ours` prints the rows with a value of ours, "
        "`--all` everything."
    )


FIGURES = 6  # figures that the overview names one by one
NUMBERS = 41  # characters beside the overview's first and last columns: counts and margins
CAPTION = 20  # the least characters of a caption in the overview


def _shortened(caption: str, room: int) -> str:
    """Return a caption, shortened to fit on one line beside the other columns."""
    room = max(room, CAPTION)
    return caption if len(caption) <= room else caption[: room - 1].rstrip() + "…"


def _grid(found: Reproduction, table: str, rows: Sequence[Row], exact: bool) -> Grid:
    mine = [row for row in rows if row.table == table]
    printed = reference.table(found.published, table)
    return laid_out(table, printed, mine, found.engine.layouts.get(table), exact)


def _print_grid(paper: str, grid: Grid) -> None:
    """Print a table in the paper's layout, split into parts that fit the terminal."""
    keys = [*grid.stubs, "data"]
    table = f"Table {grid.name}" if grid.name.isdigit() else grid.name
    for number, part in enumerate(_parts(grid)):
        lines = [line for line in grid.lines if any(line.cells[at] for at in part)]
        columns = {at: _heading(grid, at, first=at == part[0]) for at in part}
        rows, before = [], None
        for line in lines:
            labels = fresh(line.labels, before)
            before = line.labels
            row = dict(zip(grid.stubs, labels, strict=True)) | {"data": line.data}
            rows.append(row | {shown: line.cells[at] for at, shown in columns.items()})
        what = "continued" if number else grid.caption
        echo(folded(f"{paper}, {table}: {what}"), bold=True)
        print_table(rows, (*keys, *columns.values()))


def _heading(grid: Grid, at: int, first: bool) -> str:
    """Return a column heading, with its group's heading above it if the group begins here."""
    if not any(grid.groups):
        return grid.headings[at]
    begins = first or grid.groups[at - 1] != grid.groups[at]
    return f"{grid.groups[at] if begins else ''}\n{grid.headings[at]}"


def _parts(grid: Grid) -> list[list[int]]:
    """Split the columns of a table into parts, each of which fits the terminal next to the row
    labels."""
    labels = [max(len(h), *(len(line.labels[at]) for line in grid.lines)) + 2
              for at, h in enumerate(grid.stubs)]  # fmt: skip
    room = left = console().width - sum(labels) - len(PUBLISHED) - 4
    parts: list[list[int]] = [[]]
    for at, shown in enumerate(grid.headings):
        texts = (shown, grid.groups[at], *(line.cells[at] for line in grid.lines))
        widest = max(map(len, texts)) + 2
        if parts[-1] and widest > left:
            parts.append([])
            left = room
        parts[-1].append(at)
        left -= widest
    return parts


def _print_notes(found: Reproduction, table: str, rows: Sequence[Row], exact: bool) -> None:
    """Print notes on a table: conventions, suspect values, missing values and the reasons."""
    printed = reference.table(found.published, table)
    if printed.note:
        print_text(f"note: {printed.note}")
    if exact and any(row.exact for row in rows):
        names = sorted({row.exact.metric for row in rows if row.exact})
        echo(f"our values use our own measures ({listed(names)}), not those of the paper")
    if unprinted := sorted({row.target or "" for row in rows if _is_reference(row)}):
        shown = f"{unprinted[0]}" + (f" and {len(unprinted) - 1} more" if unprinted[1:] else "")
        print_text(f"reference: not printed in the paper; {shown}")
    if any(row.verdict is not None and not (exact and row.exact) for row in rows):
        echo(LEGEND)
    for figure in printed.rows:
        if figure.flag:
            where = " ".join(map(str, figure.row.values()))
            print_text(f"flagged: {where}, {figure.metric} {figure.value:g}: {figure.flag}")
    for row in rows:
        if row.note:
            where = " ".join(map(str, row.row.values()))
            print_text(f"ours: {where}, {row.metric}: {row.note}")
    sizes = sorted({row.n for row in rows if row.ours is not None and not row.computed})
    if sizes:
        many = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        echo(f"values from episodes have n = {many} each{_lost(rows)}")
    print_text(*incomplete(rows), *undecided(rows), *missing(found, rows))


def _is_reference(row: Row) -> bool:
    return row.published is not None and not is_printed(row)


def wording(paper: str) -> list[str]:
    """Return a list with one line on the origin of the prompts' wording if the paper prompted
    models, else an empty list."""
    if not registry.paper(paper).prompts:
        return []
    return [
        f"our wording: models get Sally's prompts, not the paper's; `sally paper packs {paper}` "
        "makes a pack for the paper's own text."
    ]


def incomplete(rows: Sequence[Row]) -> list[str]:
    """Return a list with one line of warning if the store holds only some of the games of a
    published record, else an empty list."""
    counts = [row for row in rows if row.metric == "games" and row.method == "count"]
    few = [(row.ours, row.published) for row in counts if row.ours and row.published]
    if not any(ours < published for ours, published in few):
        return []
    ours, published = max(few, key=lambda pair: pair[1])
    return [
        f"incomplete: the store holds {ours:g} of the record's {published:g} games, so counts "
        "differ; import the whole record to compare them."
    ]


def undecided(rows: Sequence[Row]) -> list[str]:
    """Return a list with one line that says which n would decide the undecided values, or an empty
    list if no value is undecided."""
    open_ = [row for row in rows if row.verdict == "undecided"]
    if not open_:
        return []
    sizes = sorted(row.needs for row in open_ if row.needs is not None)
    parts = []
    if sizes:
        many = f"n = {sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else "")
        parts.append(f"{len(sizes)} with {many} of ours (power {POWER:.0%})")
    if never := len(open_) - len(sizes):
        parts.append(f"{never} with no n of ours, because the printed error is too large")
    return [f"undecided: {len(open_)} values; it would decide " + ", ".join(parts)]


def _lost(rows: Sequence[Row]) -> str:
    """Return a clause on censored episodes and forfeited moves, empty if there are none."""
    cut, forfeited = max(row.censored for row in rows), max(row.forfeited for row in rows)
    said = [
        f"up to {n} {what} per value"
        for n, what in ((cut, "censored episodes left out"), (forfeited, "forfeited moves"))
        if n
    ]
    return f"; {listed(said)}" if said else ""


def missing(found: Reproduction, rows: Sequence[Row]) -> list[str]:
    """Return one line per reason for missing values, with the command that would supply them."""
    reasons: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        if row.ours is None and row.missing is not None:
            brought = found.brought(row.table, row.row) if row.run else None
            reasons.setdefault((row.missing, brought), []).append(row)
    said, printed = [], sum(row.published is not None for row in rows)
    for (why, brought), mine in reasons.items():
        commands = list(dict.fromkeys(row.run for row in mine if row.run))
        play = commands[0] if len(commands) == 1 else found.command({})
        how = f"; `{brought}` imports them" if brought else f"; `{play}` plays them"
        label = NOT_RUN if why == NOT_RUN else f"missing ({why})"
        other = found.other_models(mine) if why == NOT_RUN else []
        note = f" of models other than {listed(other)}, whose values have rows of their own" * bool(
            other
        )
        said.append(f"{label}: {len(mine)} of {printed} values{note}{how if commands else ''}")
    return said


def _print_pictures(found: Reproduction, pictures: Sequence[Picture], asked: bool) -> None:
    """Print the data behind a paper's plots; if data are missing, print one line for each
    reason."""
    for picture in pictures:
        if picture.missing is not None and not asked:
            continue
        for panel in picture.panels:
            rows, columns = as_rows(picture, panel)
            title = f"{found.paper}, {picture.name}: {picture.title} [{picture.y}]. {panel}"
            for names in fitting(rows, columns[:1], columns[1:]):
                echo(folded(title), bold=True)
                print_table(rows, (columns[0], *names))
        if picture.note:
            print_text(f"note: {picture.note}")
    blanks: dict[tuple[str, str], list[str]] = {}
    for picture in pictures:
        if picture.missing is not None:
            brought = found.brought(picture.name, {})
            play = f"`{found.command({}, picture.study)}` plays them"
            how = f"`{brought}` imports them" if brought else play
            blanks.setdefault((picture.missing, how), []).append(picture.name)
    for (why, how), names in blanks.items():
        print_text(f"{why}: {listed(names)}; {how}")


def _draw(found: Reproduction, wanted: str, path: Path) -> None:
    if not wanted:
        known = listed(found.engine.figures) if found.engine.figures else "none"
        raise BadInput(
            f"--figure draws one figure; name it as {found.paper}:FIGURE. The figures are {known}."
        )
    (picture,) = found.pictures(wanted)
    draw(picture, path)


_VERDICTS: dict[Verdict, str] = {
    "equivalent": f"are equivalent within {MARGIN:.0%}",
    "different": "are different",
    "undecided": "are undecided",
}


def verdict(rows: Sequence[Row]) -> str:
    """Return sentences on how many values, and how many table rows, are equivalent, different or
    undecided."""
    missing = sum(row.ours is None for row in rows)
    rest = f"; {missing} are missing" if missing else ""
    values = [row.verdict for row in rows if row.verdict is not None]
    lines = line_verdicts(rows)
    if not values:
        return f"No value is tested{rest}."
    said = f"Of {len(values)} tested values {_counted(values)}{rest}."
    if len(lines) < len(values):
        said += f" Of {len(lines)} lines, all values together, {_counted(lines)}."
    return said


def _counted(found: Sequence[Verdict]) -> str:
    return listed([f"{found.count(v)} {text} ({SIGNS[v]})" for v, text in _VERDICTS.items()])


@click.command(cls=WithViews)
@click.argument("game")
@click.option(
    "--episodes", type=int, help="Episodes per condition and player [as on the card, or 100]."
)
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--adversary",
    is_flag=True,
    help="Train shallow learners to guess the answers from surface features.",
)
@click.option(
    "--depth",
    "by_depth",
    is_flag=True,
    help="Print how often reasoners of depth 0, 1, 2, ... are right on the stored problem sets.",
)
@click.option(
    "--checklist",
    is_flag=True,
    help="GAME is a study: print its reporting checklist.",
)
@click.option("--pairs", is_flag=True, help="Check the certificate of the game's pairs.")
@click.option("--count", default=100, show_default=True, help="With --pairs: pairs of each order.")
@click.option("--questions", default=QUESTIONS, show_default=True, help="New questions per attack.")
@click.option("--all", "whole", is_flag=True, help="Print every player instead of the extremes.")
@click.option(
    "--items",
    type=PATH,
    help="Audit this file of items (`sally import bigtom`, ...) instead.",
)
@json_option
def audit(
    game: str,
    episodes: int | None,
    seed: int,
    adversary: bool,
    by_depth: bool,
    checklist: bool,
    pairs: bool,
    count: int,
    questions: int,
    whole: bool,
    items: Path | None,
    as_json: bool,
) -> None:
    """Measure what mindless players score in a game.

    Mindless players follow simple rules or their inverses. With --checklist, GAME is a study (a
    name or a TOML file). With --pairs, the certificate of the game's pairs is checked; --adversary
    then trains learners on as many other pairs.
    """
    if items is not None:
        _say_items(game, items, as_json)
        return
    if checklist:
        say_checklist(game, as_json)
        return
    if by_depth:
        _say_depths(game, as_json)
        return
    if pairs:
        print_pair_audit(game, count, seed, adversary, as_json)
        return
    if adversary:
        _attack(game, questions, seed, as_json)
        return
    rows: list[dict[str, Any]] = []
    conditions = conditions_of(game)
    episodes = card_of(game).episodes if episodes is None else episodes
    for n, condition in enumerate(conditions, 1):
        found = _audited(condition, f"{game}, {n} of {len(conditions)}", episodes, seed)
        rows += found
        if whole and not as_json:  # each is printed as soon as it is known
            _print_condition(found, condition.name)
    if as_json:
        print_json(rows)
        return
    away = off_chance(game, rows)
    if not whole:
        _print_extremes(game, rows)
    for row in away if whole else away[:AWAY]:
        where = f"{row['condition']}, {row['player']}, {row['metric']}"
        value = estimate_cell(row["value"], row["interval"])
        print_text(f"away from chance: {where}: {value}")
    print_text(*without_intervals(rows))
    if away:
        many = f"{len(away)} of {len(rows)} rows are away from chance"
        echo(f"{many}; one in twenty is expected by chance.")
    if not whole:
        echo("--all prints every player in every condition; --json prints the rows as data.")


AWAY = 5  # rows away from chance that the overview names


def _print_extremes(game: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print, for each condition and metric, the scores of the random player and of two extremes.

    The extremes are the mindless players with the lowest and the highest score.
    """
    lines = []
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["value"] is not None:
            groups.setdefault((row["condition"], row["metric"]), []).append(row)
    for (condition, metric), mine in groups.items():
        random = next((row for row in mine if row["player"] == RANDOM), None)
        low, high = (each(mine, key=lambda row: float(row["value"])) for each in (min, max))
        lines.append(
            {
                "condition": condition.removeprefix(f"{game}: "),
                "metric": heading(metric),
                "random": None if random is None else estimate_cell(random["value"], None),
                "lowest": f"{estimate_cell(low['value'], None)} {low['player']}",
                "highest": f"{estimate_cell(high['value'], None)} {high['player']}",
            }
        )
    before: str | None = ""
    for line in lines:
        named = line["condition"]
        line["condition"] = "" if named == before else named
        before = named
    names = ("condition", "metric", "random", "lowest", "highest")
    print_table(lines, names, title=f"{game}: scores of {_players(rows)} mindless players")


RANDOM = "random"


def _players(rows: Sequence[dict[str, Any]]) -> int:
    return len({row["player"] for row in rows})


def _audited(condition: Condition, name: str, episodes: int, seed: int) -> list[dict[str, Any]]:
    """Return the audit's rows for one condition, and show a progress bar meanwhile."""
    with progress() as bar:
        task = bar.add_task(f"audit {name}", total=None, note=condition.name)

        def watch(done: int, wanted: int) -> None:
            bar.update(task, total=wanted, completed=done)

        return audit_of((condition,), episodes, seed, watch)


def _say_items(game: str, file: Path, as_json: bool) -> None:
    """Print the scores of mindless rules on a file of items, and which answer keys are wrong."""
    audit_items = registry.part(game, "audit")
    if audit_items is None:
        raise BadInput(f"{game} has no items; --items belongs to a game that imports them.")
    found = audit_items(file)
    if as_json:
        print_json(msgspec.to_builtins(found))
        return
    rows = [
        {
            "items": line.group,
            "n": line.items,
            "chance": line.chance,
            "best rule": line.best,
            "rule": line.rule,
            "blind": "-" if line.blind is None else line.blind,
            "page": "-" if line.page is None else line.page,
        }
        for line in found.lines
    ]
    columns = ("items", "n", "chance", "best rule", "rule", "blind", "page")
    print_table(rows, columns, title=f"{file.name}: per cent right without a mind")
    echo(
        f"{found.items} items of {found.stories} stories; {found.not_scored} are not scored; "
        f"{found.differ} keys differ from a published one."
    )
    for flag, many in found.flags.items():
        echo(f"flagged: {flag}: {many}")
    for name, value in found.strict.items():
        print_text(f"best strict score, {name}: {value:.1f}")
    for note in found.notes:
        print_text(f"{note}.")
    print_text(ITEMS_LEGEND)


ITEMS_LEGEND = (
    "The rules were written after looking at the published items and are scored on the same items; "
    "the best of a dozen is too high by luck on small groups. blind: a logistic model on the words "
    "and lengths of question and options, which never reads the story; page: the same with the "
    "words of the story and their positions; five folds by story, neither tuned. Strict scores "
    "count items that stand or fall together, and leave flagged items out."
)


def say_checklist(study: str, as_json: bool) -> None:
    """Print what a study reports and what it lacks, point by point."""
    items = checked_off(find_study(study))
    if as_json:
        print_json(msgspec.to_builtins(items))
        return
    for item in items:
        echo(item.point, bold=True)
        for line in item.said:
            print_text(f"  has: {line}.")
        for line in item.missing:
            print_text(f"  missing: {line}.")
    lacking = [item.point for item in items if item.missing]
    print_text(f"{len(items) - len(lacking)} of {len(items)} points are complete.")


def _say_depths(game: str, as_json: bool) -> None:
    """Print the depth table of a game: how often reasoners of each depth are right."""
    rows = depth_table(game)
    if as_json:
        print_json(rows)
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    ordered = [c for c in columns if c not in ("block", "depths")] + ["block", "depths"]
    print_table(rows, ordered, title=f"{game}: share right by depth of reasoning")
    declared = depths_of(game)
    print_text(f"Reasoners: {declared.about}.")
    print_text("block: the depth of the shallowest reasoner that solves the whole set.")
    print_text("depths: scenarios by the smallest depth from which on answers are right.")
    print_text(*declared.notes)


def _attack(game: str, questions: int, seed: int, as_json: bool) -> None:
    """Print the accuracy of shallow learners on surface features, compared with chance."""
    found = attacked(game, questions, seed)
    if as_json:
        print_json([{**msgspec.structs.asdict(one), "leaks": one.leaks} for one in found])
        return
    for attack in dict.fromkeys(one.attack for one in found):
        rows = [one for one in found if one.attack == attack]
        lines = [
            {
                "attacker": one.attacker,
                "questions": one.questions,
                "right": estimate_cell(one.accuracy, one.interval),
                "chance": cell(one.chance),
                "n": one.n,
                "rule": one.words,
            }
            for one in rows
        ]
        names = ("attacker", "questions", "right", "chance", "n", "rule")
        print_table(lines, names, title=attack)
        for note in (rows[0].reasoning, rows[0].known):
            if note:
                echo(f"may beat chance: {note}.")
    bad = [one for one in found if one.leaks and not one.reasoning and not one.known]
    for one in bad:
        echo(f"leaks: {one.attack}, {one.questions}, {one.attacker} {one.words}".rstrip())
    echo(f"{len(bad)} of {len(found)} attackers are above chance by more than {ABOVE_CHANCE:g}.")


def _print_condition(rows: list[dict[str, Any]], condition: str) -> None:
    lines: dict[str, dict[str, Any]] = {}
    for row in rows:
        line = lines.setdefault(row["player"], {"player": row["player"], "n": row["episodes"]})
        line[heading(row["metric"])] = estimate_cell(row["value"], row["interval"])
    metrics = list(dict.fromkeys(heading(row["metric"]) for row in rows))
    for names in fitting(list(lines.values()), ["player", "n"], metrics):
        print_table(lines.values(), ("player", *names, "n"), title=condition)
