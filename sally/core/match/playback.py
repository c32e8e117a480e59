"""Replay of a log; replaying moves needs no seed, model or network."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from sally.core.errors import BadInput, PromptDiffers
from sally.core.log.events import Censored, Episode, Event, Forfeited, Moved, Reported, episode_id
from sally.core.match.answers import action_of, answers_of
from sally.core.match.engine import Match
from sally.core.match.player import WAIT, Turn
from sally.core.match.position import past_moves
from sally.core.match.replay import Trajectory
from sally.core.rules.game import GameSpec, Seat

_log = logging.getLogger(__name__)

# (the ask, its logged event) -> the answer; None: the log's own
Again = Callable[[Turn[Any, Any], Any], Any]


def replayed(spec: GameSpec[Any, Any, Any], episode: Episode) -> Trajectory[Any, Any, Any]:
    """Return the states, moves and reports of an episode by turn."""
    require_version(spec, episode)
    game = spec.build(episode.setup.instance.params)
    replay: Trajectory[Any, Any, Any] = Trajectory(
        game, [game.start()], lineup=episode.setup.lineup
    )
    for moves in past_moves(spec, game, episode.setup.instance, replay.states):
        replay.moves.append(moves)
    turns: dict[int, tuple[dict[Seat, Any], list[Seat]]] = {}
    for event in episode.events:
        if type(event) is Moved:
            if (made := turns.get(event.turn)) is None:
                made = turns[event.turn] = ({}, [])
            made[0][Seat(event.seat)] = action_of(spec, event.action)
        elif type(event) is Forfeited:
            turns.setdefault(event.turn, ({}, []))[1].append(Seat(event.seat))
        elif type(event) is Reported:
            key = (event.turn, event.seat, event.probe, event.about)
            if event.source == "probe":
                replay.reports[key] = event
            else:
                replay.reports.setdefault(key, event)
    stop = episode.events[-1] if episode.events else None
    for turn, (moves, lost) in sorted(turns.items()):
        state = replay.states[-1]
        if isinstance(stop, Censored) and turn == stop.turn:
            break  # the log holds answers of this turn, but it was never played
        replay.moves.append(moves)
        replay.states.append(
            game.forfeit(state, moves, tuple(lost)) if lost else game.step(state, moves)
        )
        if lost:
            replay.forfeited[turn] = tuple(lost)
    return replay


def require_version(spec: GameSpec[Any, Any, Any], episode: Episode) -> None:
    """Raise BadInput unless the episode was played under the installed version of the rules."""
    if episode.setup.version != spec.version:
        raise BadInput(
            f"Episode {episode.id} was played under version {episode.setup.version} of the rules "
            f"of {spec.name}; version {spec.version} is installed."
        )


def mismatch(
    spec: GameSpec[Any, Any, Any], episode: Episode, asked_again: Again | None = None
) -> str | None:
    """Return how a rerun of the log through a match differs from the log, or None if it does not.

    With `asked_again`, the players are asked again: the answers of bots are compared with the log,
    and the hashes of models' prompts with the logged hashes.
    """
    if episode.id != (asked := episode_id(episode.setup)):
        return f"the id should be {asked}, the hash of its setup"
    try:
        match: Match[Any, Any, Any] = Match(spec, episode.setup, ask_nature=True)
        logged = _LogSource(spec, episode, asked_again)
        seats = map(str, (*match.game.seats, *match.game.helpers))
        sources = dict.fromkeys(seats, logged)
        match.play(sources, sources)
        if not match.over:
            _stop_as_logged(match, episode)
    except PromptDiffers as why:
        return str(why)
    except Exception as why:  # a log may hold anything
        _log.debug("episode %s does not replay", episode.id, exc_info=True)
        return f"the log does not replay: {why or type(why).__name__}"
    if episode.events == match.events:
        return None
    was_all, now_all = as_stored(episode.events), as_stored(match.events)
    for i, (was, now) in enumerate(zip(was_all, now_all, strict=False)):
        if not _equal(was, now):
            return f"event {i} was {_short(was)} and replays as {_short(now)}"
    if len(was_all) != len(now_all):
        return f"{len(was_all)} events were logged and {len(now_all)} replay"
    return None


class _LogSource:
    """The log of an episode as the source of answers to its asks."""

    def __init__(
        self, spec: GameSpec[Any, Any, Any], episode: Episode, asked_again: Again | None
    ) -> None:
        self.answers = answers_of(spec, episode)
        self._asked_again = asked_again
        # before a fork, other players were asked
        self._since = episode.setup.fork.turn if episode.setup.fork else 0

    def __call__(self, turn: Turn[Any, Any]) -> Any:
        logged = self.answers.get(turn.id)
        if logged is None:
            return WAIT
        event, given = logged
        if self._asked_again is not None and turn.id[0] >= self._since:
            anew = self._asked_again(turn, event)
            if anew is not None:
                return anew
        if event.looked:
            turn.looked = event.looked
        return given


def _stop_as_logged(match: Match[Any, Any, Any], episode: Episode) -> None:
    """Censor a match at the point where its log was censored.

    Raises:
        LookupError: The log lacks answers.
    """
    stop = episode.events[-1] if episode.events else None
    if not isinstance(stop, Censored):
        raise LookupError(f"the log has no answer to {[turn.id for turn in match.asks()]}")
    match.censor(stop.cause, stop.detail, stop.seat, stop.calls)


def rerun(
    match: Match[Any, Any, Any], episode: Episode
) -> Iterator[tuple[Turn[Any, Any], Event | None]]:
    """Play the log through a fresh match; yield each ask with its event, before answering it.

    Asks that were unanswered when the episode stopped come last, each with None as its event.
    """
    logged = _LogSource(match.spec, episode, None)
    while not match.over:
        asked = [turn for turn in match.asks() if turn.id in logged.answers]
        if not asked:
            unanswered = match.asks()
            if isinstance(episode.events[-1] if episode.events else None, Censored):
                yield from ((turn, None) for turn in unanswered)
            _stop_as_logged(match, episode)
        for turn in asked:
            yield turn, logged.answers[turn.id][0]
            match.answer(turn.id, logged(turn))
            if match.over:
                break


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
