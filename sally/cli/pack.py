"""`sally pack`: pack a store into one file for sharing."""

from __future__ import annotations

from pathlib import Path

import click

from sally.cli.common import STORE
from sally.cli.pages import named_after, said_size
from sally.core.terminal_text import echo
from sally.output.files.bundle import pack as packed_into
from sally.output.tables.console import PATH, json_option, print_json


@click.command()
@click.argument("store", metavar="DIR", type=STORE)
@click.option(
    "--out",
    type=PATH,
    help="File to write [NAME.sally.zip, named after the store].",
)
@click.option(
    "--anyway", is_flag=True, help="Pack even if something looks like a key or a local path."
)
@click.option(
    "--small", is_flag=True, help="Compress with LZMA instead of deflate: smaller, slower to pack."
)
@json_option
def pack(store: Path | str, out: Path | None, anyway: bool, small: bool, as_json: bool) -> None:
    """Pack a store into one file to share, with hashes.

    The file holds the episodes, their study and their words. `sally replay`, `score`, `show` and
    `report` read the file without unpacking it.
    """
    out = out or Path(f"{named_after(store)}.sally.zip")
    packed = packed_into(store, out, anyway, small)
    bundle = packed.bundle
    if as_json:
        print_json({"bundle": str(out), "sha256": packed.sha256, "bytes": packed.bytes,
                    "study": bundle.study, "episodes": bundle.episodes,
                    "files": len(bundle.files), "left_out": bundle.left_out})  # fmt: skip
        return
    echo(f"{out}: {bundle.episodes:,} episodes of {bundle.study}, {said_size(packed.bytes)}")
    for reason, count in bundle.left_out.items():
        if count:
            echo(f"left out: {count:,} {'line' if count == 1 else 'lines'} {reason}")
    echo(f"sha256 {packed.sha256}")
