"""Turns that are played at once: everybody answers plainly, and nobody has to wait for anybody.

What is done here is what asking and answering one by one does, event for event, with fewer objects
on the way. Whatever needs more - words, injections, forfeits - is left to the match.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from sally.core.log.events import Event, Forfeited, Moved
from sally.core.match.player import AskId, Decision, Turn
from sally.core.match.probes import ProbeSession
from sally.core.match.replay import Replay
from sally.core.match.seat_context import SeatContext
from sally.core.rules.game import NATURE, A, Game, GameSpec, S, Seat, V

Decides = Callable[[Turn[A, V]], Any]  # what a player answers: a decision, or a bare move


class AtOnce(ABC, Generic[S, A, V]):
    """The quick half of a match; it shares the match's state and adds none."""

    spec: GameSpec[S, A, V]
    game: Game[S, A, V]
    replay: Replay[S, A, V]
    events: list[Event]
    _contexts: dict[Seat, SeatContext]
    _probes: ProbeSession | None
    _may_reject: bool
    _may_censor: bool
    _is_steady: bool  # the same may do the same in each turn, and nobody is turned down or stopped
    _memory: dict[Seat, Any]
    _waiting: dict[AskId, Turn[A, V]]
    _made: dict[Seat, Moved | Forfeited]
    _movers: tuple[Seat, ...]

    @abstractmethod
    def _next(self) -> tuple[Seat, ...]:
        """Whose turn it is, after nature's."""

    @abstractmethod
    def _begin(self) -> None:
        """Begin a turn: ask whoever moves."""

    @abstractmethod
    def _ask_move(self, seat: Seat, state: S) -> None:
        """Ask a seat for its move."""

    @abstractmethod
    def _play_asked(
        self, decide: Mapping[str, Decides[A, V]], report: Mapping[str, Decides[A, V]]
    ) -> tuple[Turn[A, V], Any] | None:
        """`play_on` where something is asked aside from play."""

    def play_on(
        self,
        decide: Mapping[str, Decides[A, V]],
        scripts: bool = False,
        report: Mapping[str, Decides[A, V]] | None = None,
    ) -> tuple[Turn[A, V], Any] | None:
        """Go on for as long as these players answer each move at once, and plainly.

        It does what asking and answering one by one does, without keeping the asks. Where there
        is more to do - words, forfeits, somebody else's turn - the match stands as if it had been
        asked so far, and an answer that is not taken yet is given back with its turn. Players that
        are all `scripts`, and so give bare moves and keep no notes, go through a shorter loop.
        What is asked aside from play is put to those in `report`.
        """
        if self._may_reject or self._made:
            return None
        if self._probes is not None:
            return self._play_asked(decide, report or {})
        bare = scripts and self.game.same_menus and not self.spec.tools and not self._memory
        if bare and (opened := self._play_pair(decide)) is not None:
            return opened
        game, replay, contexts, memory = self.game, self.replay, self._contexts, self._memory
        observe, options, step, to_move = game.observe, game.options, game.step, game.to_move
        may_censor, censored = self._may_censor, game.censored
        states, past, events, same = replay.states, replay.moves, self.events, game.same_menus
        movers, seated = self._movers, None
        asked: list[tuple[Seat, SeatContext, Decides[A, V], Any]] = []
        while movers:
            if movers is not seated:
                if not all(seat in decide for seat in movers):
                    self._keep_asks([])
                    return None
                seated = movers
                asked = [(s, contexts[s], decide[s], options(states[-1], s)) for s in movers]
            number, state, turn = len(past), states[-1], None
            made: list[Moved] = []
            moves: dict[Seat, Any] = {}
            try:
                for seat, context, says, menu in asked:
                    if not same:
                        menu = options(state, seat)
                    id = (number, seat, "", "")
                    turn = Turn(id, context, observe(state, seat), menu, memory.get(seat))
                    action = given = says(turn)
                    if type(given) is Decision:
                        plain = not (given.calls or given.reply or given.foreseen)
                        action = given.action if plain else None
                    if type(action) is not int or action not in menu or turn.looked:
                        self._keep_asks(made, turn)
                        return turn, given
                    made.append(Moved(number, seat, action))
                    moves[seat] = action
                    if given is not action:  # a bare move leaves no notes
                        memory[seat] = given.memory
            except BaseException:
                self._keep_asks(made, turn)
                raise
            events += made
            past.append(moves)
            after = step(state, moves)
            states.append(after)
            movers = to_move(after)
            if not movers or movers[0] == NATURE or (may_censor and censored(after) is not None):
                self._movers = movers = self._next()
            elif movers is not seated:
                self._movers = movers
        return None

    def _play_pair(self, decide: Mapping[str, Decides[A, V]]) -> tuple[Turn[A, V], Any] | None:
        """Rounds of two scripts as `play_on` plays them, without what scripts do not need."""
        game, replay, movers = self.game, self.replay, self._movers
        if len(movers) != 2 or movers[0] not in decide or movers[1] not in decide:
            return None
        states, past, events = replay.states, replay.moves, self.events
        observe, step, to_move = game.observe, game.step, game.to_move
        watched = self._may_censor and not game.censors_forfeits  # nobody forfeits here
        seated, state, number = movers, states[-1], len(past)
        one, two = movers
        says_one, desk_one, menu_one = decide[one], self._contexts[one], game.options(state, one)
        says_two, desk_two, menu_two = decide[two], self._contexts[two], game.options(state, two)
        while movers is seated:
            turn = None
            try:
                turn = Turn((number, one, "", ""), desk_one, observe(state, one), menu_one)
                first = says_one(turn)
                if type(first) is not int or first not in menu_one:
                    self._keep_asks((), turn)
                    return turn, first
                turn = Turn((number, two, "", ""), desk_two, observe(state, two), menu_two)
                second = says_two(turn)
                if type(second) is not int or second not in menu_two:
                    self._keep_asks((Moved(number, one, first),), turn)
                    return turn, second
            except BaseException:
                at_second = turn is not None and turn.context is desk_two
                self._keep_asks((Moved(number, one, first),) if at_second else (), turn)
                raise
            moves: dict[Seat, Any] = {one: first, two: second}
            events += (Moved(number, one, first), Moved(number, two, second))
            past.append(moves)
            state = step(state, moves)
            states.append(state)
            movers, number = to_move(state), number + 1
            if movers is not seated or (watched and game.censored(state) is not None):
                self._movers = movers = self._next()
                state, number = states[-1], len(past)
        return None

    def play_turn(
        self, given: Mapping[str, Moved], scripts: Mapping[str, Decides[A, V]] | None = None
    ) -> bool:
        """Take the moves of some seats with those of scripts beside them, and ask for the next.

        It does what answering one by one does. False, and nothing is done, where somebody else is
        asked as well, has answered already, or gives more than a bare move.
        """
        if self._probes is not None or self._made:
            return False
        made: list[Event] = []
        moves: dict[Seat, Any] = {}
        game, replay, asked = self.game, self.replay, self._waiting
        number = len(replay.moves)
        for turn in asked.values():
            seat = turn.context.seat
            if (event := given.get(seat)) is None:
                if scripts is None or (says := scripts.get(seat)) is None:
                    return False
                action = says(turn)
                if type(action) is not int or action not in turn.options or turn.looked:
                    return False
                event = Moved(number, seat, action)
            made.append(event)
            moves[seat] = event.action
        self.events += made
        self._waiting = {}
        replay.moves.append(moves)
        after = game.step(replay.states[-1], moves)
        replay.states.append(after)
        if self._is_steady and game.to_move(after) is self._movers and not self._memory:
            number, waiting, observe = number + 1, self._waiting, game.observe
            for seat, turn in zip(moves, asked.values(), strict=True):  # the same as before
                id = (number, seat, "", "")
                waiting[id] = Turn(id, turn.context, observe(after, seat), turn.options)
        else:
            self._begin()
        return True

    def _keep_asks(self, made: Sequence[Moved], open_one: Turn[A, V] | None = None) -> None:
        """Stand as if each mover had been asked, and some had answered so."""
        self._made = {Seat(event.seat): event for event in made}
        self._waiting = {}
        for seat in self._movers:
            if open_one is not None and open_one.context.seat == seat:
                self._made.pop(seat, None)
                self._waiting[open_one.id] = open_one
            elif seat not in self._made:
                self._ask_move(seat, self.replay.states[-1])
