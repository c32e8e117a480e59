"""Replay of a log; replaying moves needs no seed, model or network."""

from __future__ import annotations

import logging
import math
from typing import Any

import msgspec

from sally.core.errors import BadInput, PromptDiffers
from sally.core.log.events import Censored, Episode, Event, Forfeited, Moved, Reported, episode_id
from sally.core.match.answers import action_of
from sally.core.match.drive import Again, Driver
from sally.core.match.engine import Match
from sally.core.match.position import past_moves
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.probe import is_repeated
from sally.core.rules.replay import Trajectory

_log = logging.getLogger(__name__)


def replay_episode(spec: GameSpec, episode: Episode) -> Trajectory:
    """Return the states, moves and reports of an episode by turn."""
    require_version(spec, episode)
    game = spec.build(episode.setup.instance.params)
    replay: Trajectory = Trajectory(game, [game.start()], lineup=episode.setup.lineup)
    for moves in past_moves(spec, game, episode.setup.instance, replay.states):
        replay.moves.append(moves)
    turns: dict[int, tuple[dict[Seat, Any], list[Seat]]] = {}
    for event in episode.events:
        if type(event) is Moved:
            if (turn_moves := turns.get(event.turn)) is None:
                turn_moves = turns[event.turn] = ({}, [])
            turn_moves[0][Seat(event.seat)] = action_of(spec, event.action)
        elif type(event) is Forfeited:
            turns.setdefault(event.turn, ({}, []))[1].append(Seat(event.seat))
        elif type(event) is Reported:
            key = (event.turn, event.seat, event.probe, event.about)
            if is_repeated(event.probe):
                replay.repeated[key] = event
            elif event.source == "probe":
                replay.reports[key] = event
            else:
                replay.reports.setdefault(key, event)
    stop = episode.events[-1] if episode.events else None
    for turn, (moves, forfeiting_seats) in sorted(turns.items()):
        state = replay.states[-1]
        if isinstance(stop, Censored) and turn == stop.turn:
            break  # the log holds answers of this turn, but it was never played
        replay.moves.append(moves)
        replay.states.append(
            game.forfeit(state, moves, tuple(forfeiting_seats))
            if forfeiting_seats
            else game.step(state, moves)
        )
        if forfeiting_seats:
            replay.forfeited[turn] = tuple(forfeiting_seats)
    return replay


def require_version(spec: GameSpec, episode: Episode) -> None:
    """Raise BadInput unless the episode was played under the installed version of the rules."""
    if episode.setup.version != spec.version:
        raise BadInput(
            f"Episode {episode.id} was played under version {episode.setup.version} of the rules "
            f"of {spec.name}; version {spec.version} is installed."
        )


def mismatch(spec: GameSpec, episode: Episode, asked_again: Again | None = None) -> str | None:
    """Return how a rerun of the log through a match differs from the log, or None if it does not.

    With `asked_again`, the players are asked again: the answers of bots are compared with the log,
    and the hashes of models' prompts with the logged hashes.
    """
    if episode.id != (setup_id := episode_id(episode.setup)):
        return f"the id should be {setup_id}, the hash of its setup"
    try:
        match: Match = Match(spec, episode.setup, ask_nature=True)
        Driver(match).replay(episode, ask_again=asked_again and _since_fork(episode, asked_again))
    except PromptDiffers as error:
        return str(error)
    except Exception as error:  # a log may hold anything
        _log.debug("episode %s does not replay", episode.id, exc_info=True)
        return f"the log does not replay: {error or type(error).__name__}"
    if episode.events == match.events:
        return None
    was_all, now_all = as_stored(episode.events), as_stored(match.events)
    for i, (was, now) in enumerate(zip(was_all, now_all, strict=False)):
        if not _equal(was, now):
            return f"event {i} was {_short(was)} and replays as {_short(now)}"
    if len(was_all) != len(now_all):
        return f"{len(was_all)} events were logged and {len(now_all)} replay"
    return None


def _since_fork(episode: Episode, ask_again: Again) -> Again:
    """Return the function without the turns before a fork, in which other players were asked."""
    first = episode.setup.fork.turn if episode.setup.fork else 0
    return lambda turn, event: ask_again(turn, event) if turn.number >= first else None


def as_stored(events: list[Event]) -> list[Any]:
    """Return events as JSON stores them: tuples in the actions that were played become lists."""
    plain: list[Any] = msgspec.json.decode(msgspec.json.encode(events))
    return plain


ROUNDING = 1e-6  # odds of a float32 network differ by up to 1e-7 between processors


def _equal(was: Any, now: Any) -> bool:
    """Return whether two stored values are equal, up to rounding of numbers."""
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=1e-9, abs_tol=ROUNDING)
    if isinstance(was, dict) and isinstance(now, dict):
        return was.keys() == now.keys() and all(_equal(was[key], now[key]) for key in was)
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(_equal, was, now))
    return bool(was == now)


def _short(event: Any) -> str:
    text = msgspec.json.encode(event).decode()
    return text if len(text) <= 160 else f"{text[:157]}..."
