"""Write files: a report page, a table or figure, a bundle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from sally.analysis.compare import published_figures as reference
from sally.analysis.profile.profile import ProfileRow
from sally.api.analyses import profile as profile_rows
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.frames.frame import Frame, Source, as_frame
from sally.output.figures import panels
from sally.output.figures.profile import calibration_figure, profile_figure
from sally.output.files import export as tables
from sally.output.files.bundle import pack as packed_into
from sally.output.page.page_data import PageData
from sally.output.page.write import PageOptions, write_page
from sally.output.tables.layout import Grid, laid_out
from sally.output.tables.reproduce import Reproduction, engine_of
from sally.runner.check import prompts_of
from sally.store import Where

Notify = Callable[[str], None]
What = Literal["episodes", "decisions", "rounds", "profile", "calibration"]


def pack(store: Where, out: str | Path, *, anyway: bool = False) -> Path:
    """Pack a store into one file that others can check.

    Args:
        store: Folder or address of a store.
        out: The file to write, such as `study.sally.zip`.
        anyway: Pack even if the store seems to contain API keys or local paths.

    Returns:
        The path of the file.

    Raises:
        BadInput: If there is no such store, or the store seems to contain private data.
    """
    packed_into(store, Path(out), anyway)
    return Path(out)


def report(
    store: Where, out: str | Path, *, transcripts: int | None = None, profile: bool = True
) -> Path:
    """Write one self-contained HTML page about a store or a bundle.

    Args:
        store: A store or a bundle.
        out: The file to write.
        transcripts: Number of transcripts per cell and lineup; None includes all that fit.
        profile: Include the knowing-doing profile, which plays baselines.

    Returns:
        The path of the file.

    Raises:
        BadInput: If there is no such store, or the file cannot be written.
    """
    page_data = PageData(store)
    grids = paper_grids(page_data, lambda message: None)
    wishes = PageOptions(transcripts, profile_seats if profile else None, grids, prompts_of)
    write_page(page_data, Path(out), wishes)
    return Path(out)


def export(
    source: Source,
    to: str | Path,
    what: What | None = None,
    *,
    seat: str = "",
    by_cell: bool = False,
) -> Path:
    """Write rows of stores as a table, or draw a figure of them.

    Args:
        source: A store, a bundle, episodes, a frame, or several of these.
        to: The file: `.csv`, `.tex` or `.parquet` for rows; `.svg`, `.pdf` or `.png` for a figure.
        what: `episodes`, `decisions`, `rounds`, `profile` or `calibration`; by default `episodes`
            for a table and `profile` for a figure.
        seat: Only this seat, in a profile.
        by_cell: One row per cell of the study, in a profile.

    Returns:
        The path of the file.

    Raises:
        BadInput: If the file's suffix does not fit, or there is no such store.
    """
    path = Path(to)
    what = content_of(path, what)
    frame = as_frame(source)
    if what in ("profile", "calibration"):
        rows = profile_rows(frame, seat=seat, by_cell=by_cell)
        write_profile(rows.estimates, path, what)
    else:
        write_rows(frame, path, what)
    return path


def content_of(path: Path, content: What | None) -> What:
    """Return what is written to a file: `content`, or the default for the suffix of the file.

    Raises:
        BadInput: If a file with this suffix cannot hold it.
    """
    is_figure = path.suffix.lower() in panels.FORMATS
    content = content or ("profile" if is_figure else "episodes")
    if is_figure and content in ("episodes", "decisions", "rounds"):
        raise BadInput(
            f"{content} cannot be drawn, because they are rows of a table; write them as "
            f"{', '.join(tables.ENDINGS)}."
        )
    if content != "rounds":
        (panels.check if is_figure or content == "calibration" else tables.check)(path)
    return content


def write_rows(frame: Frame, path: Path, content: What, cell: str = "") -> int:
    """Write the rows of episodes, decisions or rounds; return their number.

    Args:
        frame: The episodes.
        path: The file.
        content: `episodes`, `decisions` or `rounds`.
        cell: Only this cell, in rounds.
    """
    if content == "rounds":
        return _write_rounds([e for e in frame if not cell or e.cell == cell], path)
    table = tables.decision_table(frame) if content == "decisions" else tables.episode_table(frame)
    return tables.write_table(table, path)


def _write_rounds(episodes: Sequence[Episode], path: Path) -> int:
    """Write episodes of the first family of games with a table of rounds; return the rows."""
    families: dict[str, list[Episode]] = {}
    for episode in episodes:
        families.setdefault(registry.family(episode.setup.instance.game).name, []).append(episode)
    for family, members in families.items():
        if write := registry.part(family, "round_table"):
            return int(write(members, path))
    raise BadInput("There are no episodes of a repeated game to export.")


def write_profile(rows: Sequence[ProfileRow], path: Path, content: What) -> None:
    """Write the rows of a profile as a table or figure, or draw their calibration."""
    if content == "calibration":
        panels.write(calibration_figure(rows), path)
    elif path.suffix.lower() in panels.FORMATS:
        panels.write(profile_figure(rows), path)
    elif path.suffix == ".tex":
        tables.write_text(tables.profile_latex(rows), path)
    else:
        tables.write_table(tables.profile_table(rows), path)


# --- parts of the report page ---------------------------------------------------------------------


def profile_seats(page_data: PageData) -> list[ProfileRow]:
    """Return the profile of the studied seats, with baselines on the same settings."""
    return profile_rows(page_data.seats).estimates


def paper_grids(page_data: PageData, notify: Notify) -> dict[str, list[Grid]]:
    """Return the tables of the papers that these studies follow, filled with our values where
    known."""
    paper_names = {study.paper or study.name for study in page_data.studies.values()}
    grids = {
        paper: _grids(paper, page_data, notify)
        for paper in paper_names
        if paper in reference.papers()
    }
    return {paper: tables for paper, tables in grids.items() if tables}


def _grids(paper: str, page_data: PageData, notify: Notify) -> list[Grid]:
    try:
        # Figures that need no episodes are computed by `sally reproduce`, which takes longer.
        engine = replace(engine_of(paper), computes=lambda row, metric, effort: None,
                         computes_exact=None, beside={})  # fmt: skip
        reproduction = Reproduction(paper, engine, page_data.frame)
    except BadInput as error:
        notify(f"No table of {paper} is on the page: {error}")
        return []
    grids = []
    for name in reproduction.published.tables:
        rows = reproduction.rows(name)
        if any(row.ours is not None for row in rows):
            printed = reference.table(reproduction.published, name)
            grids.append(laid_out(name, printed, rows, engine.layouts.get(name)))
    return grids
