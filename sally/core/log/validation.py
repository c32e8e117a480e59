"""Whether a log can have been played: what it claims is worked out again from the moves in it."""

from __future__ import annotations

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Setup, episode_id, label
from sally.core.match.playback import mismatch
from sally.core.prompt.model import Usage
from sally.core.registry import registry


def unsound(episode: Episode) -> str | None:
    """Why an episode cannot have been played as logged; None if it can.

    The moves are stepped through the rules: nobody who played is asked again. Where the game or
    this version of its rules is not installed, nothing can be said, and None is.
    """
    if episode.id != (asked := episode_id(episode.setup)):
        return f"the id should be {asked}, the hash of what was asked for"
    try:
        spec = registry.game(episode.setup.instance.game)
    except BadInput:
        return None
    if spec.version != episode.setup.version:
        return None
    return odd(episode) or mismatch(spec, episode)


def odd(episode: Episode) -> str | None:
    """What no episode of the installed game is like, whatever was played; None if nothing."""
    return _odd_people(episode.setup) or _odd_effort(episode)


def _odd_people(setup: Setup) -> str | None:
    """What is wrong with the lineup, if something is: every seat has somebody who has a name."""
    try:
        game = registry.game(setup.instance.game).build(setup.instance.params)
        for who in setup.lineup.values():
            label(who)
    except Exception as why:  # parameters of any shape, read by any game
        return f"what was asked for cannot be: {why}"
    empty = [seat for seat in game.seats if seat not in setup.lineup]
    return f"nobody sits in seat {empty[0]!r}" if empty else None


def _odd_effort(episode: Episode) -> str | None:
    """What is wrong with the tries and the calls behind the answers, if something is."""
    for event in episode.events:
        if event.tries < 1:
            return f"an answer of turn {event.turn} took {event.tries} tries"
        for call in event.calls:
            try:
                msgspec.convert(call.usage, Usage)
            except msgspec.ValidationError as why:
                return f"a call of turn {event.turn} used what cannot be: {why}"
    return None
