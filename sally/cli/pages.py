"""`sally report`: write one HTML page about a study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import msgspec

from sally import __version__
from sally.analysis.design import registration as registrations
from sally.api.files import paper_grids, profile_seats
from sally.cli.common import STORE, open_frame
from sally.cli.group import WithViews
from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.output.page.page_data import PageData
from sally.output.page.write import PageOptions, write_page
from sally.output.tables.console import json_option, print_json
from sally.runner.check import prompts_of


@click.command(cls=WithViews)
@click.argument("store", metavar="DIR", type=STORE)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write [NAME.html, named after the store].",
)
@click.option(
    "--transcripts",
    default="",
    metavar="all|N",
    help="Transcripts of all episodes, or of N per cell and lineup [as fit into 1 MB of log].",
)
@click.option(
    "--profile/--no-profile", default=True, help="Play the baselines that the profile needs."
)
@click.option(
    "--registration",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File written by `sally plan --freeze`; the page lists every deviation from it.",
)
@json_option
def report(
    store: Path | str,
    out: Path | None,
    transcripts: str,
    profile: bool,
    registration: Path | None,
    as_json: bool,
) -> None:
    """Write one HTML page about the episodes of a store or a bundle."""
    transcript_limit = _transcript_limit(transcripts)
    out = out or Path(f"{named_after(store)}.html")
    with open_frame(store) as frame:
        data = PageData(frame)
        wishes = PageOptions(
            transcript_limit,
            profile_seats if profile else None,
            paper_grids(data, report_missing),
            prompts_of,
        )
        if registration is not None:
            wishes = replace(wishes, notes=tuple(deviations(registration, data)))
        written = write_page(data, out, wishes)
    if as_json:
        print_json(
            {"page": str(out), "bytes": written.bytes, "episodes": written.episodes,
             "transcripts": written.transcripts}
        )  # fmt: skip
        return
    held_there = f"{written.episodes:,} episodes, {written.transcripts:,} transcripts"
    echo(f"{out}: {held_there}, {said_size(written.bytes)}")


def deviations(registration: Path, data: PageData) -> list[str]:
    """Return the deviations from a registration, or one line saying that there are none."""
    try:
        frozen = msgspec.json.decode(registration.read_bytes(), type=registrations.Registration)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(
            f"{registration} is not a registration written by `sally plan --freeze`: {error}."
        ) from None
    head = f"Registered {frozen.date} as {frozen.seal[:12]}"
    if frozen.people:
        people_lines = registrations.people_deviations(frozen, data.people, data, __version__)
        return [f"{head}: {line}" for line in people_lines] or [f"{head}: no deviation was found."]
    studies = list(data.studies.values())
    study = next((s for s in studies if s.name == frozen.study), studies[0] if studies else None)
    lines = registrations.deviations(frozen, study, data, __version__)
    return [f"{head}: {line}" for line in lines] or [f"{head}: no deviation was found."]


def report_missing(reason: str) -> None:
    """Print on standard error why something is missing from the page."""
    echo(reason, err=True)


def named_after(source: Path | str) -> str:
    """Return the default name of a page or a bundle, which is the name of its store."""
    name = Path(source).resolve().name if isinstance(source, Path) else source.rpartition("/")[2]
    return name.removesuffix(".zip").removesuffix(".sally") or "store"


def said_size(size: int) -> str:
    """Format a number of bytes as kB or MB."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _transcript_limit(transcripts: str) -> int | None:
    if transcripts == "":
        return None
    if transcripts == "all":
        return 2**62
    if not transcripts.isdecimal():
        raise BadInput(f"--transcripts takes all or a whole number, not {transcripts!r}.")
    return int(transcripts)
