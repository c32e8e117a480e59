"""Probes and injection within a match: what is asked aside from play, and what is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any

from sally.core.errors import BadInput, IllegalMove
from sally.core.log.events import Event, Forfeited, Moved, Reported, Setup, Skipped, Told
from sally.core.match.answers import foreseen, reported
from sally.core.match.player import Answer, AskId, Decision, Forfeit, Turn
from sally.core.match.replay import Replay
from sally.core.match.seat_context import SeatContext
from sally.core.rules.chance import Stream
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.probe import (
    At,
    Foreseen,
    Injection,
    Probe,
    Question,
    Report,
    corrupted,
    problem,
)

Asked = tuple[Mapping[Seat, tuple[Probe, ...]], Mapping[Seat, tuple[Injection, ...]]]
SECTIONS = ("start", "before", "told", "foreseen", "after")


class ProbeSession:
    """One match's probes and injections, and the notes of the present turn.

    Notes are kept by section, seat and question in the order in which the game asks, so that
    the log does not depend on who answered first.
    """

    def __init__(
        self,
        spec: GameSpec[Any, Any, Any],
        setup: Setup,
        replay: Replay[Any, Any, Any],
        contexts: Mapping[Seat, SeatContext],
        memory: Mapping[Seat, Any],
    ) -> None:
        self._spec, self._game = spec, replay.game
        self._replay, self._contexts, self._memory = (
            replay,
            contexts,
            memory,
        )  # they grow with the match
        self._seats = seats = tuple(contexts)
        forked = setup.fork
        self._changes_at = forked.turn if forked else 0
        self._seeds = (forked.seed if forked else setup.seed, setup.seed)
        self._asked_now = _by_seat(spec, seats, setup.arms, setup.injections)
        self._asked_before = (
            _by_seat(spec, seats, forked.arms, forked.injections) if forked else self._asked_now
        )
        self._notes: dict[str, dict[Seat, dict[tuple[str, str], Event]]] = {}
        self._due: dict[Seat, list[tuple[str, str]]] = {s: [] for s in seats}
        self._arms, self._injections = self._asked_now
        self.turn_begins()
        self._began = 0  # the step at which the game's present turn began
        self._kept: set[tuple[Seat, str]] = set()  # what was told and kept since then

    def copied(
        self,
        replay: Replay[Any, Any, Any],
        contexts: Mapping[Seat, SeatContext],
        memory: Mapping[Seat, Any],
    ) -> ProbeSession:
        """The same at a copy of the match."""
        twin = copy(self)
        twin._replay, twin._contexts, twin._memory = replay, contexts, memory
        twin._notes = {
            section: {seat: dict(notes) for seat, notes in by_seat.items()}
            for section, by_seat in self._notes.items()
        }
        twin._due = {seat: list(due) for seat, due in self._due.items()}
        twin._kept, twin._seen, twin._menus = set(self._kept), dict(self._seen), dict(self._menus)
        return twin

    def turn_begins(self) -> None:
        """Forget what was seen; what is asked before a fork is as the first episode had it."""
        self._seen: dict[Seat, Any] = {}
        self._menus: dict[Seat, Any] = {}
        if self._asked_before is not self._asked_now:
            now = len(self._replay) >= self._changes_at
            self._arms, self._injections = self._asked_now if now else self._asked_before

    @property
    def _seed(self) -> int:
        return self._seeds[len(self._replay) >= self._changes_at]

    def view(self, seat: Seat) -> Any:
        """What a seat sees in the present turn; rules are asked for it once."""
        if seat not in self._seen:
            self._seen[seat] = self._game.observe(self._replay.present, seat)
        return self._seen[seat]

    def menu(self, seat: Seat) -> Any:
        """What a mover may do in the present turn; rules are asked for it once."""
        if seat not in self._menus:
            self._menus[seat] = self._game.options(self._replay.present, seat)
        return self._menus[seat]

    # --- probes -----------------------------------------------------------------------------

    @property
    def only_asks(self) -> bool:
        """Whether nothing of this turn is noted, and nobody is told anything in any turn."""
        told = any(self._injections.values()) or self._asked_before is not self._asked_now
        return not told and not self._notes

    def asked_at(self, *points: str) -> dict[Seat, tuple[Probe, ...]]:
        """The probes at these points of each seat that has any."""
        found = {s: tuple(p for p in ps if p.point in points) for s, ps in self._arms.items()}
        return {seat: probes for seat, probes in found.items() if probes}

    def forget(self) -> None:
        """Forget what was asked and noted in this turn."""
        self._notes.clear()
        for due in self._due.values():
            due.clear()

    def at_start(self, movers: tuple[Seat, ...]) -> list[Turn[Any, Any]]:
        """The asks that stand at the turn's start (any seat) and before the move (movers)."""
        begins = self._game.begins_turn(self._replay.present)
        if begins:
            self._began = len(self._replay)
            self._kept.clear()
        opened: list[Turn[Any, Any]] = []
        for seat, probes in self._arms.items():
            for probe in probes:
                before = probe.point == "before" and seat in movers
                if before or (begins and probe.point == "start"):
                    opened += self._asked(probe, seat, movers)
        return opened

    def _stands(self, probe: Probe) -> bool:
        """Whether a probe may be put before anybody has moved in this turn."""
        if probe.point == "start":
            return self._game.begins_turn(self._replay.present)
        return probe.point == "before"

    def _asked(
        self, probe: Probe, seat: Seat, movers: tuple[Seat, ...], pending: Any = None
    ) -> list[Turn[Any, Any]]:
        if probe.once and self.was_asked(probe, seat):
            return []
        name, view, options = probe.name, self.view(seat), self.menu(seat) if seat in movers else ()
        number, context, memory = len(self._replay), self._contexts[seat], self._memory.get(seat)
        due, opened = self._due[seat], list[Turn[Any, Any]]()
        for question in probe.asks(self._game, view, seat):
            about = question.about
            due.append((name, about))
            id = (number, seat, name, about)
            opened.append(Turn(id, context, view, options, memory, (), question, pending))
        return opened

    def was_asked(self, probe: Probe, seat: Seat) -> bool:
        """Whether a seat has answered a probe in an earlier turn."""
        now = len(self._replay)
        return any(
            (asked, who) == (probe.name, seat) and turn < now
            for turn, who, asked, _ in self._replay.reports
        )

    def take(self, turn: Turn[Any, Any], question: Question, given: Answer) -> None:
        """Note a report, or why there is none."""
        note = reported(turn, question, given)
        if type(note) is Reported:
            self._replay.reports[turn.id] = note
        self._note(self._spec.probe(question.probe).point, note)

    def check_foreseen(self, turn: Turn[Any, Any], made: tuple[Foreseen, ...]) -> None:
        """Refuse predictions that answer no question which could be put to this seat now."""
        spec, seat = self._spec, turn.seat
        for n, f in enumerate(made):
            try:
                probe = spec.probe(f.probe)
            except BadInput as unknown:
                raise IllegalMove(f"{seat} foresaw something: {unknown}") from None
            asked = [q for q in probe.asks(self._game, turn.view, seat) if q.about == f.about]
            if seat not in probe.seats or not asked:
                raise IllegalMove(f"{seat} is not asked {f.probe} about {f.about!r} here.")
            if (why := problem(asked[0], Report(f.value, f.odds))) is not None:
                raise IllegalMove(f"{seat}, foreseeing {f.probe}: {why}.")
            if any((f.probe, f.about) == (g.probe, g.about) for g in made[:n]):
                raise IllegalMove(f"{seat} foresaw {f.probe} about {f.about!r} twice.")

    def after_move(self, seat: Seat, given: Decision[Any] | Forfeit) -> list[Turn[Any, Any]]:
        """Note predictions made inside the move; the asks between it and the reveal."""
        number = len(self._replay)
        for f in given.foreseen if isinstance(given, Decision) else ():
            made = foreseen(number, seat, f)
            self._replay.reports.setdefault((number, seat, f.probe, f.about), made)
            self._note("foreseen", made)
        if not isinstance(given, Decision):
            self.skip(seat, ("after",))
            return []
        opened: list[Turn[Any, Any]] = []
        for probe in self._arms[seat]:
            if probe.point == "after":
                opened += self._asked(probe, seat, (seat,), given.action)
        return opened

    def skip(self, seat: Seat, points: tuple[str, ...]) -> None:
        """Note the questions that fall away because the seat's move was forfeited."""
        for probe in self._arms[seat]:
            for turn in self._asked(probe, seat, (seat,)) if probe.point in points else ():
                assert turn.question is not None
                why, about = "the move was forfeited", turn.question.about
                self._note(probe.point, Skipped(turn.number, seat, probe.name, why, about))

    # --- injection --------------------------------------------------------------------------

    def ready(
        self,
        seat: Seat,
        movers: tuple[Seat, ...],
        made: Mapping[Seat, Moved | Forfeited],
        waiting: Collection[AskId],
    ) -> bool:
        """Whether a mover may be asked now: all that it is to be told is known.

        Its own questions come first, so that what it is told cannot colour its answers; for the
        truth it waits for everybody, because a truth may be another's move or report.
        """
        if not self._injections[seat]:
            return True
        if all(injection.source == "own" for injection in self._injections[seat]):
            return not any(id[1] == seat for id in waiting)
        return not waiting and all(other in made for other in movers if other != seat)

    def tell(self, seat: Seat, made: Mapping[Seat, Moved | Forfeited]) -> tuple[Told, ...]:
        """What a mover is told, noted in the log; kept in its past where the injection says so."""
        if not self._injections[seat]:
            return ()
        replay, view = self._replay, self.view(seat)
        replay.pending = {s: e.action for s, e in made.items() if isinstance(e, Moved)}
        everything: list[Told] = []
        for injection in self._injections[seat]:
            probe = self._spec.probe(injection.probe)
            if (seat, probe.name) in self._kept and not self._stands(probe):
                continue  # it was told earlier in this turn, and stands in the past
            for question in probe.asks(self._game, view, seat):
                told = self._what_to_tell(seat, injection, probe, question)
                self._note("told", told)
                if told.value is not None:
                    everything.append(told)
                    if injection.keep:
                        self._contexts[seat].keep(view, told)
                        self._kept.add((seat, probe.name))
        return tuple(everything)

    def keep_own(self, movers: tuple[Seat, ...]) -> None:
        """Put what seats that do not move said at the turn's start into their pasts, if kept.

        Movers are told before they move; these are not, and find it there when they move next.
        """
        if not (said := self._notes.get("start")):
            return
        for seat in self._seats:
            kept = {i.probe for i in self._injections[seat] if i.source == "own" and i.keep}
            if seat in movers or not kept:
                continue
            for key in [key for key in self._due[seat] if key in said.get(seat, {})]:
                note = said[seat][key]
                if isinstance(note, Reported) and note.probe in kept and note.value is not None:
                    told = Told(note.turn, seat, note.probe, note.value, note.about, "own")
                    self._note("told", told)
                    self._contexts[seat].keep(self.view(seat), told)
                    self._kept.add((seat, note.probe))

    def _what_to_tell(
        self, seat: Seat, injection: Injection, probe: Probe, question: Question
    ) -> Told:
        """What a question of now, or of the turn's start, has for an answer."""
        replay = self._replay
        asked = self._began if probe.point == "start" else len(replay)
        at = At(asked, seat, probe.name, question.about)
        if injection.source == "own":
            report = replay.report(at.turn, seat, at.probe, at.about)
            value = report.value if report else None
        else:
            value = probe.truth(replay, at)
            if value is not None and injection.error:
                draws = Stream(self._seed, seat, at.turn, f"told {at.probe} {at.about}")
                value = corrupted(question, value, injection.error, draws)
        return Told(at.turn, seat, at.probe, value, at.about, injection.source)

    # --- notes of this turn -----------------------------------------------------------------

    def _note(self, section: str, event: Reported | Skipped | Told) -> None:
        by_seat = self._notes.setdefault(section, {}).setdefault(Seat(event.seat), {})
        by_seat[event.probe, event.about] = event

    def flushed(self, sections: Iterable[str]) -> list[Event]:
        """The notes of these sections in canonical order; they are taken off the desk."""
        out: list[Event] = []
        for section in sections:
            if not (noted := self._notes.pop(section, None)):
                continue
            for seat in self._seats:
                if not (notes := noted.get(seat)):
                    continue
                due = [key for key in self._due[seat] if key in notes]
                out += [notes[key] for key in due]
                out += [event for key, event in notes.items() if key not in due]
        if not self._notes:
            for due in self._due.values():
                due.clear()
        return out


def _by_seat(
    spec: GameSpec[Any, Any, Any],
    seats: Iterable[Seat],
    arms: Mapping[str, tuple[str, ...]],
    injections: Iterable[Injection],
) -> Asked:
    """The probes and injections of each seat."""
    return (
        {s: tuple(spec.probe(name) for name in arms.get(s, ())) for s in seats},
        {s: tuple(i for i in injections if i.seat == s) for s in seats},
    )
