"""`sally compare OLD NEW`: two evaluations, problem by problem."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl

from sally.analysis.evaluation import Change, compared_names, drift, name_of
from sally.cli.pair_comparison import compare_pair_evaluations, holds_pairs
from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.frames.frame import as_frame
from sally.output.tables.console import (
    estimate_cell,
    fold_text,
    print_json,
    print_table,
    print_text,
)
from sally.store import Where


def compare_evaluations(old: Where, new: Where, show_all: bool, as_json: bool) -> None:
    """Compare two evaluations, pair by pair or problem by problem."""
    sides = [as_frame(place).filter(~pl.col("cut")) for place in (old, new)]
    for place, side in zip((old, new), sides, strict=True):
        if not len(side):
            raise BadInput(f"{place} holds no finished episode, so it cannot be compared.")
    if all(map(holds_pairs, sides)):
        compare_pair_evaluations(sides[0], sides[1], as_json)
        return
    names = compared_names(sides)
    changes = drift(*sides)
    if as_json:
        print_json({"old": names[0], "new": names[1], "cells": msgspec.to_builtins(changes)})
        return
    if name_of(sides[0].setups()) != name_of(sides[1].setups()):
        echo(fold_text(f"Different players: {names[0]} and {names[1]}."), err=True)
    moved = [change for change in changes if change.verdict == "moved"]
    if moved or show_all:
        print_table(
            [_change_row(change) for change in (changes if show_all else moved)],
            list(_change_row(changes[0])),
        )
    counts = {
        v: sum(change.verdict == v for change in changes)
        for v in dict.fromkeys(o.verdict for o in changes)
    }
    verdict_counts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    print_text(
        f"{len(changes)} cells and measures: {verdict_counts}. p: exchange of old and new at "
        f"random within "
        "each problem, adjusted by Holm's method over all of them; moved: p below .05. "
        "Doing is in the units of the metric in brackets, which differ between games."
    )


def _change_row(change: Change) -> dict[str, Any]:
    return {
        "cell": change.cell,
        "measure": f"{change.measure} ({change.metric})" if change.metric else change.measure,
        "old": change.old,
        "new": change.new,
        "difference": estimate_cell(change.difference.value, change.difference.interval, 2),
        "p": None if change.p is None else f"{change.p:.3f}",
        "is": change.verdict,
        "pairs": change.pairs,
    }
