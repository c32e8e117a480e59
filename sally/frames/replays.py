"""Replayed episodes, ready for measuring."""

from __future__ import annotations

from sally.core.log.events import Episode
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played


def replay_for_measures(episode: Episode) -> Played:
    """Replay an episode for measuring.

    Raises:
        BadInput: If its rules are not installed, or its log does not follow them.
    """
    spec = registry.game(episode.setup.instance.game)
    return Played(spec, episode, replay_episode(spec, episode))
