"""Episodes of one game in a store."""

from __future__ import annotations

from collections.abc import Iterator

from sally import store
from sally.core.log.events import Episode
from sally.core.rules.metric import Played
from sally.frames.replays import replay_for_measures


def episodes_in(place: store.Where, game: str, quarantine: bool = True) -> list[Episode]:
    """Return the episodes of one game in a store; unreadable lines are copied to its quarantine,
    unless `quarantine` is false."""
    episodes = store.load(place, quarantine).episodes.values()
    return [episode for episode in episodes if episode.setup.instance.game == game]


def games_in(place: store.Where, game: str, quarantine: bool = True) -> Iterator[Played]:
    """Yield the episodes of one game in a store, each replayed only when it is reached, so that
    not all replays are in memory at once. `quarantine` is that of `episodes_in`."""
    yield from map(replay_for_measures, episodes_in(place, game, quarantine))
