"""A stored episode turn by turn: what one seat saw, was asked and said, or what the referee knew.

The log is played through a match again, so a page is the one that stood on the desk at that
moment; a language model's prompts are rendered by its strategy and checked against the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from sally.analysis.rows import played
from sally.core import packs, shelf
from sally.core.answers import answers_of
from sally.core.board import Board, board_of
from sally.core.desk import Desk
from sally.core.errors import BadInput, unknown
from sally.core.game import NATURE, GameSpec, Seat
from sally.core.log import (
    Censored,
    Ended,
    Episode,
    Event,
    Forfeited,
    Moved,
    Reported,
    Sitter,
    Told,
    label,
)
from sally.core.match import Match
from sally.core.menu import Form
from sally.core.metric import Played, judged
from sally.core.playback import require_version
from sally.core.player import Turn
from sally.core.scenes import REFEREE
from sally.web.explorer.prompts import Line, prompts_of


class Asked(msgspec.Struct, frozen=True):
    """One ask as it was put to a seat, and what came of it."""

    kind: str  # "move" or "probe"
    name: str  # of the probe
    question: str
    format: str
    options: tuple[str, ...]
    answer: str | None  # None: it was never answered
    reply: str = ""
    tries: int = 1
    odds: tuple[Line, ...] = ()
    looked: tuple[Line, ...] = ()  # what was looked up, and found
    prompts: tuple[tuple[Line, ...], ...] = ()  # a model's, call by call
    unrendered: str = ""  # why the prompts cannot be shown, if they cannot


class Scene(msgspec.Struct, frozen=True):
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


class Ledger(msgspec.Struct, frozen=True):
    """One turn from the referee's eyes."""

    turn: int
    state: str  # everything, as JSON
    notes: tuple[Noted, ...]


class Close(msgspec.Struct, frozen=True):
    """How it ended, as far as the eyes know."""

    rules: str
    lines: tuple[str, ...]
    text: str


def perspectives_of(episode: Episode) -> tuple[str, ...]:
    """From whose eyes an episode can be seen: the referee's, and each seat's that has a page."""
    spec = _spec(episode)
    return (REFEREE, *map(str, spec.build(episode.setup.instance.params).seats))


def turns_of(episode: Episode, eyes: str) -> list[int]:
    """The turns in which there is something to see for these eyes."""
    known = perspectives_of(episode)
    if eyes not in known:
        raise unknown("seat", eyes, known)
    if eyes == REFEREE:
        return sorted({event.turn for event in episode.events})
    return sorted({turn.number for turn, _ in _asks(episode) if turn.seat == eyes})


# --- a seat's eyes ------------------------------------------------------------------------------


def scene(episode: Episode, seat: str, turn: int) -> Scene:
    """What `seat` saw and did in one turn."""
    asked = list(_asked_in(episode, seat, turn))
    if not asked:
        raise BadInput(f"{seat} was asked nothing in turn {turn}.")
    return msgspec.structs.replace(
        asked[-1], asked=tuple(each for found in asked for each in found.asked)
    )


def _asked_in(episode: Episode, seat: str, turn: int) -> Iterator[Scene]:
    """The scenes of all asks of a turn, in the order in which they stood open."""
    shown = 0
    for each, event in _asks(episode):
        if each.seat == seat:
            if each.number == turn:
                yield _scene(episode, each, event, shown)
            elif each.number < turn:
                shown = len(_past(_desk(episode, each), each.view))
        if each.number > turn:
            return


def _asks(episode: Episode) -> Iterator[tuple[Turn[Any, Any], Event | None]]:
    """Every ask of the episode just before it is answered, with what was logged of it."""
    spec = _spec(episode)
    match: Match[Any, Any, Any] = Match(spec, episode.setup, ask_nature=True)
    answers = answers_of(spec, episode)
    while not match.over:
        answered = [turn for turn in match.asks() if turn.id in answers]
        if not answered:
            yield from ((turn, None) for turn in match.asks())
            return
        for turn in answered:
            event, given = answers[turn.id]
            yield turn, event
            turn.looked.clear()
            turn.looked.extend(getattr(event, "looked", ()))
            match.answer(turn.id, given)
            if match.over:
                return


