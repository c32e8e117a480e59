"""`sally reproduce` and `sally audit`: compare published values with ours; audit a game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from sally.analysis.compare import published_figures as reference
from sally.analysis.compare.agreement import MARGIN, POWER, Verdict
from sally.analysis.design.adversary import MARGIN as ABOVE_CHANCE
from sally.analysis.design.adversary import QUESTIONS, run_attacks
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
from sally.cli.score import heading
from sally.core.errors import BadInput, join_names, unknown
from sally.core.registry import registry
from sally.core.rules.card import Condition
from sally.core.terminal_text import echo
from sally.output.figures.paper_figures import Picture, as_rows, draw
from sally.output.tables.console import (
    PATH,
    PLAYED,
    SEED,
    cell,
    console,
    estimate_cell,
    fit_groups,
    fitting,
    fold_text,
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
    type=PLAYED,
    help=f"Episodes played for each computed cell [{Effort().repeats}]; papers whose cells take "
    "minutes to compute show them only with this option.",
)
@click.option("--seed", default=1, type=SEED, show_default=True)
@json_option
def reproduce(
    *,
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
    name, _, table_name = paper.partition(":")
    effort = Effort(Effort().repeats if repeats is None else repeats, seed)
    reproduction = Reproduction(
        name, engine_of(name), episodes, model, effort, quick=repeats is None
    )
    if table_name and table_name not in reproduction.names:
        raise unknown(f"table or figure of {name}", table_name, reproduction.names)
    pictured = table_name in reproduction.engine.figures
    if figure_file is not None:
        _draw(reproduction, table_name if pictured else "", figure_file)
    rows = [] if pictured else reproduction.rows(table_name)
    pictures = (
        reproduction.pictures(table_name)
        if pictured
        else []
        if table_name
        else reproduction.pictures()
    )
    tables = dict.fromkeys(row.table for row in rows)
    grids = {table: _grid(reproduction, table, rows, exact) for table in tables}
    if table_file is not None:
        if pictured:
            raise BadInput(f"--out writes tables; {table_name} is a figure, use --figure FILE.")
        write_grids(list(grids.values()), table_file)
    if as_json:
        print_json(msgspec.to_builtins({"rows": rows, "figures": pictures}))
        return
    if not (table_name or ours or whole) and len(grids) > 1:
        _print_overview(reproduction, list(grids.values()), rows)
        return
    if ours:
        rows = [row for row in rows if row.ours is not None]
        tables = dict.fromkeys(row.table for row in rows)
        grids = {table: _grid(reproduction, table, rows, exact) for table in tables}
        if not rows:
            raise BadInput(
                f"No episodes of ours are stored yet; `{reproduction.command({})}` plays some."
            )
    for table, grid in grids.items():
        _print_grid(name, grid)
        _print_notes(reproduction, table, [row for row in rows if row.table == table], exact)
    if not ours:
        _print_pictures(reproduction, pictures, show_missing=pictured)
    print_text(*wording(name))
    if rows:
        print_text(verdict(rows))


def _print_overview(reproduction: Reproduction, grids: Sequence[Grid], rows: Sequence[Row]) -> None:
    """Print one line per table, what is missing, and the commands that show or fill the rest."""
    lines = []
    for grid in grids:
        table_rows = [row for row in rows if row.table == grid.name]
        judged = [row.verdict for row in table_rows if row.verdict is not None]
        lines.append(
            {
                "table": grid.name,
                "values": sum(row.published is not None for row in table_rows),
                "ours": sum(row.ours is not None for row in table_rows),
                "equivalent": judged.count("equivalent") if judged else None,
                "different": judged.count("different") if judged else None,
                "about": grid.caption.partition(". ")[0],
            }
        )
    room = console().width - max(len(grid.name) for grid in grids) - NUMBERS
    for line in lines:
        line["about"] = _shorten_caption(str(line["about"]), room)
    print_table(
        lines,
        ("table", "values", "ours", "equivalent", "different", "about"),
        title=reproduction.paper,
    )
    if figures := list(reproduction.engine.figures):
        few = len(figures) <= FIGURES
        print_text(f"Figures: {join_names(figures) if few else f'{figures[0]} to {figures[-1]}'}.")
    print_text(verdict(rows))
    print_text(*incomplete(rows), *missing(reproduction, rows), *wording(reproduction.paper))
    first = grids[0].name
    print_text(
        f"`sally reproduce {reproduction.paper}:{first}` prints one table, `--episodes DIR` takes "
        "our values from a store, `--ours` prints the rows with a value of ours, "
        "`--all` everything."
    )


FIGURES = 6  # figures that the overview names one by one
NUMBERS = 41  # characters beside the overview's first and last columns: counts and margins
CAPTION = 20  # the least characters of a caption in the overview


def _shorten_caption(caption: str, room: int) -> str:
    """Return a caption, shortened to fit on one line beside the other columns."""
    room = max(room, CAPTION)
    return caption if len(caption) <= room else caption[: room - 1].rstrip() + "…"


def _grid(reproduction: Reproduction, table: str, rows: Sequence[Row], exact: bool) -> Grid:
    table_rows = [row for row in rows if row.table == table]
    printed = reference.table(reproduction.published, table)
    return laid_out(table, printed, table_rows, reproduction.engine.layouts.get(table), exact)


def _print_grid(paper: str, grid: Grid) -> None:
    """Print a table in the paper's layout, split into parts that fit the terminal."""
    keys = [*grid.stubs, "data"]
    table = f"Table {grid.name}" if grid.name.isdigit() else grid.name
    for number, part in enumerate(_parts(grid)):
        lines = [line for line in grid.lines if any(line.cells[index] for index in part)]
        columns = {index: _heading(grid, index, first=index == part[0]) for index in part}
        rows, previous = [], None
        for line in lines:
            labels = fresh(line.labels, previous)
            previous = line.labels
            row = dict(zip(grid.stubs, labels, strict=True)) | {"data": line.data}
            rows.append(row | {title: line.cells[index] for index, title in columns.items()})
        subtitle = "continued" if number else grid.caption
        echo(fold_text(f"{paper}, {table}: {subtitle}"), bold=True)
        print_table(rows, (*keys, *columns.values()))


