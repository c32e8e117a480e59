"""A stored episode turn by turn: what one seat saw, was asked and said, or all of it."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.analysis.columns.rows import played
from sally.analysis.decisions.costs import Costly, costs_by_turn
from sally.analysis.decisions.rollouts import at_turn
from sally.core.errors import BadInput, unknown
from sally.core.log.events import (
    Censored,
    Ended,
    Episode,
    Event,
    Forfeited,
    Moved,
    Reported,
    Skipped,
    Told,
    label,
)
from sally.core.log.scenes import REFEREE, Scene, Story, ending, texts_of
from sally.core.match.answers import ask_of
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.board import Board, board_of
from sally.core.rules.game import Seat
from sally.web.explorer.prompts import Line, Shown, prompts_in


class Asked(msgspec.Struct, frozen=True):
    """One ask as it was put to a seat, and what came of it."""

    scene: Scene
    answer: str | None  # None: it was never answered
    reply: str = ""
    tries: int = 1
    looked: tuple[Line, ...] = ()  # what was looked up, and found
    shown: Shown = Shown()  # to a model


class TurnOfSeat(msgspec.Struct, frozen=True):
    """One turn from a seat's eyes: the page on its desk, and all that it was asked there."""

    turn: int
    seat: str
    rules: str
    lines: tuple[str, ...]
    new: int  # how many of the lines are new since this seat was last asked
    now: str
    board: Board | None  # as a browser draws it for a person
    told: tuple[str, ...]
    asked: tuple[Asked, ...]


class Noted(msgspec.Struct, frozen=True):
    """One event as the referee knows it."""

    seat: str
    what: str  # moved, reported, skipped, told, forfeited, censored, ended
    text: str
    truth: str | None = None  # None: not scored
    right: bool | None = None
    reply: str = ""
    cost: str = ""  # what the decision gave up, and what was best; empty: not known


class Ledger(msgspec.Struct, frozen=True):
    """One turn from the referee's eyes."""

    turn: int
    state: str  # everything, as JSON
    notes: tuple[Noted, ...]


class Close(msgspec.Struct, frozen=True):
    """How it ended, as far as the eyes know."""

    lines: tuple[str, ...]
    text: str


def perspectives_of(story: Story) -> tuple[str, ...]:
    """From whose eyes an episode can be seen: the referee's, and each seat's that has a page."""
    return (REFEREE, *story.rules)


def turns_of(story: Story, eyes: str) -> list[int]:
    """The turns in which there is something to see for these eyes."""
    if eyes not in perspectives_of(story):
        raise unknown("seat", eyes, perspectives_of(story))
    if eyes == REFEREE:
        return sorted({scene.turn for scene in story.scenes if scene.event})
    return sorted({scene.turn for scene in story.seen_by(eyes) if _is_ask(scene)})


def _is_ask(scene: Scene) -> bool:
    return scene.view is not None


# --- a seat's eyes ------------------------------------------------------------------------------


def turn_of_seat(story: Story, seat: str, turn: int) -> TurnOfSeat:
    """What `seat` saw and did in one turn."""
    seen = [scene for scene in story.seen_by(seat) if scene.turn <= turn]
    here = [scene for scene in seen if scene.turn == turn]
    asked = [scene for scene in here if _is_ask(scene)]
    if not asked:
        raise BadInput(f"{seat} was asked nothing in turn {turn}.")
    prompts = prompts_in(story.episode, seat, turn)
    return TurnOfSeat(
        turn,
        seat,
        story.rules[seat],
        tuple(line for scene in seen for line in scene.new),
        sum(len(scene.new) for scene in here),
        asked[-1].now,
        board_of(_desk(story.episode, seat), asked[-1].view),
        tuple(told for scene in asked for told in scene.told),
        tuple(_asked(scene, prompts) for scene in asked),
    )