def _scene(episode: Episode, turn: Turn[Any, Any], event: Event | None, shown: int) -> Scene:
    desk = _desk(episode, turn)
    words, view, lines = desk.words, turn.view, _past(desk, turn.view)
    return Scene(
        turn=turn.number,
        seat=turn.seat,
        rules=words.rules(turn.seat),
        lines=tuple(lines),
        new=len(lines) - min(shown, len(lines)),
        now=words.now(view),
        board=board_of(desk, view),
        told=tuple(words.told(told) for told in turn.told),
        asked=(_ask(episode, desk, turn, event),),
    )


def _past(desk: Desk, view: Any) -> list[str]:
    return desk.past(view, desk.words.forms[0])


def _desk(episode: Episode, turn: Turn[Any, Any]) -> Desk:
    """The desk under the words that this seat was shown."""
    who = episode.setup.lineup.get(turn.seat)
    pack = who.params.get("pack") if who is not None else None
    return turn.desk.in_words(pack, packs.find(pack).texts) if pack else turn.desk


def _ask(episode: Episode, desk: Desk, turn: Turn[Any, Any], event: Event | None) -> Asked:
    words, question = desk.words, turn.question
    prompts, why = prompts_of(episode, turn, event)
    common: dict[str, Any] = {
        "answer": None if event is None else _answer(desk, turn, event),
        "reply": getattr(event, "reply", ""),
        "tries": getattr(event, "tries", 1),
        "looked": _looked(event),
        "prompts": prompts,
        "unrendered": why,
    }
    if question is None:
        return Asked(
            kind="move",
            name="",
            question=words.question(turn.view, turn.options),
            format=words.format(turn.view, turn.options),
            options=_option_names(desk, turn.options),
            **common,
        )
    names = [words.choice_name(question, c) for c in question.choices]
    odds = event.odds if isinstance(event, Reported) and event.odds else ()
    return Asked(
        kind="probe",
        name=question.probe + (f" about {question.about}" if question.about else ""),
        question=words.aside(question, turn.view, turn.pending),
        format=words.aside_format(question),
        options=tuple(names),
        odds=tuple(Line(n, f"{p:.0%}") for n, p in zip(names, odds, strict=False)),
        **common,
    )


def _option_names(desk: Desk, options: Sequence[Any]) -> tuple[str, ...]:
    ready = tuple(option for option in options if type(option) is not Form)
    forms = tuple(f"{option.kind} ..." for option in options if type(option) is Form)
    return (*desk.words.menu(ready), *forms)


def _answer(desk: Desk, turn: Turn[Any, Any], event: Event) -> str:
    if isinstance(event, Moved):
        action = event.action
        if desk.spec.action is not int:
            action = msgspec.convert(action, desk.spec.action)
        return desk.words.name(action)
    if isinstance(event, Forfeited):
        return f"(forfeited: {event.reason})"
    if isinstance(event, Reported):
        if event.value is None:
            return "(nothing readable)"
        if isinstance(event.value, dict) or turn.question is None:
            return str(event.value)
        return desk.words.choice_name(turn.question, event.value)
    return f"(not asked: {getattr(event, 'reason', '')})"


def _looked(event: Event | None) -> tuple[Line, ...]:
    return tuple(
        Line(f"{look.tool} {_json(look.given)}", _json(look.found))
        for look in getattr(event, "looked", ())
    )


# --- the referee's eyes -------------------------------------------------------------------------


def ledger(episode: Episode, turn: int) -> Ledger:
    """Everything that happened in one turn, and the state before it."""
    whole = played(episode)
    if not any(event.turn == turn for event in episode.events):
        raise BadInput(f"Nothing happened in turn {turn}.")
    states = whole.replay.states
    state = _json(states[turn]) if turn < len(states) else ""
    notes = tuple(_noted(whole, event) for event in episode.events if event.turn == turn)
    return Ledger(turn, state, notes)


