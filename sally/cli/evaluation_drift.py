"""`sally compare OLD NEW`: two evaluations, problem by problem."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl

from sally.analysis.evaluation import Change, drift, name_of
from sally.cli.pair_comparison import compare_pair_evaluations, holds_pairs
from sally.core.terminal_text import echo
from sally.frames.frame import as_frame
from sally.output.tables.console import (
    estimate_cell,
    folded,
    print_json,
    print_table,
    print_text,
)
from sally.store import Where


def compare_evaluations(old: Where, new: Where, every: bool, as_json: bool) -> None:
    """Compare two evaluations, pair by pair or problem by problem."""
    sides = [as_frame(place).filter(~pl.col("cut")) for place in (old, new)]
    if all(map(holds_pairs, sides)):
        compare_pair_evaluations(sides[0], sides[1], as_json)
        return
    names = [name_of(side.setups()) for side in sides]
    found = drift(*sides)
    if as_json:
        print_json({"old": names[0], "new": names[1], "cells": msgspec.to_builtins(found)})
        return
    if names[0] != names[1]:
        echo(folded(f"Different players: {names[0]} and {names[1]}."), err=True)
    moved = [one for one in found if one.verdict == "moved"]
    if moved or every:
        print_table([_moved(one) for one in (found if every else moved)], list(_moved(found[0])))
    counts = {
        v: sum(one.verdict == v for one in found) for v in dict.fromkeys(o.verdict for o in found)
    }
    said = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    print_text(
        f"{len(found)} cells and measures: {said}. p: exchange of old and new at random within "
        "each problem, adjusted by Holm's method over all of them; moved: p below .05."
    )


def _moved(one: Change) -> dict[str, Any]:
    return {
        "cell": one.cell,
        "measure": one.measure,
        "old": one.old,
        "new": one.new,
        "difference": estimate_cell(one.difference.value, one.difference.interval, 2),
        "p": None if one.p is None else f"{one.p:.3f}",
        "is": one.verdict,
        "pairs": one.pairs,
    }
