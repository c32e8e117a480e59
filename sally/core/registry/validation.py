"""Log validation: recompute what a log claims from its moves."""

from __future__ import annotations

import logging

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Moved, Setup, episode_id, label
from sally.core.match.playback import mismatch
from sally.core.prompt.model import Usage
from sally.core.registry import registry

_log = logging.getLogger(__name__)


def log_problem(episode: Episode) -> str | None:
    """Return why an episode cannot have been played as logged, or None if it can.

    The moves are stepped through the rules; no player is asked again. If the game or this version
    of its rules is not installed, nothing can be checked and the result is None.
    """
    if episode.id != (setup_id := episode_id(episode.setup)):
        return f"the id should be {setup_id}, the hash of its setup"
    try:
        spec = registry.game(episode.setup.instance.game)
    except BadInput:
        return None
    if spec.version != episode.setup.version:
        return None
    return setup_problem(episode) or mismatch(spec, episode)


def setup_problem(episode: Episode) -> str | None:
    """Return what is invalid in an episode regardless of its moves, or None."""
    return _lineup_problem(episode.setup) or _event_problem(episode)


def _lineup_problem(setup: Setup) -> str | None:
    """Return what is wrong with the lineup, or None: every seat needs a player with a name."""
    try:
        game = registry.game(setup.instance.game).build(setup.instance.params)
        for player in setup.lineup.values():
            label(player)
    except Exception as error:  # parameters may have any shape
        _log.debug("the setup of an episode is invalid", exc_info=True)
        return f"the setup is invalid: {error}"
    empty = [seat for seat in game.seats if seat not in setup.lineup]
    return f"seat {empty[0]!r} has no player" if empty else None


def _event_problem(episode: Episode) -> str | None:
    """Return what is wrong with the type of a move, the tries or the model calls, or None."""
    for event in episode.events:
        # true and 1.0 equal the number of a move, so that the rules accept them
        if isinstance(event, Moved) and isinstance(event.action, bool | float):
            return f"the move of turn {event.turn} is {event.action!r}, not the number of a move"
        if event.tries < 1:
            return f"an answer of turn {event.turn} took {event.tries} tries"
        for call in event.calls:
            try:
                msgspec.convert(call.usage, Usage)
            except msgspec.ValidationError as error:
                return f"a call of turn {event.turn} has an invalid usage record: {error}"
    return None
