"""`sally report --board`: a static site of evaluations, recomputed from their bundles."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from sally.api.board import board
from sally.core.terminal_text import echo
from sally.output.tables.console import PATH, WholeNumber, fold_text, json_option, print_json


@click.command("board")
@click.argument("places", nargs=-1, required=True, metavar="BUNDLE|DIR...",
                type=PATH)  # fmt: skip
@click.option("--out", type=PATH, default=Path("out/board"),
              show_default=True, help="Folder of the site.")  # fmt: skip
@click.option("--check", "only_check", is_flag=True,
              help="Only replay the bundles; exit with 1 if one is refused.")  # fmt: skip
@click.option("--transcripts", default=1, type=WholeNumber(least=0), show_default=True,
              help="Transcripts per cell and lineup of each entry; 0 for none.")  # fmt: skip
@json_option
def board_(
    places: tuple[Path, ...], out: Path, only_check: bool, transcripts: int, as_json: bool
) -> None:
    """Replay evaluation bundles, recompute every figure, and write a static site.

    A folder means all bundles in it. A bundle that does not replay is refused, the offending line
    is named, and the command exits with 1.
    """
    site = None if only_check else out
    rows = board(
        *places,
        out=site,
        transcripts=transcripts,
        watch=lambda line: echo(fold_text(line), err=True),
    )
    if rows.page is not None and not as_json:
        echo(f"{rows.page}: {len(rows.entries)} entries, {len(rows.refused)} refused")
    if as_json:
        print_json({
            "entries": [{"name": e.name, "bundle": e.bundle, "sha256": e.sha256, "signed": e.signed,
                         "played": e.played_count, "planned": e.planned_count, "whole": e.is_whole,
                         **msgspec.to_builtins(e.results)} for e in rows.entries],
            "refused": msgspec.to_builtins(rows.refused),
        })  # fmt: skip
    if rows.refused:
        sys.exit(1)
