"""From the log back to the game: moves replay without a seed, a model or a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from sally.core.errors import BadInput, PromptDiffers
from sally.core.log.events import (
    Censored,
    Episode,
    Event,
    Forfeited,
    Moved,
    Reported,
    Skipped,
    episode_id,
)
from sally.core.match.answers import action_of, answers_of, given_in
from sally.core.match.engine import Match
from sally.core.match.player import AskId, Turn
from sally.core.match.replay import Replay
from sally.core.rules.game import GameSpec, Seat

# (the ask, its logged event) -> the answer; None: the log's own
Again = Callable[[Turn[Any, Any], Any], Any]


def replayed(spec: GameSpec[Any, Any, Any], episode: Episode) -> Replay[Any, Any, Any]:
    """The episode laid open: states, moves and reports by turn."""
    require_version(spec, episode)
    game = spec.build(episode.setup.instance.params)
    replay: Replay[Any, Any, Any] = Replay(game, [game.start()], lineup=episode.setup.lineup)
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
            break  # what was answered stands in the log; the turn was never played
        replay.moves.append(moves)
        replay.states.append(
            game.forfeit(state, moves, tuple(lost)) if lost else game.step(state, moves)
        )
        if lost:
            replay.forfeited[turn] = tuple(lost)
    return replay


def require_version(spec: GameSpec[Any, Any, Any], episode: Episode) -> None:
    """Moves replay only under the rules they were made under."""
    if episode.setup.version != spec.version:
        raise BadInput(
            f"Episode {episode.id} was played under version {episode.setup.version} of the rules "
            f"of {spec.name}; version {spec.version} is installed."
        )


def mismatch(
    spec: GameSpec[Any, Any, Any], episode: Episode, asked_again: Again | None = None
) -> str | None:
    """What a second run of the log through a match does differently; None when nothing.

    With `asked_again`, players answer anew, so that what a bot says is compared, and of a model
    the prompts, by their hashes.
    """
    if episode.id != (asked := episode_id(episode.setup)):
        return f"the id should be {asked}, the hash of what was asked for"
    if asked_again is None and _plays_plainly(spec, episode):
        return None
    try:
        match = Match(spec, episode.setup, ask_nature=True)
        for _ in rerun(match, episode, asked_again):
            pass
    except PromptDiffers as why:
        return str(why)
    except Exception as why:  # a log holds anything, and any game reads it
        return f"the log does not play: {why or type(why).__name__}"
    logged, again = episode.events, match.events
    if logged == again:
        return None
    for i, (was, now) in enumerate(zip(as_stored(logged), as_stored(again), strict=False)):
        if was != now:
            return f"event {i} was {_short(was)} and replays as {_short(now)}"
    if len(logged) != len(again):
        return f"{len(logged)} events were logged and {len(again)} replay"
    return None


def _plays_plainly(spec: GameSpec[Any, Any, Any], episode: Episode) -> bool:
    """Whether a log of bare moves and reports plays to the same events; False says nothing."""
    script: dict[str, dict[AskId, Any]] = {}
    for event in episode.events[:-1]:
        if type(event) is Moved and type(event.action) is int and not event.calls:
            script.setdefault(event.seat, {})[event.turn, event.seat, "", ""] = event.action
        elif (type(event) is Reported and event.source == "probe") or type(event) is Skipped:
            id = (event.turn, event.seat, event.probe, event.about)
            script.setdefault(event.seat, {})[id] = given_in(event)
        else:
            return False
    says = {seat: _from(answers) for seat, answers in script.items()}
    try:
        match: Match[Any, Any, Any] = Match(spec, episode.setup, ask_nature=True)
        match.play_on(says, report=says)
    except Exception:  # a log holds anything; why it does not play, asking one by one says
        return False
    return match.over and match.events == episode.events


def _from(answers: dict[AskId, Any]) -> Callable[[Turn[Any, Any]], Any]:
    return lambda turn: answers[turn.id]


def rerun(
    match: Match[Any, Any, Any], episode: Episode, asked_again: Again | None = None
) -> Iterator[tuple[Turn[Any, Any], Event | None]]:
    """Play the log through a fresh match, ask by ask, each just before it is answered.

    Asks that nobody answered before the episode was stopped come last, with None.
    """
    answers = answers_of(match.spec, episode)
    since = episode.setup.fork.turn if episode.setup.fork else 0  # before it, others were asked
    while not match.over:
        asked = [turn for turn in match.asks() if turn.id in answers]
        if not asked:
            stop = episode.events[-1] if episode.events else None
            if not isinstance(stop, Censored):
                raise LookupError(f"nobody answers {[turn.id for turn in match.asks()]}")
            yield from ((turn, None) for turn in match.asks())
            match.censor(stop.cause, stop.detail, stop.seat, stop.calls)
            return
        for turn in asked:
            event, given = answers[turn.id]
            yield turn, event
            anew = asked_again(turn, event) if asked_again and turn.number >= since else None
            if anew is None:
                turn.looked[:] = event.looked
            match.answer(turn.id, given if anew is None else anew)
            if match.over:
                break


def as_stored(events: list[Event]) -> list[Any]:
    """Events as JSON has them: an action read from disk holds lists, a played one tuples."""
    plain: list[Any] = msgspec.json.decode(msgspec.json.encode(events))
    return plain


def _short(event: Any) -> str:
    text = msgspec.json.encode(event).decode()
    return text if len(text) <= 160 else f"{text[:157]}..."
