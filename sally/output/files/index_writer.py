"""What a run notes of the episodes that it plays, so that the first question is quick."""

from __future__ import annotations

from typing import Any

from sally import store
from sally.analysis.columns.measured_table import MeasuredColumn
from sally.analysis.columns.replayed_rows import ColumnBuilder
from sally.analysis.columns.rows import played
from sally.analysis.columns.seat_table import SEATS, SEEDS, SeatColumns
from sally.analysis.episodes.paper_store import SetupsColumn
from sally.core.log.events import Ended, Episode, Moved
from sally.core.log.fingerprint import fingerprint
from sally.core.match.replay import Replay
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.output.page.lines import PageColumn, numbers_shown
from sally.store import index
from sally.store.summary import SummaryColumn

CHECKED = 32  # of so many lines one is read and replayed as if a stranger had written it


class IndexWriter:
    """Columns for the index, made of each episode of a file while a worker has it in hand.

    They are kept if the file then holds the very lines that they were made of. What cannot be
    worked out is left to the command that asks for it, which then says why.
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

    def add(self, line: bytes, episode: Episode, replay: Replay[Any, Any, Any]) -> None:
        """Take an episode as its line will be read, and what happened in it."""
        if self._given_up:
            return
        try:
            if not len(self._lines) % CHECKED and store.sound_line(line) != episode:
                self._given_up = True  # it does not replay as it was played: others will say so
                return
            whole = opened(episode, replay)
            for part in self._parts:
                part.add(episode, whole)
        except Exception:  # a metric of a user's may break on anything
            self._given_up = True
            return
        self._lines.append(line)
        if len(self._lines) == index.PIECE:
            self._end_piece()

    def keep(self, where: store.Where, file: str) -> None:
        """Put the columns into the index, now that the file is whole."""
        if self._lines:
            self._end_piece()
        if not self._given_up:
            store.fill(where, file, fingerprint(), self._made)

    def _end_piece(self) -> None:
        found = {name: data for part in self._parts for name, data in part.columns().items()}
        self._made.append((store.sum_of_lines(b"".join(self._lines)), found))
        self._lines, self._parts = [], self._begun()


def opened(episode: Episode, replay: Replay[Any, Any, Any]) -> Played:
    """An episode laid open; its own states and moves, where these are the same when read back.

    That is so of bare numbered moves. An action or a report of another form may be read back as
    an equal one of another type, so that such an episode is replayed from its line.
    """
    for event in episode.events:
        bare = type(event.action) is int if type(event) is Moved else type(event) is Ended
        if not bare:
            return played(episode)
    spec = registry.game(episode.setup.instance.game)
    whole = Replay(replay.game, replay.states, replay.moves, lineup=episode.setup.lineup)
    return Played(spec, episode, whole)