def _noted(whole: Played, event: Event) -> Noted:
    kind = type(event).__name__.lower()
    if isinstance(event, Ended | Censored):
        return Noted(getattr(event, "seat", ""), kind, ending(event))
    seat = Seat(event.seat)
    desk = _desk_of(whole, seat)
    if isinstance(event, Moved):
        name = _json(event.action) if seat == NATURE else desk.words.name(_action(whole, event))
        return Noted(seat, kind, name, reply=event.reply)
    if isinstance(event, Forfeited):
        return Noted(seat, kind, event.reason, reply=event.reply)
    about = f"{event.probe} about {event.about}" if event.about else event.probe
    if not isinstance(event, Reported | Told):
        return Noted(seat, kind, f"{about}: {event.reason}")
    found = judged(whole.spec, whole.replay, event)
    question, truth = (found.question, found.truth) if found else (None, None)

    def named(value: Any) -> str:
        if value is None:
            return "nothing readable" if isinstance(event, Reported) else "nothing"
        if question is None or isinstance(value, dict):
            return str(value)
        return desk.words.choice_name(question, value)

    right = None if truth is None or isinstance(truth, dict) else event.value == truth
    source = f" ({event.source})" if event.source != "probe" else ""
    return Noted(
        seat,
        kind,
        f"{about}: {named(event.value)}{source}",
        None if truth is None else named(truth),
        right,
        getattr(event, "reply", ""),
    )


def _desk_of(whole: Played, seat: Seat) -> Desk:
    setup = whole.episode.setup
    who: Sitter | None = setup.lineup.get(seat)
    pack = who.params.get("pack") if who is not None else None
    texts = packs.find(pack).texts if pack else {}
    return Desk(whole.spec, whole.replay.game, seat, setup.seed, texts)


def _action(whole: Played, event: Moved) -> Any:
    move = whole.replay.move(event.turn, Seat(event.seat))
    if move is None and whole.spec.action is not int:  # of a turn that was never finished
        return msgspec.convert(event.action, whole.spec.action)
    return event.action if move is None else move


# --- how it ended -------------------------------------------------------------------------------


def close(episode: Episode, eyes: str) -> Close:
    """The end, with all of the past that a seat can see then."""
    whole = played(episode)
    end = episode.end
    if eyes == REFEREE:
        return Close("", (), ending(end))
    desk = _last_desk(episode, eyes) or _desk_of(whole, Seat(eyes))
    view = whole.replay.view(len(whole.replay.states) - 1, Seat(eyes))
    over = f"It is over. {eyes} got {_got(end, eyes)}." if isinstance(end, Ended) else ending(end)
    return Close(desk.words.rules(Seat(eyes)), tuple(_past(desk, view)), over)


def _last_desk(episode: Episode, seat: str) -> Desk | None:
    """The desk as the seat left it, with all that it was told to keep."""
    desks = [_desk(episode, turn) for turn, _ in _asks(episode) if turn.seat == seat]
    return desks[-1] if desks else None


def _got(end: Ended, seat: str) -> str:
    return f"{end.payoffs[seat]:g}" if seat in end.payoffs else "nothing"


def ending(end: Ended | Censored) -> str:
    """The end in one line."""
    if isinstance(end, Censored):
        who = f" at {end.seat}" if end.seat else ""
        detail = f": {end.detail}" if end.detail else ""
        return f"It stopped without a result ({end.cause}{who}){detail}."
    return "It is over: " + ", ".join(f"{s} {pay:g}" for s, pay in end.payoffs.items()) + "."


def seats_of(episode: Episode) -> list[Line]:
    """Who sat where."""
    return [Line(seat, label(who)) for seat, who in episode.setup.lineup.items()]


def _spec(episode: Episode) -> GameSpec[Any, Any, Any]:
    spec = shelf.game(episode.setup.instance.game)
    require_version(spec, episode)
    return spec


def _json(value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    except (TypeError, ValueError):
        return repr(value)  # a rule's own type that JSON does not know