def _asked(scene: Scene, prompts: dict[Any, Shown]) -> Asked:
    event = scene.event
    if event is None:
        return Asked(scene, None)
    looked = tuple(
        Line(f"{look.tool} {_json(look.given)}", _json(look.found)) for look in event.looked
    )
    shown = prompts.get(ask_of(event), Shown())
    return Asked(scene, _answer(scene, event), event.reply, event.tries, looked, shown)


def _answer(scene: Scene, event: Event) -> str:
    if isinstance(event, Forfeited):
        return f"(forfeited: {scene.answer})"
    return f"(not asked: {scene.answer})" if isinstance(event, Skipped) else scene.answer


def _desk(episode: Episode, seat: str) -> SeatContext:
    """A desk under the words that this seat was shown."""
    setup = episode.setup
    spec = registry.game(setup.instance.game)
    game, texts = spec.build(setup.instance.params), texts_of(setup.lineup.get(seat))
    return SeatContext(spec, game, Seat(seat), setup.seed, texts)


# --- the referee's eyes -------------------------------------------------------------------------


REPEATS = 5  # of each way to play on, for somebody who waits for the page


def ledger(story: Story, turn: int, play_on: bool = False) -> Ledger:
    """Everything that happened in one turn, and the state before it.

    What a decision gave up is shown where the game knows; `play_on` finds it out by playing on.
    """
    here = [(s, s.event) for s in story.scenes if s.event and s.turn == turn]
    costs = costs_by_turn(story.episode)
    for seat in [s.seat for s, event in here if isinstance(event, Moved)] if play_on else ():
        found = at_turn(story.episode, seat, turn, REPEATS) if seat in story.rules else None
        if found is not None and (turn, seat) not in costs:
            costs[turn, seat] = found
    notes = tuple(_noted(s, event, costs.get((turn, s.seat))) for s, event in here)
    if not notes:
        raise BadInput(f"Nothing happened in turn {turn}.")
    states = played(story.episode).replay.states
    return Ledger(turn, _json(states[turn]) if turn < len(states) else "", notes)


def _noted(scene: Scene, event: Event, cost: Costly | None = None) -> Noted:
    kind, text = type(event).__name__.lower(), scene.answer
    if isinstance(event, Ended | Censored):
        text = ending(event)
    elif isinstance(event, Reported | Told):
        source = f" ({event.source})" if event.source != "probe" else ""
        text = f"{scene.probe}: {text}{source}"
    elif isinstance(event, Skipped):
        text = f"{scene.probe}: {text}"
    paid = _cost(cost) if cost is not None and isinstance(event, Moved | Forfeited) else ""
    return Noted(scene.seat, kind, text, scene.truth, scene.right, event.reply, paid)


def _cost(cost: Costly) -> str:
    best = f" (best: {' or '.join(cost.best)})" if cost.best and cost.loss else ""
    sure = f" [{cost.interval[0]:.3g}, {cost.interval[1]:.3g}]" if cost.interval else ""
    said = f"{cost.loss:.4g}{sure}{best}" if cost.loss else "nothing"
    return f"{said}; by {cost.how}" if "continuations" in cost.how else said


# --- how it ended -------------------------------------------------------------------------------


def close(story: Story, eyes: str) -> Close:
    """The end, with all of the past that a seat can see then."""
    text = sentence(ending(story.episode.end, eyes))
    if eyes == REFEREE:
        return Close((), text)
    past = tuple(line for scene in story.seen_by(eyes) for line in scene.new)
    return Close((*past, *story.after[eyes]), text)


def sentence(said: str) -> str:
    """A line of a transcript as a sentence of its own."""
    return f"{said[0].upper()}{said[1:]}."


def seats_of(episode: Episode) -> list[Line]:
    """Who sat where."""
    return [Line(seat, label(who)) for seat, who in episode.setup.lineup.items()]


def _json(value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    except (TypeError, ValueError):
        return repr(value)  # a rule's own type that JSON does not know
