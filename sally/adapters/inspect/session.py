"""State shared by all episodes of an eval: writer, configuration, meter and cache."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sally import store
from sally.core.log.events import Episode
from sally.runner.budget import Meter
from sally.runner.config import Config, find_config

OnStored = Callable[[Episode], None]


@dataclass
class Session:
    """The state that all episodes of an eval share; there is one session per store and process."""

    config: Config
    meter: Meter
    writer: store.Writer
    cache: bool = False
    on_stored: OnStored | None = None  # called with each stored episode
    is_inspects: bool = False  # Inspect started the eval, and may retry its samples

    def keep(self, episode: Episode) -> None:
        """Store an episode."""
        self.writer.add(episode)
        if self.on_stored is not None:
            self.on_stored(episode)


_sessions: dict[str, Session] = {}


@contextmanager
def session(
    out: store.Where,
    meter: Meter,
    cache: bool = False,
    label: str = "",
    on_stored: OnStored | None = None,
    ours: store.Ours | None = None,
) -> Iterator[Session]:
    """Open the session of an Inspect eval that Sally itself started."""
    with store.Writer(out, label, ours) as writer:
        begun = Session(meter.config, meter, writer, cache, on_stored)
        _sessions[str(out)] = begun
        try:
            yield begun
        finally:
            del _sessions[str(out)]


def session_of(out: str) -> Session:
    """Return the session of a store; for an eval that Inspect started, it is created here and lasts
    until the process ends."""
    if out not in _sessions:
        config = find_config()
        writer = store.Writer(out)
        _sessions[out] = Session(config, Meter(config=config), writer, is_inspects=True)
        atexit.register(_sessions[out].writer.__exit__, None, None, None)
    return _sessions[out]
