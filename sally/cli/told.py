"""`sally profile --told`: how moves follow what an informant of stated reliability says."""

from __future__ import annotations

import click
import msgspec

from sally.api.told import told
from sally.cli.common import STORE, open_frame, say_bad
from sally.output.tables.console import fitting, json_option, print_json, print_table, print_text
from sally.output.tables.told import LEGEND, told_tables
from sally.store import Where


@click.command("told")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=STORE)
@json_option
def print_told(folders: tuple[Where, ...], as_json: bool) -> None:
    """Print how moves follow the forecasts that an informant states, by its stated reliability.

    The study `causal_acting` plays the positions: sally run causal_acting --model MODEL.
    """
    with open_frame(folders) as frame:
        rows = told(frame)
    say_bad(frame.bad)
    if as_json:
        print_json(msgspec.to_builtins(rows.result))
        return
    for title, keys, lines in told_tables(rows.result):
        names = [name for name in lines[0] if name not in keys]
        for group in fitting(lines, list(keys), names):
            print_table(lines, [*keys, *group], title=title)
    print_text(LEGEND)
