"""Probes and injection within a match: what is asked aside from play, and what is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sally.core.chance import Stream
from sally.core.errors import BadInput, IllegalMove
from sally.core.game import Seat
from sally.core.log import Event, Forfeited, Moved, Reported, Skipped, Told
from sally.core.player import Answer, AskId, Decision, Forfeit, Silence, Turn
from sally.core.probe import (
    At,
    Foreseen,
    Injection,
    Probe,
    Question,
    Report,
    as_logged,
    corrupted,
    problem,
)

if TYPE_CHECKING:
    from sally.core.match import Match

SECTIONS = ("start", "before", "told", "foreseen", "after")


class Asides:
    """One match's probes and injections, and the notes of the present turn.

    Notes are kept by section, seat and question in the order in which the game asks, so that
    the log does not depend on who answered first.
    """

    def __init__(self, match: Match[Any, Any, Any], seats: tuple[Seat, ...]) -> None:
        spec, setup = match.spec, match.setup
        self._match, self._seats = match, seats
        self._arms = {s: tuple(spec.probe(n) for n in setup.arms.get(s, ())) for s in seats}
        self._injections = {s: tuple(i for i in setup.injections if i.seat == s) for s in seats}
        self._notes: dict[str, dict[Seat, dict[tuple[str, str], Event]]] = {}
        self._due: dict[Seat, list[tuple[str, str]]] = {s: [] for s in seats}
        self._began = 0  # the step at which the game's present turn began
        self._kept: set[tuple[Seat, str]] = set()  # what was told and kept since then

    # --- probes -----------------------------------------------------------------------------

    def at_start(self, movers: tuple[Seat, ...]) -> Iterable[Turn[Any, Any]]:
        """The asks that stand at the turn's start (any seat) and before the move (movers)."""
        if self._match.game.begins_turn(self._match.state):
            self._began = self._match.turn
            self._kept.clear()
        for seat, probes in self._arms.items():
            for probe in probes:
                if self._stands(probe) and (probe.point == "start" or seat in movers):
                    yield from self._asked(probe, seat, movers)

    def _stands(self, probe: Probe) -> bool:
        """Whether a probe may be put before anybody has moved in this turn."""
        match = self._match
        if probe.point == "start":
            return match.game.begins_turn(match.state)
        return probe.point == "before"

    def _asked(
        self, probe: Probe, seat: Seat, movers: tuple[Seat, ...], pending: Any = None
    ) -> Iterable[Turn[Any, Any]]:
        match = self._match
        state = match.state
        view = match.game.observe(state, seat)
        options = match.game.options(state, seat) if seat in movers else ()
        for question in probe.asks(match.game, view, seat):
            self._due[seat].append((probe.name, question.about))
            yield Turn(
                (match.turn, seat, probe.name, question.about),
                match.desk(seat),
                view,
                options,
                match.memory(seat),
                question=question,
                pending=pending,
            )

    def take(self, turn: Turn[Any, Any], question: Question, given: Answer) -> None:
        """Note a report, or why there is none."""
        seat, about = turn.seat, question.about
        note: Reported | Skipped
        if isinstance(given, Silence):
            note = Skipped(turn.number, seat, question.probe, given.reason, about)
        elif isinstance(given, Report):
            if (why := problem(question, given)) is not None:
                raise IllegalMove(f"{seat}, asked {question.probe}: {why}.")
            note = Reported(
                turn.number,
                seat,
                question.probe,
                as_logged(given.value),
                about,
                given.odds,
                reply=given.reply,
                tries=given.tries,
                calls=given.calls,
            )
            self._match.replay.reports[turn.id] = note
        else:
            raise IllegalMove(f"{seat} was asked {question.probe} and answered {given!r}.")
        self._note(self._match.spec.probe(question.probe).point, note)

    def check_foreseen(self, turn: Turn[Any, Any], foreseen: tuple[Foreseen, ...]) -> None:
        """Refuse predictions that answer no question which could be put to this seat now."""
        match, seat = self._match, turn.seat
        for n, f in enumerate(foreseen):
            try:
                probe = match.spec.probe(f.probe)
            except BadInput as unknown:
                raise IllegalMove(f"{seat} foresaw something: {unknown}") from None
            asked = [q for q in probe.asks(match.game, turn.view, seat) if q.about == f.about]
            if seat not in probe.seats or not asked:
                raise IllegalMove(f"{seat} is not asked {f.probe} about {f.about!r} here.")
            if (why := problem(asked[0], Report(f.value, f.odds))) is not None:
                raise IllegalMove(f"{seat}, foreseeing {f.probe}: {why}.")
            if any((f.probe, f.about) == (g.probe, g.about) for g in foreseen[:n]):
                raise IllegalMove(f"{seat} foresaw {f.probe} about {f.about!r} twice.")

    def after_move(self, seat: Seat, given: Decision[Any] | Forfeit) -> list[Turn[Any, Any]]:
        """Note predictions made inside the move; the asks between it and the reveal."""
        match, number = self._match, self._match.turn
        for f in given.foreseen if isinstance(given, Decision) else ():
            value = as_logged(f.value)
            made = Reported(number, seat, f.probe, value, f.about, f.odds, "decision")
            match.replay.reports.setdefault((number, seat, f.probe, f.about), made)
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
        match = self._match
        match.replay.pending = {s: e.action for s, e in made.items() if isinstance(e, Moved)}
        view = match.game.observe(match.state, seat)
        everything: list[Told] = []
        for injection in self._injections[seat]:
            probe = match.spec.probe(injection.probe)
            if (seat, probe.name) in self._kept and not self._stands(probe):
                continue  # it was told earlier in this turn, and stands in the past
            for question in probe.asks(match.game, view, seat):
                told = self._what_to_tell(seat, injection, probe, question)
                self._note("told", told)
                if told.value is not None:
                    everything.append(told)
                    if injection.keep:
                        match.desk(seat).keep(view, told)
                        self._kept.add((seat, probe.name))
        return tuple(everything)

    def keep_own(self, movers: tuple[Seat, ...]) -> None:
        """Put what seats that do not move said at the turn's start into their pasts, if kept.

        Movers are told before they move; these are not, and find it there when they move next.
        """
        match, said = self._match, self._notes.get("start", {})
        for seat in self._seats:
            kept = {i.probe for i in self._injections[seat] if i.source == "own" and i.keep}
            if seat in movers or not kept:
                continue
            for key in [key for key in self._due[seat] if key in said.get(seat, {})]:
                note = said[seat][key]
                if isinstance(note, Reported) and note.probe in kept and note.value is not None:
                    told = Told(note.turn, seat, note.probe, note.value, note.about, "own")
                    self._note("told", told)
                    match.desk(seat).keep(match.game.observe(match.state, seat), told)
                    self._kept.add((seat, note.probe))

    def _what_to_tell(
        self, seat: Seat, injection: Injection, probe: Probe, question: Question
    ) -> Told:
        """What a question of now, or of the turn's start, has for an answer."""
        match = self._match
        asked = self._began if probe.point == "start" else match.turn
        at = At(asked, seat, probe.name, question.about)
        if injection.source == "own":
            report = match.replay.report(at.turn, seat, at.probe, at.about)
            value = report.value if report else None
        else:
            value = probe.truth(match.replay, at)
            if value is not None and injection.error:
                draws = Stream(match.setup.seed, seat, at.turn, f"told {at.probe} {at.about}")
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
            noted = self._notes.pop(section, {})
            for seat in self._seats:
                notes = noted.get(seat, {})
                due = [key for key in self._due[seat] if key in notes]
                out += [notes[key] for key in due]
                out += [event for key, event in notes.items() if key not in due]
        if not self._notes:
            for due in self._due.values():
                due.clear()
        return out
