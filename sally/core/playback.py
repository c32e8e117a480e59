"""From the log back to the game: moves replay without a seed, a model or a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.game import GameSpec, Seat
from sally.core.log import (
    Censored,
    Episode,
    Event,
    Forfeited,
    Moved,
    Reported,
    Skipped,
    episode_id,
)
from sally.core.match import Match
from sally.core.player import AskId, Decision, Forfeit, Silence, Turn
from sally.core.probe import Foreseen, Report
from sally.core.replay import Replay

Again = Callable[[Turn[Any, Any], Any], Any]  # (the ask, its logged event) -> the answer


def replayed(spec: GameSpec[Any, Any, Any], episode: Episode) -> Replay[Any, Any, Any]:
    """The episode laid open: states, moves and reports by turn."""
    require_version(spec, episode)
    game = spec.build(episode.setup.instance.params)
    replay: Replay[Any, Any, Any] = Replay(game, [game.start()], lineup=episode.setup.lineup)
    turns: dict[int, tuple[dict[Seat, Any], list[Seat]]] = {}
    for event in episode.events:
        if type(event) is Moved:
            action = _action(spec, event.action)
            turns.setdefault(event.turn, ({}, []))[0][Seat(event.seat)] = action
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

    With `asked_again`, players whose calls are logged answer anew, so that their prompts are
    rendered again and the hashes compared.
    """
    if episode.id != (asked := episode_id(episode.setup)):
        return f"the id should be {asked}, the hash of what was asked for"
    try:
        again = _played_back(spec, episode, asked_again)
    except (ValueError, LookupError, TypeError, AttributeError, msgspec.ValidationError) as why:
        return f"the log does not play: {why}"
    logged, rerun = as_stored(episode.events), as_stored(again)
    for i, (was, now) in enumerate(zip(logged, rerun, strict=False)):
        if was != now:
            return f"event {i} was {_short(was)} and replays as {_short(now)}"
    if len(logged) != len(rerun):
        return f"{len(logged)} events were logged and {len(rerun)} replay"
    return None


def _played_back(
    spec: GameSpec[Any, Any, Any], episode: Episode, asked_again: Again | None
) -> list[Event]:
    match = Match(spec, episode.setup, ask_nature=True)
    answers = answers_of(spec, episode)
    while not match.over:
        asked = [turn for turn in match.asks() if turn.id in answers]
        if not asked:
            stop = episode.events[-1] if episode.events else None
            if not isinstance(stop, Censored):
                raise LookupError(f"nobody answers {[turn.id for turn in match.asks()]}")
            match.censor(stop.cause, stop.detail, stop.seat, stop.calls)
            break
        for turn in asked:
            event, given = answers[turn.id]
            calls: tuple[Any, ...] = getattr(event, "calls", ())
            if asked_again is not None and calls:
                given = asked_again(turn, event)
            else:
                turn.looked.extend(getattr(event, "looked", ()))
            match.answer(turn.id, given)
            if match.over:
                break
    return match.events


def answers_of(spec: GameSpec[Any, Any, Any], episode: Episode) -> dict[AskId, tuple[Event, Any]]:
    """Every logged answer under the ask that it answers."""
    foreseen: dict[tuple[int, str], tuple[Foreseen, ...]] = {}
    out: dict[AskId, tuple[Event, Any]] = {}
    for e in episode.events:
        if isinstance(e, Reported) and e.source == "decision":
            made = Foreseen(e.probe, e.value, e.about, e.odds)
            foreseen[e.turn, e.seat] = (*foreseen.get((e.turn, e.seat), ()), made)
    for e in episode.events:
        if isinstance(e, Moved):
            seen = foreseen.get((e.turn, e.seat), ())
            action = _action(spec, e.action)
            given: Any = Decision(action, e.memory, e.reply, e.tries, e.calls, seen)
            out[e.turn, e.seat, "", ""] = (e, given)
        elif isinstance(e, Forfeited) and e.reason != "rejected":
            lost = Forfeit(e.reason, e.reply, e.tries, e.calls, e.memory)
            out[e.turn, e.seat, "", ""] = (e, lost)
        elif isinstance(e, Reported) and e.source == "probe":
            report = Report(e.value, e.odds, e.reply, e.tries, e.calls)
            out[e.turn, e.seat, e.probe, e.about] = (e, report)
        elif isinstance(e, Skipped):
            out[e.turn, e.seat, e.probe, e.about] = (e, Silence(e.reason))
    return out


def _action(spec: GameSpec[Any, Any, Any], logged: Any) -> Any:
    return logged if spec.action is int else msgspec.convert(logged, spec.action)


def as_stored(events: list[Event]) -> list[Any]:
    """Events as JSON has them: an action read from disk holds lists, a played one tuples."""
    plain: list[Any] = msgspec.json.decode(msgspec.json.encode(events))
    return plain


def _short(event: Any) -> str:
    text = msgspec.json.encode(event).decode()
    return text if len(text) <= 160 else f"{text[:157]}..."
