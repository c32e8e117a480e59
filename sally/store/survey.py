"""Survey of a store for a run: which episodes it holds, which were censored, and why.

Only the head and the last event of an intact line are decoded, which takes a tenth of the time of
decoding the whole line; a line without a checksum is decoded and validated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

import msgspec

from sally.core.errors import BadInput
from sally.core.log.calls import BROKE_READER
from sally.core.log.events import SCHEMA, Censored, Ended, Episode, Instance
from sally.store.lines import is_sealed, sound_line
from sally.store.places import Where, place
from sally.store.reader import (
    Among,
    BadLine,
    all_lines,
    is_among,
    quarantine_lines,
    ready,
    reason,
    to_run_again,
)

# Only a line with one of these has to be decoded whole.
SPECIAL = (BROKE_READER.encode(), b'"kind":"forfeited"')


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


class StoredHead(msgspec.Struct, frozen=True):
    """What a survey needs of an episode."""

    id: str
    instance: Instance
    why: str = ""  # why there is no result
    is_cut: bool = False  # whether a resumed run plays it again
    broken_readers: int = 0


class _Setup(msgspec.Struct):
    instance: Instance


class _Line(msgspec.Struct):
    id: str
    setup: _Setup
    events: list[msgspec.Raw]
    schema: int = 0


_LINE = msgspec.json.Decoder(_Line)
_END = msgspec.json.Decoder(Ended | Censored)


def survey(store: Where, among: Among | str = "") -> Survey:
    """Summarise a store, or only the files selected by prefix or function."""
    summary, finished = Survey(), set[str]()
    for head in _heads(store, among):
        if isinstance(head, BadLine):
            summary.bad.append(head)
            continue
        if head.id in finished:
            summary.doubled += not head.is_cut  # a censored run may be read after its repetition
            continue
        if head.is_cut:
            summary.cut[head.id] = head.why
        else:
            finished.add(head.id)
            if head.why:
                summary.blank[head.id] = head.why
        summary.instances[head.instance.id] = head.instance
        summary.broken_readers += head.broken_readers
    summary.cut = {id: reason for id, reason in summary.cut.items() if id not in finished}
    summary.finished = finished
    quarantine_lines(place(store), dict.fromkeys(line.file for line in summary.bad))
    return summary


def _heads(store: Where, among: Among | str) -> Iterator[StoredHead | BadLine]:
    location = place(store)
    try:
        names = [name for name in ready(location)[0] if is_among(name, among)]
        for name, number, line in all_lines(location, names):
            head = read_head(line)
            yield BadLine(name, number, head) if isinstance(head, str) else head
    except OSError as error:
        raise BadInput(f"The store {location} cannot be read: {error.strerror}.") from None


def read_head(line: bytes) -> StoredHead | str:
    """Return the head of a line's episode, or why the line holds none."""
    if is_sealed(line) and not any(text in line for text in SPECIAL):
        try:
            head = _LINE.decode(line)
            if head.schema == SCHEMA:
                end = _END.decode(head.events[-1])
                if isinstance(end, Ended):
                    return StoredHead(head.id, head.setup.instance)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, IndexError):
            pass  # the reason is given below
    episode = sound_line(line)
    return episode if isinstance(episode, str) else _head_of(episode)


def _head_of(episode: Episode) -> StoredHead:
    calls = [call for event in episode.events if event.calls for call in event.calls]
    broken = sum(call.detail.startswith(BROKE_READER) for call in calls)
    instance = episode.setup.instance
    return StoredHead(episode.id, instance, reason(episode), to_run_again(episode), broken)