def _heading(grid: Grid, index: int, first: bool) -> str:
    """Return a column heading, with its group's heading above it if the group begins here."""
    if not any(grid.groups):
        return grid.headings[index]
    begins = first or grid.groups[index - 1] != grid.groups[index]
    return f"{grid.groups[index] if begins else ''}\n{grid.headings[index]}"


def _parts(grid: Grid) -> list[list[int]]:
    """Split the columns of a table into parts, each of which fits the terminal next to the row
    labels."""
    labels = [max(len(h), *(len(line.labels[index]) for line in grid.lines)) + 2
              for index, h in enumerate(grid.stubs)]  # fmt: skip
    widths = {}
    for index, title in enumerate(grid.headings):
        texts = (title, grid.groups[index], *(line.cells[index] for line in grid.lines))
        widths[index] = max(map(len, texts)) + 2
    return fit_groups(widths, console().width - sum(labels) - len(PUBLISHED) - 4)


def _print_notes(reproduction: Reproduction, table: str, rows: Sequence[Row], exact: bool) -> None:
    """Print notes on a table: conventions, suspect values, missing values and the reasons."""
    printed = reference.table(reproduction.published, table)
    if printed.note:
        print_text(f"note: {printed.note}")
    if exact and any(row.exact for row in rows):
        names = sorted({row.exact.metric for row in rows if row.exact})
        echo(f"our values use our own measures ({join_names(names)}), not those of the paper")
    if unprinted := sorted({row.target or "" for row in rows if _is_reference(row)}):
        sources = f"{unprinted[0]}" + (f" and {len(unprinted) - 1} more" if unprinted[1:] else "")
        print_text(f"reference: not printed in the paper; {sources}")
    if any(row.verdict is not None and not (exact and row.exact) for row in rows):
        echo(LEGEND)
    for figure in printed.rows:
        if figure.flag:
            conditions = " ".join(map(str, figure.row.values()))
            print_text(f"flagged: {conditions}, {figure.metric} {figure.value:g}: {figure.flag}")
    for row in rows:
        if row.note:
            conditions = " ".join(map(str, row.row.values()))
            print_text(f"ours: {conditions}, {row.metric}: {row.note}")
    sizes = sorted({row.n for row in rows if row.ours is not None and not row.computed})
    if sizes:
        size_range = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        echo(f"values from episodes have n = {size_range} each{_losses_clause(rows)}")
    print_text(*incomplete(rows), *undecided_lines(rows), *missing(reproduction, rows))


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


def undecided_lines(rows: Sequence[Row]) -> list[str]:
    """Return a list with one line that says which n would decide the undecided values, or an empty
    list if no value is undecided."""
    open_ = [row for row in rows if row.verdict == "undecided"]
    if not open_:
        return []
    sizes = sorted(row.needs for row in open_ if row.needs is not None)
    parts = []
    if sizes:
        size_range = f"n = {sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else "")
        parts.append(f"{len(sizes)} with {size_range} of ours (power {POWER:.0%})")
    if never := len(open_) - len(sizes):
        parts.append(f"{never} with no n of ours, because the printed error is too large")
    return [f"undecided: {len(open_)} values; it would decide " + ", ".join(parts)]


