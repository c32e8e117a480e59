"""Turns with questions aside from play that are played at once, as others are in `at_once`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from sally.core.log.events import Event, Moved, Reported
from sally.core.match.answers import reported
from sally.core.match.at_once import AtOnce, Decides
from sally.core.match.player import AskId, Decision, Silence, Turn
from sally.core.match.probes import ProbeSession
from sally.core.rules.game import NATURE, A, S, Seat, V
from sally.core.rules.probe import Probe, Report

Asked = Mapping[Seat, tuple[Probe, ...]]


class _Course:
    """How far a turn has been asked and answered."""

    __slots__ = ("answers", "memory", "menus", "notes", "opened", "turns", "views")

    def __init__(self, memory: Mapping[Seat, Any]) -> None:
        self.memory = dict(memory)  # as it was before this turn
        self.turns: list[Turn[Any, Any]] = []
        self.answers: list[Any] = []
        self.views: dict[Seat, Any] = {}
        self.menus: dict[Seat, Any] = {}
        self.notes: dict[str, list[Event]] = {}
        self.opened = False  # whether whoever was asked last gave an answer that is not taken here


class AskedAtOnce(AtOnce[S, A, V]):
    """The quick half of a match that asks aside from play and tells nobody anything."""

    @abstractmethod
    def _ask_with_asides(self, probe_session: ProbeSession) -> None:
        """Ask what is asked in this turn aside from play, and whoever moves."""

    @abstractmethod
    def answer(self, id: AskId, given: Any) -> None:
        """Take an answer."""

    def _play_asked(
        self, decide: Mapping[str, Decides[A, V]], report: Mapping[str, Decides[A, V]]
    ) -> tuple[Turn[A, V], Any] | None:
        """Turns with questions aside, as `play_on` plays those without."""
        probe_session = self._probes
        if probe_session is None or not probe_session.only_asks:
            return None
        probe_session.forget()
        first, after = probe_session.asked_at("start", "before"), probe_session.asked_at("after")
        asked = {*first, *after}
        while movers := self._movers:
            course = _Course(self._memory)
            if not (asked <= report.keys() and all(seat in decide for seat in movers)):
                self._stand(probe_session, course)
                return None
            try:
                given = self._asked_turn(course, first, after, decide, report)
            except BaseException:
                self._stand(probe_session, course)
                raise
            if course.opened:
                self._stand(probe_session, course)
                return course.turns[-1], given
        return None

    def _asked_turn(
        self,
        course: _Course,
        first: Asked,
        after: Asked,
        decide: Mapping[str, Decides[A, V]],
        report: Mapping[str, Decides[A, V]],
    ) -> Any:
        """Play one turn; an answer that is not taken here is given back, and no step is made."""
        replay, movers, notes = self.replay, self._movers, course.notes
        number, state, moves = len(replay.moves), replay.states[-1], dict[Seat, Any]()
        if movers[0] != NATURE:
            for seat, probes in first.items():
                given = self._put_aside(course, seat, probes, report[seat], None)
                if course.opened:
                    return given
        for seat in movers:
            given = self._put_move(course, number, state, seat, decide[seat])
            if course.opened:
                return given
            moves[seat] = given
        for seat in movers if after else ():
            if seat in after:
                given = self._put_aside(course, seat, after[seat], report[seat], moves[seat])
                if course.opened:
                    return given
        events = self.events
        events += notes.get("start", ())
        events += notes.get("before", ())
        events += [Moved(number, seat, action) for seat, action in moves.items()]
        if after:
            for seat in after:  # in the order of the seats, whoever moved first
                events += notes.get(seat, ())
        then = self.game.step(state, moves)
        replay.moves.append(moves)
        replay.states.append(then)
        if not (self._is_steady and self.game.to_move(then) is movers):
            self._movers = self._next()
        return None

    def _put_move(
        self, course: _Course, number: int, state: S, seat: Seat, says: Decides[A, V]
    ) -> Any:
        """Ask a seat for its move: the action, if it is legal and plain, or whatever was said."""
        if (view := course.views.get(seat)) is None:
            view = course.views[seat] = self.game.observe(state, seat)
        if (menu := course.menus.get(seat)) is None:
            menu = course.menus[seat] = self.game.options(state, seat)
        turn = Turn(
            (number, seat, "", ""), self._contexts[seat], view, menu, self._memory.get(seat)
        )
        course.turns.append(turn)
        action = given = says(turn)
        if type(given) is Decision:
            plain = not (given.calls or given.reply or given.foreseen)
            action = given.action if plain else None
        if type(action) is not int or action not in menu or turn.looked:
            course.opened = True
            return given
        if given is action:
            given = Decision(action)
        self._memory[seat] = given.memory
        course.answers.append(given)
        return action

    def _put_aside(
        self,
        course: _Course,
        seat: Seat,
        probes: tuple[Probe, ...],
        says: Decides[A, V],
        pending: A | None,
    ) -> Any:
        """Put a seat's questions to it; what it says, if it is no plain answer."""
        probe_session, game, replay = self._probes, self.game, self.replay
        assert probe_session is not None  # these are its questions
        number, state = len(replay.moves), replay.states[-1]
        moves = seat in self._movers
        for probe in probes:
            point = probe.point
            if point == "start" and not game.begins_turn(state):
                continue
            if (point == "before" and not moves) or (
                probe.once and probe_session.was_asked(probe, seat)
            ):
                continue
            if (view := course.views.get(seat)) is None:
                view = course.views[seat] = game.observe(state, seat)
            if (menu := course.menus.get(seat)) is None:
                menu = course.menus[seat] = game.options(state, seat) if moves else ()
            for question in probe.asks(game, view, seat):
                id = (number, seat, probe.name, question.about)
                memory = self._memory.get(seat)
                turn = Turn(id, self._contexts[seat], view, menu, memory, (), question, pending)
                course.turns.append(turn)
                given = says(turn)
                if type(given) is not Report and type(given) is not Silence:
                    course.opened = True
                    return given
                note = reported(turn, question, given)
                if type(note) is Reported:
                    replay.reports[id] = note
                course.answers.append(given)
                course.notes.setdefault(seat if point == "after" else point, []).append(note)
        return None

    def _stand(self, probe_session: ProbeSession, course: _Course) -> None:
        """Stand as if the turn had been asked and answered one by one, so far."""
        self._memory.clear()
        self._memory.update(course.memory)
        self._waiting = {}
        probe_session.forget()
        self._ask_with_asides(probe_session)
        for turn, given in zip(course.turns, course.answers, strict=False):
            self.answer(turn.id, given)
        for turn in course.turns[len(course.answers) :]:  # at most one
            self._waiting[turn.id] = turn
