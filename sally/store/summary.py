"""Summary of a store for a run: which episodes it holds, which were censored, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

import msgspec

from sally.core.log.calls import BROKE_READER
from sally.core.log.events import Episode, Instance
from sally.core.registry.fingerprint import fingerprint
from sally.store.index import Columns, Line, columns
from sally.store.lines import sound_line
from sally.store.places import Where, place
from sally.store.reading import (
    Among,
    BadLine,
    quarantine_lines,
    read,
    reason,
    to_run_again,
)

COLUMN = "survey"


@dataclass
class Survey:
    """Summary of a store; holds ids but no episodes."""

    finished: Set[str] = frozenset()
    cut: dict[str, str] = field(default_factory=dict)  # id -> reason; to be run again
    blank: dict[str, str] = field(default_factory=dict)  # id -> reason; finished without a result
    instances: dict[str, Instance] = field(default_factory=dict)
    broken_readers: int = 0  # replies that crashed a reader
    bad: list[BadLine] = field(default_factory=list)
    doubled: int = 0

    @property
    def reasons(self) -> dict[str, int]:
        """Number of episodes without a result by reason, most frequent first."""
        return dict(Counter([*self.cut.values(), *self.blank.values()]).most_common())

    @property
    def episodes(self) -> int:
        """Number of episodes, including censored ones."""
        return len(self.finished) + len(self.cut)


class SummaryRows(msgspec.Struct, array_like=True):
    """Summary columns of some consecutive lines; an unreadable line has an empty id."""

    ids: list[str]
    cut: list[bool]
    why: list[str]  # why an episode has no result, or why a line is unreadable
    instance: list[int]
    broken: list[int]  # replies that crashed a reader
    instances: list[Instance]


_DECODER = msgspec.msgpack.Decoder(SummaryRows)


def survey(where: Where, among: Among | str = "") -> Survey:
    """Summarise a store, or only the files selected by prefix or function."""
    if not among:
        return _whole(where)
    found, finished = Survey(), set[str]()  # a shard: too few lines for the index
    for line in read(where, among=among):
        if isinstance(line, BadLine):
            found.bad.append(line)
        else:
            _add(found, finished, *_noted_of(line))
    found.cut = {id: why for id, why in found.cut.items() if id not in finished}
    found.finished = finished
    return found


def _whole(where: Where) -> Survey:
    """Summarise a whole store from its index columns."""
    from sally.store.deduplicate import Deduplicator  # imports numpy, which workers do without

    found, every, lines = Survey(), Deduplicator(), 0
    whys: dict[int, tuple[str, str]] = {}  # line -> id and reason
    broken: dict[int, int] = {}  # line -> replies that crashed a reader
    for at, kept in columns(where, [COLUMN], fingerprint(), noted_lines):
        piece = noted(kept[COLUMN])
        every.add(piece.ids, piece.cut)
        for n, why in enumerate(piece.why):
            if why and piece.ids[n]:
                whys[lines + n] = piece.ids[n], why
            elif why:
                found.bad.append(BadLine(*at[n], why))
        broken |= {lines + n: many for n, many in enumerate(piece.broken) if many}
        found.instances |= {each.id: each for each in piece.instances}
        lines += len(at)
    count, is_cut = every.counted()
    found.finished, found.doubled = every.finished(), count.doubled
    counts = set(count.lines.tolist()) if whys else set()
    for n in sorted(counts & whys.keys()):
        (found.cut if is_cut[n] else found.blank)[whys[n][0]] = whys[n][1]
    again = set(count.again.tolist())
    found.broken_readers = sum(many for n, many in broken.items() if n not in again)
    quarantine_lines(place(where), dict.fromkeys(line.file for line in found.bad))
    return found


def _add(
    found: Survey,
    finished: set[str],
    id: str,
    cut: bool,
    why: str,
    instance: Instance,
    broken: int,
) -> None:
    if id in finished:
        found.doubled += not cut  # a censored run may be read after its repetition
        return
    if cut:
        found.cut[id] = why
    else:
        finished.add(id)
        if why:
            found.blank[id] = why
    found.instances[instance.id] = instance
    found.broken_readers += broken


def _noted_of(episode: Episode) -> tuple[str, bool, str, Instance, int]:
    calls = [call for event in episode.events if event.calls for call in event.calls]
    broken = sum(call.detail.startswith(BROKE_READER) for call in calls)
    return episode.id, to_run_again(episode), reason(episode), episode.setup.instance, broken


def noted_lines(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    """Return the summary column of these lines for the index."""
    made = SummaryColumn()
    for _, _, line in lines:
        made.add(sound_line(line))
    return made.columns()


def noted(column: bytes) -> SummaryRows:
    """Decode a summary column of the index."""
    return _DECODER.decode(column)


class SummaryColumn:
    """Builder of the summary column, line by line."""

    def __init__(self) -> None:
        self._made = SummaryRows([], [], [], [], [], [])
        self._places: dict[bytes, int] = {}

    def add(self, found: Episode | str, whole: object = None) -> None:
        """Add the episode of a line, or the reason why the line is unreadable."""
        made = self._made
        if isinstance(found, Episode):
            id, cut, why, instance, broken = _noted_of(found)
            asked = msgspec.msgpack.encode(instance)
            number = self._places.setdefault(asked, len(self._places))
            if number == len(made.instances):
                made.instances.append(instance)
        else:
            id, cut, why, number, broken = "", False, found, -1, 0
        made.ids.append(id)
        made.cut.append(cut)
        made.why.append(why)
        made.instance.append(number)
        made.broken.append(broken)

    def columns(self) -> Columns:
        """Return the column as stored in the index."""
        return {COLUMN: msgspec.msgpack.encode(self._made)}