def _losses_clause(rows: Sequence[Row]) -> str:
    """Return a clause on censored episodes and forfeited moves, empty if there are none."""
    cut, forfeited = max(row.censored for row in rows), max(row.forfeited for row in rows)
    clauses = [
        f"up to {n} {label} per value"
        for n, label in ((cut, "censored episodes left out"), (forfeited, "forfeited moves"))
        if n
    ]
    return f"; {join_names(clauses)}" if clauses else ""


def missing(reproduction: Reproduction, rows: Sequence[Row]) -> list[str]:
    """Return one line per reason for missing values, with the command that would supply them."""
    reasons: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        if row.ours is None and row.missing is not None:
            brought = reproduction.brought(row.table, row.row) if row.run else None
            reasons.setdefault((row.missing, brought), []).append(row)
    lines, printed = [], sum(row.published is not None for row in rows)
    for (reason, brought), missing_rows in reasons.items():
        commands = list(dict.fromkeys(row.run for row in missing_rows if row.run))
        play = commands[0] if len(commands) == 1 else reproduction.command({})
        remedy = f"; `{brought}` imports them" if brought else f"; `{play}` plays them"
        label = NOT_RUN if reason == NOT_RUN else f"missing ({reason})"
        models = reproduction.other_models(missing_rows) if reason == NOT_RUN else []
        note = (
            f" of models other than {join_names(models)}, whose values have rows of their own"
            * bool(models)
        )
        lines.append(
            f"{label}: {len(missing_rows)} of {printed} values{note}{remedy if commands else ''}"
        )
    return lines


def _print_pictures(
    reproduction: Reproduction, pictures: Sequence[Picture], show_missing: bool
) -> None:
    """Print the data behind a paper's plots; if data are missing, print one line for each
    reason."""
    for picture in pictures:
        if picture.missing is not None and not show_missing:
            continue
        for panel in picture.panels:
            rows, columns = as_rows(picture, panel)
            title = f"{reproduction.paper}, {picture.name}: {picture.title} [{picture.y}]. {panel}"
            for names in fitting(rows, columns[:1], columns[1:]):
                echo(fold_text(title), bold=True)
                print_table(rows, (columns[0], *names))
        if picture.note:
            print_text(f"note: {picture.note}")
    blanks: dict[tuple[str, str], list[str]] = {}
    for picture in pictures:
        if picture.missing is not None:
            brought = reproduction.brought(picture.name, {})
            play = f"`{reproduction.command({}, picture.study)}` plays them"
            remedy = f"`{brought}` imports them" if brought else play
            blanks.setdefault((picture.missing, remedy), []).append(picture.name)
    for (reason, remedy), names in blanks.items():
        print_text(f"{reason}: {join_names(names)}; {remedy}")


def _draw(reproduction: Reproduction, figure_name: str, path: Path) -> None:
    if not figure_name:
        figure_list = (
            join_names(reproduction.engine.figures) if reproduction.engine.figures else "none"
        )
        raise BadInput(
            f"--figure draws one figure; name it as {reproduction.paper}:FIGURE. The figures are "
            f"{figure_list}."
        )
    (picture,) = reproduction.pictures(figure_name)
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
    missing_text = f"; {missing} are missing" if missing else ""
    values = [row.verdict for row in rows if row.verdict is not None]
    lines = line_verdicts(rows)
    if not values:
        return f"No value is tested{missing_text}."
    summary = f"Of {len(values)} tested values {_verdict_counts(values)}{missing_text}."
    if len(lines) < len(values):
        summary += f" Of {len(lines)} lines, all values together, {_verdict_counts(lines)}."
    return summary


def _verdict_counts(verdicts: Sequence[Verdict]) -> str:
    return join_names([f"{verdicts.count(v)} {text} ({SIGNS[v]})" for v, text in _VERDICTS.items()])


