"""Index columns computed while a run plays, so that the first analysis is fast."""

from __future__ import annotations

import logging
from typing import Any

from sally import store
from sally.analysis.columns.measured_table import MeasuredColumn
from sally.analysis.columns.replayed_rows import ColumnBuilder
from sally.analysis.columns.rows import played
from sally.analysis.columns.seat_table import SEATS, SEEDS, SeatColumns
from sally.analysis.episodes.paper_store import SetupsColumn
from sally.core.log.events import Ended, Episode, Moved
from sally.core.registry import registry
from sally.core.registry.fingerprint import fingerprint
from sally.core.rules.metric import Played
from sally.core.rules.replay import Trajectory
from sally.output.page.lines import PageColumn, numbers_shown
from sally.store import index
from sally.store.summary import SummaryColumn

log = logging.getLogger(__name__)
CHECKED = 32  # one line in this many is validated as if read from disk


class IndexWriter:
    """Writer of a file's index columns, computed while a worker plays the episodes.

    The columns are stored only if the finished file has the same lines. After an error nothing is
    stored; the command that needs the columns then computes them and reports the error.
    """

    def __init__(self) -> None:
        self._numbers = numbers_shown()
        self._made: list[index.Made] = []
        self._lines: list[bytes] = []
        self._parts = self._begun()
        self._given_up = False

    def _begun(self) -> tuple[ColumnBuilder, ...]:
        seats = SeatColumns((SEATS, SEEDS, *self._numbers))
        return SummaryColumn(), seats, MeasuredColumn(), PageColumn(), SetupsColumn()

    def add(self, line: bytes, episode: Episode, replay: Trajectory[Any, Any, Any]) -> None:
        """Add an episode as decoded from its line, and its replay."""
        if self._given_up:
            return
        try:
            if not len(self._lines) % CHECKED and store.sound_line(line) != episode:
                self._given_up = True  # the reader reports it
                return
            whole = opened(episode, replay)
            for part in self._parts:
                part.add(episode, whole)
        except Exception:  # a user's metric may raise anything
            log.info("No index columns for this file: episode %s", episode.id, exc_info=True)
            self._given_up = True
            return
        self._lines.append(line)
        if len(self._lines) == index.PIECE:
            self._end_piece()

    def keep(self, where: store.Where, file: str) -> None:
        """Store the columns, once the file is complete."""
        if self._lines:
            self._end_piece()
        if not self._given_up:
            store.fill(where, file, fingerprint(), self._made)

    def _end_piece(self) -> None:
        found = {name: data for part in self._parts for name, data in part.columns().items()}
        self._made.append((store.sum_of_lines(b"".join(self._lines)), found))
        self._lines, self._parts = [], self._begun()


def opened(episode: Episode, replay: Trajectory[Any, Any, Any]) -> Played:
    """Return the replayed episode; the replay made during play is reused if the moves are integers
    and there are no reports.

    Other actions, and reports, may have another type once they are read back from the log, so such
    an episode is replayed from its log line.
    """
    for event in episode.events:
        bare = type(event.action) is int if type(event) is Moved else type(event) is Ended
        if not bare:
            return played(episode)
    spec = registry.game(episode.setup.instance.game)
    whole = Trajectory(replay.game, replay.states, replay.moves, lineup=episode.setup.lineup)
    return Played(spec, episode, whole)
