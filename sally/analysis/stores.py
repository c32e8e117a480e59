"""Stores read line by line: an episode is held only as long as it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from sally import store
from sally.analysis.measured import Measured
from sally.analysis.measured_table import measured_lines
from sally.core.log import Episode

Said = Callable[[str], None]  # what to do with a line that holds no episode


def each_once(folders: Sequence[store.Where], bad: Said | None = None) -> Iterator[Episode]:
    """The episodes of some stores, each once; a finished run takes the place of a cut one.

    Episodes that were cut come last: only then is it known that no finished run follows.
    """
    seen: set[str] = set()
    cut: dict[str, Episode] = {}
    for folder in folders:
        for line in store.read(folder):
            if not isinstance(line, Episode):
                if bad is not None:
                    bad(str(line))
            elif store.to_run_again(line):
                cut[line.id] = line
            elif line.id not in seen:
                seen.add(line.id)
                yield line
    yield from (episode for id, episode in cut.items() if id not in seen)


class Stores(msgspec.Struct, frozen=True):
    """The seats of all episodes in some stores, measured, and the lines that hold none."""

    measured: tuple[Measured, ...]
    episodes: int
    seats: frozenset[str]  # in which somebody sat
    bad: tuple[str, ...]


def measured_stores(
    folders: Sequence[store.Where],
    seat: str = "",
    watch: Callable[[int], None] | None = None,
    playable: bool = False,
) -> Stores:
    """The seat that is named, or those in question, of every episode; all where none is.

    An episode of rules that are not installed is refused, unless only the `playable` are wanted.
    """
    found: dict[str, list[Measured]] = {}
    cut: set[str] = set()  # to be replaced if a finished run turns up
    seats: set[str] = set()
    bad: list[str] = []
    for folder in folders:
        files: dict[str, None] = {}
        for line in measured_lines(folder, seat, playable):
            if line.bad is not None:
                bad.append(str(line.bad))
                files[line.bad.file] = None
            elif line.id not in found or line.id in cut:
                found[line.id] = line.measured
                seats |= set(line.sat)
                (cut.add if line.cut else cut.discard)(line.id)
                if watch:
                    watch(len(found))
        store.quarantine_lines(store.place(folder), files)
    every = tuple(m for some in found.values() for m in some)
    return Stores(every, len(found), frozenset(seats), tuple(bad))