@click.command(cls=WithViews)
@click.argument("game")
@click.option(
    "--episodes", type=PLAYED, help="Episodes per condition and player [as on the card, or 100]."
)
@click.option("--seed", default=1, type=SEED, show_default=True)
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
@click.option(
    "--count",
    default=100,
    type=PLAYED,
    show_default=True,
    help="With --pairs: pairs of each order.",
)
@click.option(
    "--questions",
    default=QUESTIONS,
    type=PLAYED,
    show_default=True,
    help="New questions per attack.",
)
@click.option("--all", "whole", is_flag=True, help="Print every player instead of the extremes.")
@click.option(
    "--items",
    type=PATH,
    help="Audit this file of items (`sally import bigtom`, ...) instead.",
)
@json_option
def audit(
    *,
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
        condition_rows = _audit_condition(
            condition, f"{game}, {n} of {len(conditions)}", episodes, seed
        )
        rows += condition_rows
        if whole and not as_json:  # each is printed as soon as it is known
            _print_condition(condition_rows, condition.name)
    if as_json:
        print_json(rows)
        return
    away = off_chance(game, rows)
    if not whole:
        _print_extremes(game, rows)
    for row in away if whole else away[:AWAY]:
        subject = f"{row['condition']}, {row['player']}, {row['metric']}"
        value = estimate_cell(row["value"], row["interval"])
        print_text(f"away from chance: {subject}: {value}")
    print_text(*without_intervals(rows))
    if away:
        share_text = f"{len(away)} of {len(rows)} rows are away from chance"
        echo(f"{share_text}; one in twenty is expected by chance.")
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
    for (condition, metric), group_rows in groups.items():
        random = next((row for row in group_rows if row["player"] == RANDOM), None)
        low, high = (
            extreme(group_rows, key=lambda row: float(row["value"])) for extreme in (min, max)
        )
        lines.append(
            {
                "condition": condition.removeprefix(f"{game}: "),
                "metric": heading(metric),
                "random": None if random is None else estimate_cell(random["value"], None),
                "lowest": f"{estimate_cell(low['value'], None)} {low['player']}",
                "highest": f"{estimate_cell(high['value'], None)} {high['player']}",
            }
        )
    previous: str | None = ""
    for line in lines:
        label = line["condition"]
        line["condition"] = "" if label == previous else label
        previous = label
    names = ("condition", "metric", "random", "lowest", "highest")
    print_table(lines, names, title=f"{game}: scores of {_players(rows)} mindless players")


RANDOM = "random"


def _players(rows: Sequence[dict[str, Any]]) -> int:
    return len({row["player"] for row in rows})


def _audit_condition(
    condition: Condition, name: str, episodes: int, seed: int
) -> list[dict[str, Any]]:
    """Return the audit's rows for one condition, and show a progress bar meanwhile."""
    with progress() as bar:
        task = bar.add_task(f"audit {name}", total=None, note=condition.name)

        def watch(done: int, total: int) -> None:
            bar.update(task, total=total, completed=done)

        return audit_of((condition,), episodes, seed, watch)


def _say_items(game: str, file: Path, as_json: bool) -> None:
    """Print the scores of mindless rules on a file of items, and which answer keys are wrong."""
    audit_items = registry.part(game, "audit")
    if audit_items is None:
        raise BadInput(f"{game} has no items; --items belongs to a game that imports them.")
    audit_result = audit_items(file)
    if as_json:
        print_json(msgspec.to_builtins(audit_result))
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
        for line in audit_result.lines
    ]
    columns = ("items", "n", "chance", "best rule", "rule", "blind", "page")
    print_table(rows, columns, title=f"{file.name}: per cent right without a mind")
    echo(
        f"{audit_result.items} items of {audit_result.stories} stories; {audit_result.not_scored} "
        f"are not scored; "
        f"{audit_result.differ} keys differ from a published one."
    )
    for flag, count in audit_result.flags.items():
        echo(f"flagged: {flag}: {count}")
    for name, value in audit_result.strict.items():
        print_text(f"best strict score, {name}: {value:.1f}")
    for note in audit_result.notes:
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
    results = run_attacks(game, questions, seed)
    if as_json:
        print_json(
            [{**msgspec.structs.asdict(result), "leaks": result.leaks} for result in results]
        )
        return
    for attack in dict.fromkeys(result.attack for result in results):
        rows = [result for result in results if result.attack == attack]
        lines = [
            {
                "attacker": result.attacker,
                "questions": result.questions,
                "right": estimate_cell(result.accuracy, result.interval),
                "chance": cell(result.chance),
                "n": result.n,
                "rule": result.words,
            }
            for result in rows
        ]
        names = ("attacker", "questions", "right", "chance", "n", "rule")
        print_table(lines, names, title=attack)
        for note in (rows[0].reasoning, rows[0].known):
            if note:
                echo(f"may beat chance: {note}.")
    bad = [
        result for result in results if result.leaks and not result.reasoning and not result.known
    ]
    for result in bad:
        echo(
            f"leaks: {result.attack}, {result.questions}, {result.attacker} {result.words}".rstrip()
        )
    echo(f"{len(bad)} of {len(results)} attackers are above chance by more than {ABOVE_CHANCE:g}.")


def _print_condition(rows: list[dict[str, Any]], condition: str) -> None:
    lines: dict[str, dict[str, Any]] = {}
    for row in rows:
        line = lines.setdefault(row["player"], {"player": row["player"], "n": row["episodes"]})
        line[heading(row["metric"])] = estimate_cell(row["value"], row["interval"])
    metrics = list(dict.fromkeys(heading(row["metric"]) for row in rows))
    for names in fitting(list(lines.values()), ["player", "n"], metrics):
        print_table(lines.values(), ("player", *names, "n"), title=condition)
