"""An episode to read: from one seat's eyes, or from the referee's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sally.analysis.rows import judged, label
from sally.core import packs
from sally.core.desk import Desk
from sally.core.errors import unknown
from sally.core.game import NATURE, Seat
from sally.core.log import (
    Censored,
    Ended,
    Event,
    Forfeited,
    Moved,
    Reported,
    Sitter,
    Skipped,
    Told,
)
from sally.core.metric import Played
from sally.core.words import Words

REFEREE = "referee"


def transcript(whole: Played, eyes: str = REFEREE) -> Iterator[str]:
    """The episode, line by line, as `eyes` saw it."""
    game, setup = whole.replay.game, whole.episode.setup
    everyone = (*game.seats, *game.helpers)
    if eyes not in (REFEREE, *everyone):
        raise unknown("seat", eyes, (REFEREE, *everyone))
    desks = {
        seat: Desk(whole.spec, game, seat, setup.seed, pack_of(setup.lineup.get(seat)))
        for seat in everyone
    }
    yield f"episode {whole.episode.id}: {setup.instance.game}, instance {setup.instance.id}"
    if eyes == REFEREE:
        yield "at the table: " + ", ".join(f"{s} = {label(w)}" for s, w in setup.lineup.items())
        yield from _referee(whole, desks)
    else:  # who the others are is nothing that a seat sees
        yield f"from the eyes of {eyes}" + "".join(
            f" = {label(who)}" for seat, who in setup.lineup.items() if seat == eyes
        )
        yield from _seat(whole, desks[Seat(eyes)])


def pack_of(who: Sitter | None) -> Mapping[str, str]:
    """The sentences that this seat was shown in the place of ours."""
    name = who.params.get("pack") if who is not None else None
    return packs.find(name).texts if name else {}


def _referee(whole: Played, desks: dict[Seat, Desk]) -> Iterator[str]:
    turn = -1
    for event in whole.episode.events:
        if event.turn != turn:
            turn = event.turn
            yield f"turn {turn}"
        yield f"  {_said(whole, desks, event)}"


def _seat(whole: Played, desk: Desk) -> Iterator[str]:
    """Only what this seat saw, was asked and was told."""
    seat, words, replay = desk.seat, desk.words, whole.replay
    yield ""
    yield words.rules(seat) if seat in replay.game.seats else f"(the {seat} has no page)"
    shown, situation = 0, ""
    form = words.forms[0]
    for event in whole.episode.events:
        if isinstance(event, Told) and event.value is None:
            continue  # there was nothing to tell, so nothing was heard
        if getattr(event, "seat", None) == seat and event.turn < len(replay.states):
            view = replay.view(event.turn, seat)
            new = list(words.lines(view, shown, form))
            shown += len(new)
            yield from new
            now = f"[turn {event.turn}] {words.now(view)}".rstrip()
            if now != situation:  # asked several times at one point, it is where it was
                situation = now
                yield now
            yield f"  {_said(whole, {seat: desk}, event, all_known=False)}"
    if replay.states:
        yield from words.lines(replay.view(len(replay.states) - 1, seat), shown, form)
    end = whole.episode.end
    yield (
        _end(end) if isinstance(end, Censored) else f"over; {seat} got {end.payoffs.get(seat, 0):g}"
    )


def _said(whole: Played, desks: dict[Seat, Desk], event: Event, all_known: bool = True) -> str:
    if isinstance(event, Ended | Censored):
        return _end(event)
    seat = Seat(event.seat)
    words: Words[Any, Any] = desks[seat].words
    if isinstance(event, Moved):
        move = event.action if seat == NATURE else words.name(_action(whole, event))
        words_said = f'  "{_one_line(event.reply)}"' if event.reply else ""
        return f"{seat}: {move}{words_said}"
    if isinstance(event, Forfeited):
        return f"{seat} forfeits ({event.reason}): {_one_line(event.reply)!r}"
    about = f" about {event.about}" if event.about else ""
    if isinstance(event, Skipped):
        return f"{seat} is not asked {event.probe}{about}: {event.reason}"
    said = "is told" if isinstance(event, Told) else "says aside,"
    answer = f"{seat} {said} {event.probe}{about}: {_value(whole, desks, event)}"
    if not all_known:
        return answer
    question, truth = judged(whole, event)
    if isinstance(event, Told) and (event.source != "truth" or event.value in (truth, None)):
        return f"{answer} ({event.source})"
    if truth is None or question is None:
        return f"{answer} (not scored)"
    return f"{answer} (true: {_named(words, question, truth)})"


def _value(whole: Played, desks: dict[Seat, Desk], event: Reported | Told) -> str:
    if event.value is None:
        return "nothing, as nothing was known" if isinstance(event, Told) else "nothing readable"
    seat = Seat(event.seat)
    probe = whole.spec.probe(event.probe)
    asked = probe.asks(whole.replay.game, whole.replay.view(event.turn, seat), seat)
    question = next((q for q in asked if q.about == event.about), None)
    return _named(desks[seat].words, question, event.value)


def _named(words: Words[Any, Any], question: Any, value: Any) -> str:
    if question is None or isinstance(value, dict):
        return str(value)
    return words.choice_name(question, value)


def _action(whole: Played, event: Moved) -> Any:
    move = whole.replay.move(event.turn, Seat(event.seat))
    return event.action if move is None else move


def _end(event: Ended | Censored) -> str:
    if isinstance(event, Censored):
        return f"stopped without a result ({event.cause}): {event.detail}".rstrip(": ")
    return "over: " + ", ".join(f"{seat} {pay:g}" for seat, pay in event.payoffs.items())


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:197]}..."
