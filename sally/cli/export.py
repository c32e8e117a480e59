"""`sally export`: write rows and figures of stores to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from sally.api.analyses import profile
from sally.api.files import What, content_of, write_profile, write_rows
from sally.cli.common import STORE, open_frame, say_bad
from sally.core.errors import BadInput, join_names
from sally.core.terminal_text import echo
from sally.frames.frame import Frame
from sally.output.figures.panels import FORMATS
from sally.output.files import export as tables
from sally.output.files.dataset import write_dataset
from sally.output.tables.console import PATH, json_option, print_json
from sally.store import Where

EPISODES, DECISIONS = "episodes", "decisions"
HUB = "hf:"  # prefix of a folder in the layout of the Hugging Face Hub


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=STORE)
@click.option(
    "--out",
    "path",
    type=PATH,
    required=True,
    help="The file to write: .csv, .tex or .parquet for rows, .svg, .pdf or .png for a figure; "
    "hf:FOLDER writes a dataset for the Hugging Face Hub.",
)
@click.option(
    "--what",
    type=click.Choice(get_args(What)),
    help="One row per seat and episode, per decision (move or report), per round of a repeated "
    "game (the format of `sally import table`), or per player; or calibration curves as a figure "
    "[episodes; for a figure, profile].",
)
@click.option("--seat", default="", help="For the profile: only this seat.")
@click.option(
    "--by", type=click.Choice(["cell"]), help="For the profile: a row per player and cell."
)
@click.option("--cell", default="", help="For rounds: only this cell.")
@json_option
def export(
    folders: tuple[Where, ...],
    path: Path,
    what: What | None,
    seat: str,
    by: str | None,
    cell: str,
    as_json: bool,
) -> None:
    """Write rows or figures of stores to a file."""
    if str(path).startswith(HUB):
        _dataset(folders, Path(str(path).removeprefix(HUB)), what, as_json)
        return
    what = content_of(path, what)
    with open_frame(folders) as frame:
        _require_episodes(frame, folders)
        if what in ("profile", "calibration"):
            rows = profile(frame, seat=seat, by_cell=by == "cell").estimates
            write_profile(rows, path, what)
            count = len(rows)
        else:
            count = write_rows(frame, path, what, cell)
    say_bad(frame.bad)
    if as_json:
        print_json({"file": str(path), "what": what, "rows": count})
    else:
        is_figure = path.suffix.lower() in FORMATS
        echo(f"{path}: {what} as a figure" if is_figure else f"{path}: {count} rows, {what}")


def _require_episodes(frame: Frame, folders: Sequence[Where]) -> None:
    """Raise BadInput if the stores hold no episode, after naming their unreadable lines."""
    if not len(frame):
        say_bad(frame.bad)
        raise BadInput(f"There is no episode to export in {join_names(list(map(str, folders)))}.")


def _dataset(folders: Sequence[Where], folder: Path, kind: str | None, as_json: bool) -> None:
    """Write episodes and decisions as a dataset with a card; nothing is uploaded."""
    if kind is not None:
        raise click.UsageError("hf:FOLDER always holds episodes and decisions; remove --what.")
    with open_frame(folders) as frame:
        _require_episodes(frame, folders)
        kinds = {EPISODES: tables.episode_table(frame), DECISIONS: tables.decision_table(frame)}
        counts = write_dataset(folder, folder.name, kinds)
    say_bad(frame.bad)
    if as_json:
        print_json({"folder": str(folder), "rows": counts})
    else:
        echo(
            f"{folder}: {counts[EPISODES]} episode rows (one per seat) and "
            f"{counts[DECISIONS]} decision rows."
        )
