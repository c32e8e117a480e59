"""Stores measured line by line: a few numbers of each episode are kept, and no episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from sally import store
from sally.core.log import Episode
from sally.metrics.measured import Measured, in_question, measured


class Stores(msgspec.Struct, frozen=True):
    """The seats of all episodes in some stores, measured, and the lines that hold none."""

    measured: tuple[Measured, ...]
    episodes: int
    bad: tuple[str, ...]


def measured_stores(
    folders: Sequence[store.Where], seat: str = "", watch: Callable[[int], None] | None = None
) -> Stores:
    """Every episode of the stores once; a finished run takes the place of a cut one.

    Measured are the seat that is named, or those in question; all where none is.
    """
    found: dict[str, list[Measured]] = {}
    cut: set[str] = set()
    bad: list[str] = []
    for folder in folders:
        for line in store.read(folder):
            if not isinstance(line, Episode):
                bad.append(str(line))
            elif line.id not in found or line.id in cut:
                found[line.id] = measured(line, (seat,) if seat else in_question(line.setup))
                (cut.add if store.to_run_again(line) else cut.discard)(line.id)
                if watch:
                    watch(len(found))
    return Stores(tuple(m for seats in found.values() for m in seats), len(found), tuple(bad))
