"""Probes and injections within a match: questions outside play, and information given to seats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any

from sally.core.errors import BadInput, IllegalMove
from sally.core.log.events import Event, Forfeited, Injection, Moved, Reported, Setup, Skipped, Told
from sally.core.match.answers import foreseen, report_event
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE, GameSpec, Seat
from sally.core.rules.probe import (
    At,
    Probe,
    ProbeReport,
    Question,
    StatedPrediction,
    corrupt,
    is_repeated,
    problem,
)
from sally.core.rules.replay import AskId, Trajectory

Arms = Mapping[Seat, tuple[Probe, ...]]
Injections = Mapping[Seat, tuple[Injection, ...]]
Key = tuple[str, str]  # probe, about
# moves come before "foreseen"
SECTIONS = ("start", "informed", "before", "told", "foreseen", "after")
Notes = dict[Key, Reported | Skipped | Told | None]  # None: not answered yet


class ProbeSession:
    """The probes and injections of one match, and the notes on its current turn.

    Notes are kept by section, seat and question in the order in which the game asks, so that
    the log does not depend on the order in which answers arrive.
    """

    def __init__(
        self,
        spec: GameSpec,
        setup: Setup,
        replay: Trajectory,
        contexts: Mapping[Seat, SeatContext],
        memory: Mapping[Seat, Any],
    ) -> None:
        self._spec, self._game = spec, replay.game
        self._replay, self._contexts, self._memory = replay, contexts, memory  # the match's own
        self._seats = seats = tuple(contexts)
        forked = setup.fork
        self._changes_at = forked.turn if forked else 0
        self._seeds = (forked.seed if forked else setup.seed, setup.seed)
        self._asked_now = _by_seat(spec, seats, setup.arms, setup.injections)
        self._asked_before = (
            _by_seat(spec, seats, forked.arms, forked.injections) if forked else self._asked_now
        )
        self._select_probes(*self._asked_now)
        self._points = {
            probe.name: probe.point
            for arms, _ in (self._asked_before, self._asked_now)
            for probes in arms.values()
            for probe in probes
        }
        self._repeats = frozenset(filter(is_repeated, self._points))
        self._notes: dict[tuple[str, Seat], Notes] = {}  # by section and seat, in log order
        self._seen: dict[Seat, Any] = {}
        self._menus: dict[Seat, Any] = {}
        self.turn_begins()
        self._began = 0  # the step at which the game's present turn began
        self._kept: set[tuple[Seat, str]] = set()  # what was told and kept since then

    def copy(
        self,
        replay: Trajectory,
        contexts: Mapping[Seat, SeatContext],
        memory: Mapping[Seat, Any],
    ) -> ProbeSession:
        """Return a copy of this session for a copy of the match."""
        twin = copy(self)
        twin._replay, twin._contexts, twin._memory = replay, contexts, memory
        twin._notes = {section: dict(notes) for section, notes in self._notes.items()}
        twin._kept, twin._seen, twin._menus = set(self._kept), dict(self._seen), dict(self._menus)
        return twin

    def turn_begins(self) -> None:
        """Discard the last turn's views, and select the probes and injections of this turn.

        Before the turn of a fork, the probes and injections of the original episode apply.
        """
        self._seen.clear()
        if self._game.same_menus:
            self._menus.pop(NATURE, None)  # only the menus of players are promised to stay
        else:
            self._menus.clear()
        if self._asked_before is not self._asked_now:
            now = len(self._replay) >= self._changes_at
            self._select_probes(*(self._asked_now if now else self._asked_before))

    def _select_probes(self, arms: Arms, injections: Injections) -> None:
        self._arms, self._injections = arms, injections
        self.injects = any(injections.values())
        late = {s: tuple(p for p in probes if p.point == "after") for s, probes in arms.items()}
        self._after = {seat: probes for seat, probes in late.items() if probes}
        has_informant = {
            seat: any(injection.is_informant for injection in informing)
            for seat, informing in injections.items()
        }
        self._early = [
            (seat, probe)
            for seat, probes in arms.items()
            for probe in probes
            if probe.point == "start" or (probe.point == "before" and not has_informant[seat])
        ]
        self._informed = {
            seat: tuple(p for p in probes if p.point == "before" and has_informant[seat])
            for seat, probes in arms.items()
        }

    @property
    def _seed(self) -> int:
        return self._seeds[len(self._replay) >= self._changes_at]

    def observe(self, state: Any, seat: Seat) -> Any:
        """Return a seat's view of the current state, computed once."""
        if (view := self._seen.get(seat)) is None:
            view = self._seen[seat] = self._game.observe(state, seat)
        return view

    def menu(self, state: Any, seat: Seat) -> Any:
        """Return a mover's options in the current state, computed once."""
        if (menu := self._menus.get(seat)) is None:
            menu = self._menus[seat] = self._game.options(state, seat)
        return menu

    def move(self, seat: Seat, injected: tuple[Told, ...]) -> Turn:
        """Return the ask for a seat's move, with the information injected for it."""
        state, number = self._replay.present, len(self._replay.moves)
        view, menu, memory = self.observe(state, seat), self.menu(state, seat), self._memory
        return Turn(
            (number, seat, "", ""), self._contexts[seat], view, menu, memory.get(seat), injected
        )

    # --- probes -----------------------------------------------------------------------------

    def at_start(self, movers: Collection[Seat]) -> list[Turn]:
        """Return the probes due at the turn's start (any seat) and before the move (movers)."""
        begins = self._game.begins_turn(self._replay.states[-1])
        if begins:
            self._began = len(self._replay.moves)
            self._kept.clear()
        asks: list[Turn] = []
        for seat, probe in self._early:
            moves = seat in movers
            if moves if probe.point == "before" else begins:
                self._append_questions(asks, probe, seat, moves)
        return asks

    def after_informant(self, seat: Seat, injected: tuple[Told, ...]) -> list[Turn]:
        """Return the probes of a mover that are asked after an informant has spoken."""
        asks: list[Turn] = []
        for probe in self._informed.get(seat, ()):
            self._append_questions(asks, probe, seat, injected=injected)
        return asks

    def _may_be_asked(self, probe: Probe) -> bool:
        """Return whether a probe may be asked before the first move of this turn."""
        if probe.point == "start":
            return self._game.begins_turn(self._replay.present)
        return probe.point == "before"

    def _append_questions(
        self,
        asks: list[Turn],
        probe: Probe,
        seat: Seat,
        moves: bool = True,
        pending: Any = None,
        injected: tuple[Told, ...] = (),
    ) -> None:
        """Append a probe's questions for a seat to `asks`; `moves` is true if the seat moves
        now."""
        if probe.once and self._was_asked(probe, seat):
            return
        state, number, name = self._replay.states[-1], len(self._replay.moves), probe.name
        if probe.one_in > 1:
            draw = Stream(self._seed, seat, number, name)
            if draw() * probe.one_in >= 1:
                return
        if (view := self._seen.get(seat)) is None:
            view = self._seen[seat] = self._game.observe(state, seat)
        options = (self._menus.get(seat) or self.menu(state, seat)) if moves else ()
        if (notes := self._notes.get((probe.point, seat))) is None:
            notes = self._notes_of(probe.point, seat)
        context = self._contexts[seat]
        memory = self._memory.get(seat) if self._memory else None
        for question in probe.asks(self._game, view, seat):
            about = question.about
            notes[name, about] = None
            id = (number, seat, name, about)
            asks.append(Turn(id, context, view, options, memory, injected, question, pending))

    def _was_asked(self, probe: Probe, seat: Seat) -> bool:
        """Return whether a seat has answered a probe in an earlier turn."""
        now = len(self._replay)
        return any(
            (answered_probe, answering_seat) == (probe.name, seat) and turn < now
            for turn, answering_seat, answered_probe, _ in self._replay.reports
        )

    def take(self, turn: Turn, question: Question, report: Any) -> None:
        """Record a report, or why there is none; raises IllegalMove if the report is invalid."""
        note, name = report_event(turn, question, report), turn.id[2]
        if type(note) is Reported:
            is_second = name in self._repeats
            (self._replay.repeated if is_second else self._replay.reports)[turn.id] = note
        self._notes[self._points[name], turn.context.seat][name, question.about] = note

    def check_foreseen(self, turn: Turn, predictions: tuple[StatedPrediction, ...]) -> None:
        """Raise IllegalMove for a prediction that answers no question this seat could be asked."""
        spec, seat = self._spec, turn.seat
        for n, f in enumerate(predictions):
            try:
                probe = spec.probe(f.probe)
            except BadInput as unknown:
                raise IllegalMove(f"{seat} made an invalid prediction: {unknown}") from None
            questions = [q for q in probe.asks(self._game, turn.view, seat) if q.about == f.about]
            if seat not in probe.seats or not questions:
                raise IllegalMove(
                    f"{seat} predicted {f.probe} about {f.about!r}, which this seat is not asked "
                    "in this turn."
                )
            if (wrong := problem(questions[0], ProbeReport(f.value, f.odds))) is not None:
                raise IllegalMove(f"{seat}, predicting {f.probe}: {wrong}.")
            if any((f.probe, f.about) == (g.probe, g.about) for g in predictions[:n]):
                raise IllegalMove(f"{seat} predicted {f.probe} about {f.about!r} twice.")

    def after_move(self, seat: Seat, answer: Decision[Any] | Forfeit) -> list[Turn]:
        """Record the predictions stated with a move; return the asks due before the move is
        revealed."""
        number = len(self._replay)
        for f in answer.foreseen if isinstance(answer, Decision) else ():
            report = foreseen(number, seat, f)
            self._replay.reports.setdefault((number, seat, f.probe, f.about), report)
            self._note("foreseen", report)
        if not isinstance(answer, Decision):
            self.skip(seat, ("after",))
            return []
        asks: list[Turn] = []
        for probe in self._after.get(seat, ()):
            self._append_questions(asks, probe, seat, pending=answer.action)
        return asks

    def skip(self, seat: Seat, points: tuple[str, ...]) -> None:
        """Record the questions that are not asked because the seat's move was forfeited."""
        reason = "the move was forfeited"
        for probe in self._arms[seat]:
            asks: list[Turn] = []
            if probe.point in points:
                self._append_questions(asks, probe, seat)
            for turn in asks:
                assert turn.question is not None
                about = turn.question.about
                self._note(probe.point, Skipped(turn.number, seat, probe.name, reason, about))

    # --- injection --------------------------------------------------------------------------

    def ready(
        self,
        seat: Seat,
        movers: tuple[Seat, ...],
        move_events: Mapping[Seat, Moved | Forfeited],
        waiting: Collection[AskId],
    ) -> bool:
        """Return whether all information for a mover is known, so that it may be asked now.

        The mover's own probes come first, so that injected information cannot influence its
        answers; after an informant's statement they come with the move. A mover that is told
        something true about another seat waits for all other asks, because the truth may be that
        seat's move or report.
        """
        if not self._injections[seat]:
            return True
        if all(injection.source == "own" for injection in self._injections[seat]):
            return not any(id[1] == seat for id in waiting)
        return not waiting and all(mover in move_events for mover in movers if mover != seat)

    def tell(self, seat: Seat, move_events: Mapping[Seat, Moved | Forfeited]) -> tuple[Told, ...]:
        """Log and return the information injected for a mover.

        Information that the mover is to keep is added to its history.
        """
        if not self._injections[seat]:
            return ()
        replay, view = self._replay, self.observe(self._replay.present, seat)
        replay.pending = {s: e.action for s, e in move_events.items() if isinstance(e, Moved)}
        everything: list[Told] = []
        for injection in self._injections[seat]:
            probe = self._spec.probe(injection.probe)
            if (seat, probe.name) in self._kept and not self._may_be_asked(probe):
                continue  # told earlier in this turn, so it is in the history
            for question in probe.asks(self._game, view, seat):
                injected = self._what_to_tell(seat, injection, probe, question)
                self._note("informed" if injection.is_informant else "told", injected)
                if injected.value is not None:
                    everything.append(injected)
                    if injection.keep:
                        self._contexts[seat].keep(view, injected)
                        self._kept.add((seat, probe.name))
        return tuple(everything)

    def _keep_own(self, movers: tuple[Seat, ...]) -> None:
        """Add kept answers from the start of the turn to the histories of seats that do not move.

        A kept answer is one that the seat is shown again later. Seats that move receive theirs
        before the move; the other seats find theirs in the history at their next move.
        """
        for seat in self._seats:
            kept_probes = {i.probe for i in self._injections[seat] if i.source == "own" and i.keep}
            if seat in movers or not kept_probes:
                continue
            for note in self._notes.get(("start", seat), {}).values():
                if (
                    isinstance(note, Reported)
                    and note.probe in kept_probes
                    and note.value is not None
                ):
                    injected = Told(note.turn, seat, note.probe, note.value, note.about, "own")
                    self._note("told", injected)
                    view = self.observe(self._replay.present, seat)
                    self._contexts[seat].keep(view, injected)
                    self._kept.add((seat, note.probe))

    def _what_to_tell(
        self, seat: Seat, injection: Injection, probe: Probe, question: Question
    ) -> Told:
        """Return the injected information: the seat's own report, or the truth, with an error if
        one is drawn."""
        replay = self._replay
        asked_turn = self._began if probe.point == "start" else len(replay)
        place = At(asked_turn, seat, probe.name, question.about)
        if injection.source == "own":
            report = replay.report(place.turn, seat, place.probe, place.about)
            value = report.value if report else None
        else:
            value = probe.truth(replay, place)
            if value is not None and injection.error:
                draws = Stream(self._seed, seat, place.turn, f"told {place.probe} {place.about}")
                value = corrupt(question, value, injection.error, draws)
        reliability = round(1 - injection.error, 9) if injection.is_informant else None
        return Told(
            place.turn, seat, place.probe, value, place.about, injection.source, reliability
        )

    # --- notes of this turn -----------------------------------------------------------------

    def _notes_of(self, section: str, seat: Seat) -> Notes:
        """Return the notes for a log section and a seat; a new, empty set is inserted in log
        order."""
        if (notes := self._notes.get((section, seat))) is None:
            notes = self._notes[section, seat] = {}
            order = [(name, s) for name in SECTIONS for s in self._seats]
            self._notes = {
                section_and_seat: self._notes[section_and_seat]
                for section_and_seat in order
                if section_and_seat in self._notes
            }
        return notes

    def _note(self, section: str, event: Reported | Skipped | Told) -> None:
        self._notes_of(section, Seat(event.seat))[event.probe, event.about] = event

    def log_turn(self, movers: tuple[Seat, ...], move_events: Iterable[Event]) -> list[Event]:
        """Return the events of this turn in canonical order, and clear the session's notes on the
        turn."""
        if self.injects:
            self._keep_own(movers)
            self._replay.pending = {}
        events: list[Event] = []
        late: list[Event] = []
        for (section, seat), notes in self._notes.items():
            if notes:
                if len(notes) > 1 and (section == "told" or section == "foreseen"):
                    notes = self._as_asked(seat, notes)
                part = late if section == "foreseen" or section == "after" else events
                part += filter(None, notes.values())
        for notes in self._notes.values():
            notes.clear()
        events += move_events
        events += late
        return events

    def _as_asked(self, seat: Seat, notes: Notes) -> Notes:
        """Return notes in the order in which the seat's probes are asked in this turn; other notes
        come last."""
        ordered_notes: Notes = {}
        for points in (("start", "before"), ("after",)):
            for probe in self._arms[seat]:
                if probe.point in points:
                    probe_notes = self._notes.get((probe.point, seat), {})
                    ordered_notes |= {
                        key: notes[key]
                        for key in probe_notes
                        if key[0] == probe.name and key in notes
                    }
        return ordered_notes | notes


def _by_seat(
    spec: GameSpec,
    seats: Iterable[Seat],
    arms: Mapping[str, tuple[str, ...]],
    injections: Iterable[Injection],
) -> tuple[Arms, Injections]:
    """Return the probes and the injections of each seat."""
    return (
        {s: tuple(spec.probe(name) for name in arms.get(s, ())) for s in seats},
        {s: tuple(i for i in injections if i.seat == s) for s in seats},
    )
