"""`sally export`: write rows and figures of stores to files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from sally import store
from sally.adapters.importers import table_export as rounds
from sally.analysis.columns.rows import decision_rows, episode_rows
from sally.analysis.episodes.stores import each_once
from sally.cli.common import STORE
from sally.cli.comparing import unreadable
from sally.cli.profiling import profile_rows_of
from sally.core.terminal_text import echo
from sally.output.figures import profile as figures
from sally.output.files import export as tables
from sally.output.files.bundle_reader import opened
from sally.output.files.dataset import write_dataset
from sally.output.tables.console import json_option, print_json
from sally.store import Where

EPISODES, DECISIONS, PROFILE, CALIBRATION = "episodes", "decisions", "profile", "calibration"
ROUNDS = "rounds"
HUB = "hf:"  # prefix of a folder in the layout of the Hugging Face Hub


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=STORE)
@click.option(
    "--to",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write: .csv, .tex or .parquet for rows, .svg, .pdf or .png for a figure; "
    "hf:FOLDER writes a dataset for the Hugging Face Hub.",
)
@click.option(
    "--what",
    type=click.Choice([EPISODES, DECISIONS, ROUNDS, PROFILE, CALIBRATION]),
    help="One row per seat and episode, per decision (move or report), per round of a repeated "
    "game (the format of `sally import table`), or per player; or calibration curves as a figure "
    "[episodes; for a figure, profile].",
)
@click.option("--seat", default="", help="For the profile: only this seat.")
@click.option("--by-cell", is_flag=True, help="For the profile: one row per player and cell.")
@click.option("--cell", default="", help="For rounds: only this cell.")
@json_option
def export(
    folders: tuple[Where, ...],
    path: Path,
    what: str | None,
    seat: str,
    by_cell: bool,
    cell: str,
    as_json: bool,
) -> None:
    """Write rows or figures of the stores DIR to a file."""
    if str(path).startswith(HUB):
        _dataset(folders, Path(str(path).removeprefix(HUB)), what, as_json)
        return
    drawn = path.suffix.lower() in figures.FORMATS
    what = what or (PROFILE if drawn else EPISODES)
    if what != ROUNDS:
        (figures.check if what == CALIBRATION or drawn else tables.check)(path)
    if drawn and what in (EPISODES, DECISIONS, ROUNDS):
        raise click.UsageError(
            f"{what} cannot be drawn; write them as {', '.join(tables.ENDINGS)}."
        )
    if what in (PROFILE, CALIBRATION):
        count = _players(folders, path, what, seat, by_cell)
    else:
        with ExitStack() as open_ones:
            places = [open_ones.enter_context(opened(folder))[0] for folder in folders]
            count = _rows(places, path, what, cell)
    if as_json:
        print_json({"file": str(path), "what": what, "rows": count})
    else:
        echo(f"{path}: {what} as a figure" if drawn else f"{path}: {count} rows, {what}")


def _rows(folders: Sequence[Where], path: Path, what: str, cell: str) -> int:
    if what == ROUNDS:
        there = each_once(folders, unreadable)
        return rounds.write((e for e in there if not cell or e.cell == cell), path)
    games = [i.game for folder in folders for i in store.survey(folder).instances.values()]
    found = each_once(folders, unreadable)
    if what == DECISIONS:
        return tables.write_table(decision_rows(found), tables.DECISION, path)
    return tables.write_table(episode_rows(found), tables.episode_columns(games), path)


def _dataset(folders: Sequence[Where], folder: Path, what: str | None, as_json: bool) -> None:
    """Write episodes and decisions as a dataset with a card; nothing is uploaded."""
    if what is not None:
        raise click.UsageError("hf:FOLDER always holds episodes and decisions; remove --what.")
    with ExitStack() as open_ones:
        places = [open_ones.enter_context(opened(place))[0] for place in folders]
        games = [i.game for place in places for i in store.survey(place).instances.values()]
        counts = write_dataset(
            folder,
            folder.name,
            {
                EPISODES: (
                    episode_rows(each_once(places, unreadable)),
                    tables.episode_columns(games),
                ),
                DECISIONS: (decision_rows(each_once(places, unreadable)), tables.DECISION),
            },
        )
    if as_json:
        print_json({"folder": str(folder), "rows": counts})
    else:
        echo(
            f"{folder}: {counts[EPISODES]} episode rows (one per seat) and "
            f"{counts[DECISIONS]} decision rows."
        )


def _players(folders: Sequence[Where], path: Path, what: str, seat: str, by_cell: bool) -> int:
    rows = profile_rows_of(folders, seat=seat, by_cell=by_cell)
    if what == CALIBRATION:
        figures.write(figures.calibration_figure(rows), path)
    elif path.suffix.lower() in figures.FORMATS:
        figures.write(figures.profile_figure(rows), path)
    elif path.suffix == ".tex":
        tables.write_text(tables.profile_latex(rows), path)
    else:
        tables.write_table(tables.profile_table(rows), tables.PROFILE, path)
    return len(rows)
