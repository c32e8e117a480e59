"""What all episodes of one eval share: the store's writer, the config, the meter, the cache."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sally import store
from sally.core.log.events import Episode
from sally.runner.budget import Meter
from sally.runner.config import Config, find_config

Told = Callable[[Episode], None]


@dataclass
class Session:
    """Everything but the episode; one for each store and process."""

    config: Config
    meter: Meter
    writer: store.Writer
    cache: bool = False
    kept: list[str] = field(default_factory=list)  # ids, in the order they ended
    told: Told | None = None  # hears of each record that is stored

    def keep(self, episode: Episode) -> None:
        """Append a record to the store."""
        self.writer.add(episode)
        self.kept.append(episode.id)
        if self.told is not None:
            self.told(episode)


_sessions: dict[str, Session] = {}


@contextmanager
def session(
    out: store.Where,
    meter: Meter,
    cache: bool = False,
    label: str = "",
    told: Told | None = None,
    ours: store.Ours | None = None,
) -> Iterator[Session]:
    """One writer and one meter for all episodes of an eval of ours."""
    with store.Writer(out, label, ours) as writer:
        begun = Session(meter.config, meter, writer, cache, told=told)
        _sessions[str(out)] = begun
        try:
            yield begun
        finally:
            del _sessions[str(out)]


def session_of(out: str) -> Session:
    """The session of a store; an eval begun by Inspect has one until its process ends."""
    if out not in _sessions:
        config = find_config()
        _sessions[out] = Session(config, Meter(config=config), store.Writer(out))
        atexit.register(_sessions[out].writer.__exit__, None, None, None)
    return _sessions[out]
