"""Tables built while a run plays, so that the first analysis is fast."""

from __future__ import annotations

import logging
from hashlib import blake2b

from sally import store
from sally.core.log.events import Ended, Episode, Moved
from sally.core.registry import registry
from sally.core.rules.metric import Metric, Played
from sally.core.rules.replay import Trajectory
from sally.frames import cache
from sally.frames.build import EPISODES, METRICS, PROFILES, SEATS, Builder
from sally.frames.replays import replay_for_measures

log = logging.getLogger(__name__)
CHECKED = 32  # one line in this many is validated as if read from disk


class TableWriter:
    """Writer of the tables of one file of lines, which a worker fills while it plays.

    After an error nothing is kept; the command that needs the tables then builds them and reports
    the error.
    """

    def __init__(self) -> None:
        self._builder: Builder | None = None
        self._games: set[str] = set()
        self._digest = blake2b(digest_size=cache.DIGEST_BYTES)
        self._line = self._start = 0
        self._has_failed = False

    def add(self, line: bytes, episode: Episode, replay: Trajectory) -> None:
        """Add an episode as decoded from its line, and its replay."""
        if self._has_failed:
            return
        self._digest.update(line)
        self._line += 1
        try:
            if self._line % CHECKED == 1 and store.sound_line(line) != episode:
                self._has_failed = True  # the reader reports it
                return
            if self._builder is None:
                metrics = cache.cacheable(metrics_of(episode))
                self._builder = Builder((EPISODES, SEATS, METRICS, PROFILES), metrics)
            place = {"line": self._line, "start": self._start, "size": len(line)}
            self._builder.add(episode, _reuse_replay(episode, replay), **place)
            self._games.add(episode.setup.instance.game)
        except Exception:  # a user's metric may raise anything
            log.info("No tables of this file: episode %s", episode.id, exc_info=True)
            self._has_failed = True
        self._start += len(line)

    def keep(self, source: store.Where) -> None:
        """Keep the tables, once the file is complete."""
        if self._has_failed or self._builder is None or cache.in_memory_only(self._games):
            return
        packs = store.place(source).names("packs")
        cache.write(cache.with_packs(self._digest, packs), self._builder.tables())


def metrics_of(episode: Episode) -> dict[str, Metric]:
    """Return the metrics of the episode's game, by name."""
    spec = registry.game(episode.setup.instance.game)
    return dict(registry.metrics(spec.family or spec.name))


def _reuse_replay(episode: Episode, replay: Trajectory) -> Played:
    """Return the replayed episode; the replay made during play is reused if the moves are integers
    and there are no reports.

    Other actions, and reports, may have another type once they are read back from the log, so such
    an episode is replayed from its log line.
    """
    for event in episode.events:
        is_plain = type(event.action) is int if type(event) is Moved else type(event) is Ended
        if not is_plain:
            return replay_for_measures(episode)
    spec = registry.game(episode.setup.instance.game)
    moves = Trajectory(replay.game, replay.states, replay.moves, lineup=episode.setup.lineup)
    return Played(spec, episode, moves)
