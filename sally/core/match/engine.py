"""The match: an episode in progress, and the only code that plays a turn.

A match lists its open questions (`asks`), takes answers in any order (`answer`) and logs events in
one canonical order. Where the answers come from is up to the driver: bots, model calls, people in a
browser, a learner in a Gymnasium environment, or a stored log.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import isfinite
from typing import Any, Generic

from msgspec.structs import replace

from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.core.log.events import (
    Censored,
    Ended,
    Episode,
    Event,
    Forfeited,
    Moved,
    Position,
    Setup,
    episode_id,
)
from sally.core.match.answers import as_answer, forfeit_event, move_event
from sally.core.match.player import Decision, Fault, Forfeit, Source, Turn, wait
from sally.core.match.position import past_moves
from sally.core.match.probes import ProbeSession
from sally.core.match.seat_context import SeatContext
from sally.core.match.setup_checks import check_playable
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE, A, Game, GameSpec, S, Seat, V
from sally.core.rules.menu import admit
from sally.core.rules.replay import AskId, Trajectory


class Match(Generic[S, A, V]):
    """An episode in progress: turn order, nature, probes, injections, forfeits and the log."""

    def __init__(
        self,
        spec: GameSpec[S, A, V],
        setup: Setup,
        *,
        ask_nature: bool = False,  # whether the driver supplies nature's moves, as a replay does
        texts: Mapping[str, Mapping[str, str]] | None = None,  # texts of words packs, by seat
        like: Match[S, A, V] | None = None,  # a match whose setup differs in seed or repeat only
    ) -> None:
        self.spec, self.setup, self._ask_nature = spec, setup, ask_nature
        self.game: Game[S, A, V] = spec.build(setup.instance.params) if like is None else like.game
        self.events: list[Event] = []
        self.replay: Trajectory[S, A, V] = Trajectory(
            self.game, [self.game.start()], lineup=setup.lineup
        )
        self.over = False
        if like is None:
            check_playable(spec, self.game, setup)
        self._position = setup.instance.position or None
        for moves in past_moves(spec, self.game, setup.instance, self.replay.states):
            self.replay.moves.append(moves)
        self._contexts: dict[Seat, SeatContext] = (
            {seat: context.with_seed(setup.seed) for seat, context in like._contexts.items()}
            if like is not None
            else {
                seat: SeatContext(
                    spec, self.game, seat, setup.seed, (texts or {}).get(seat), setup.retries
                )
                for seat in (*self.game.seats, *self.game.helpers)
            }
        )
        self._may_reject = type(self.game).rejections is not Game.rejections
        self._may_censor = type(self.game).censored is not Game.censored
        self._memory: dict[Seat, Any] = {}
        self._open: dict[AskId, Turn[A, V]] = {}  # the asks that can be answered now
        self._made: dict[Seat, Moved | Forfeited] = {}
        self._movers: tuple[Seat, ...] = ()
        self._unasked: list[Seat] = []  # movers that are told something before they are asked
        probed = any(setup.arms.values()) or setup.injections or setup.fork
        self._probes = self._new_probe_session() if probed else None
        self._begin_turn()
        self._go_on()

    # --- what a driver uses -----------------------------------------------------------------

    @property
    def turn(self) -> int:
        return len(self.replay.moves)

    @property
    def state(self) -> S:
        return self.replay.states[-1]

    def context(self, seat: Seat) -> SeatContext:
        """Return the context of a seat: its words and its growing prompt."""
        return self._contexts[seat]

    def memory(self, seat: Seat) -> Any:
        """Return the memory that a seat's player kept from its last turn."""
        return self._memory.get(seat)

    def asks(self) -> list[Turn[A, V]]:
        """Return the asks that can be answered now, in any order; empty once the match is over."""
        return list(self._open.values())

    def ask_for(self, seat: str) -> Turn[A, V] | None:
        """Return the ask for a seat's move, or None if that seat is not to move now."""
        return self._open.get((len(self.replay.moves), seat, "", ""))

    def pending_move(self, seat: str) -> A | None:
        """Return the move that a seat has made in this turn while others are still to move, or
        None."""
        answer = self._made.get(Seat(seat))
        return answer.action if isinstance(answer, Moved) else None

    def ask(self, id: AskId) -> Turn[A, V]:
        """Return an open ask; raises NotAsked if there is none with this id."""
        turn = self._open.get(id)
        if turn is None:
            raise NotAsked(f"There is no open ask {id!r} for seat {id[1]!r}.")
        return turn

    def answer(self, id: AskId, answer: Any) -> None:
        """Record an answer, then open the asks that follow from it.

        A value that is not an answer object counts as an action or as the value of a report.

        Raises:
            NotAsked: No ask with this id is open.
            IllegalMove: the answer does not fit the ask; the match is unchanged.
        """
        self.take(self.ask(id), answer)

    def take(self, turn: Turn[A, V], answer: Any) -> None:
        """Record the answer to an open ask; raises as `answer` does."""
        self._record(turn, answer)
        if not self.over:
            del self._open[turn.id]
            self._go_on()

    def move(self, seat: str, action: A) -> None:
        """Make the move of a seat that is asked for one; raises as `answer` does."""
        self.answer((self.turn, seat, "", ""), Decision(action))

    def drawn_by_nature(self) -> A:
        """Return the move that nature draws in this turn, from the random stream of the setup."""
        odds = self.game.odds(self.replay.states[-1])
        return Stream(self.setup.seed, NATURE, self.turn, "move").draw(odds)

    def play_numbers(self, sources: Mapping[str, Source]) -> tuple[Turn[A, V], Any] | None:
        """Play turns in which every seat answers with the number of a legal move.

        Tournaments of bots spend their time here: a move needs no `Decision`, and menus are reused
        from turn to turn. Everything else is left to `answer`.

        Returns:
            The first ask with another answer, and this answer, which is not recorded; None if the
            next turn cannot be played in this way.
        """
        while self._has_plain_turn():
            surprise = self._play_plain_turns(sources)
            if surprise is not None:
                turn, _ = surprise
                self._open[turn.id] = turn  # the one that the source has seen
                return surprise
        return None

    def _has_plain_turn(self) -> bool:
        """Return whether a turn has just begun that consists of moves from menus that stay."""
        return (
            self._probes is None
            and self._position is None
            and self.game.same_menus
            and not (self._may_reject or self._made or self._memory or self.over)
            and (self.game.censors_forfeits or not self._may_censor)
            and self._movers[0] != NATURE
        )

    def _play_plain_turns(self, sources: Mapping[str, Source]) -> tuple[Turn[A, V], Any] | None:
        """Play turns until the movers change, or until an answer is not the number of a move."""
        replay, events, movers = self.replay, self.events, self._movers
        observe, step, to_move = self.game.observe, self.game.step, self.game.to_move
        number, state = len(replay.moves), replay.states[-1]
        mover_sources = [
            (turn.context.seat, turn.context, turn.options, sources.get(turn.context.seat, wait))
            for turn in self._open.values()
        ]
        moves: dict[Seat, Any] = {}
        moved: list[Moved] = []
        try:
            while to_move(state) is movers:
                for seat, context, menu, source in mover_sources:
                    turn = Turn((number, seat, "", ""), context, observe(state, seat), menu)
                    answer = source(turn)
                    if type(answer) is not int or answer not in menu or turn.looked:
                        return turn, answer
                    moves[seat] = answer
                    moved.append(Moved(number, seat, answer))
                state = step(state, moves)
                events += moved
                replay.moves.append(moves)
                replay.states.append(state)
                moves, moved, number = {}, [], number + 1
        finally:  # in an unfinished turn, the other seats are still asked
            self._made.update(zip(moves, moved, strict=True))
            self._open.clear()
            if to_move(state) is movers:
                self._ask(
                    *[self._move_ask(state, seat) for seat, *_ in mover_sources[len(moved) :]]
                )
        self._begin_turn()
        self._go_on()
        return None

    def censor(self, cause: str, detail: str = "", seat: str = "", calls: Any = ()) -> None:
        """Stop the match without a result; answers already given in this turn stay in the log."""
        if self.over:
            raise NotAsked("The match is over.")
        self._log_turn()
        self.events.append(Censored(self.turn, cause, detail, seat, tuple(calls)))
        self._close()

    def episode(self, cell: str = "", used: Mapping[str, Any] | None = None) -> Episode:
        """Return the record of a match that is over."""
        if not self.over:
            raise BadInput("The match is not over, so it has no record yet.")
        return Episode(episode_id(self.setup), self.setup, self.events, cell, dict(used or {}))

    def copy(self) -> Match[S, A, V]:
        """Return an independent copy of the match at its current position."""
        twin = copy(self)
        twin.events, twin.replay = list(self.events), self.replay.copy()
        twin._contexts = {seat: context.copy() for seat, context in self._contexts.items()}
        twin._memory, twin._made = dict(self._memory), dict(self._made)
        twin._unasked = list(self._unasked)
        twin._open = {
            id: replace(turn, context=twin._contexts[turn.context.seat])
            for id, turn in self._open.items()
        }
        if self._probes is not None:
            twin._probes = self._probes.copy(twin.replay, twin._contexts, twin._memory)
        return twin

    def _new_probe_session(self) -> ProbeSession:
        return ProbeSession(self.spec, self.setup, self.replay, self._contexts, self._memory)

    # --- the turn ---------------------------------------------------------------------------

    def _begin_turn(self) -> None:
        """Let nature move, then open the asks of the next turn: probes first, then the moves."""
        self._movers = movers = self._next_movers()
        probes, state = self._probes, self.replay.states[-1]
        if not movers:
            return
        if probes is not None:
            probes.turn_begins()
        if self._may_reject:
            self._forfeit_rejected(state)
        asked_seats = [seat for seat in movers if seat not in self._made]
        if probes is not None and movers[0] != NATURE:
            self._ask(*probes.at_start(asked_seats))
        if self._position is not None and self._position.asks == "know":
            return
        if probes is not None and probes.injects:
            self._unasked = asked_seats
            self._ask_informed()
            return
        for seat in asked_seats:
            self._ask(self._move_ask(state, seat))

    def _move_ask(self, state: S, seat: Seat) -> Turn[A, V]:
        if self._probes is not None:
            return self._probes.move(seat, ())
        id, context = (len(self.replay.moves), seat, "", ""), self._contexts[seat]
        view, menu = self.game.observe(state, seat), self.game.options(state, seat)
        return Turn(id, context, view, menu, self._memory.get(seat))

    def _ask(self, *turns: Turn[A, V]) -> None:
        for turn in turns:
            self._open[turn.id] = turn

    def _ask_informed(self) -> None:
        """Open the asks for moves whose injected information is complete."""
        probes = self._probes
        assert probes is not None  # without a session nothing is told
        for seat in tuple(self._unasked):
            if probes.ready(seat, self._movers, self._made, self._open):
                self._unasked.remove(seat)
                injected = probes.tell(seat, self._made)
                self._ask(*probes.after_informant(seat, injected), probes.move(seat, injected))

    def _go_on(self) -> None:
        """Open the asks that the last answer allows; after the last of a turn, begin the next."""
        if self._unasked:
            self._ask_informed()
        while not self._open and not self.over:
            self._settle()
            if not self.over:
                self._begin_turn()

    def _next_movers(self) -> tuple[Seat, ...]:
        """Let nature move and return the seats that move next; empty if the match is over."""
        game, states = self.game, self.replay.states
        while True:
            state = states[-1]
            movers = game.to_move(state)
            if self._may_censor and (reason := game.censored(state)) is not None:
                self.censor(game.censor_cause, reason)
                return ()
            if not movers:
                self._end(self._finite_payoffs(state))
                return ()
            if self._position is not None and self._has_decided(self._position):
                self._end(self._finite_payoffs(state) if game.pays_as_it_goes else {})
                return ()
            if movers[0] != NATURE or self._ask_nature:
                return movers
            nature_move = self.drawn_by_nature()
            self.events.append(Moved(self.turn, NATURE, nature_move))
            self._step({NATURE: nature_move}, ())

    def _has_decided(self, position: Position) -> bool:
        """Return whether the seat of a position has moved or forfeited since the fixed past."""
        return any(
            position.seat in moves or position.seat in self.replay.forfeited.get(turn, ())
            for turn, moves in enumerate(self.replay.moves)
            if turn >= len(position.past)
        )

    def _end(self, payoffs: dict[str, float]) -> None:
        self.events.append(Ended(self.turn, payoffs))
        self._close()

    def _finite_payoffs(self, state: S) -> dict[str, float]:
        payoffs = {str(seat): float(p) for seat, p in self.game.payoffs(state).items()}
        if not all(isfinite(p) for p in payoffs.values()):
            raise BadInput(f"{self.spec.name} pays {payoffs}; every payoff must be finite.")
        return payoffs

    def _forfeit_rejected(self, state: S) -> None:
        """Forfeit the move of each seat whose actions the rules have rejected too often."""
        for seat in self._movers:
            if self.game.rejections(state, seat) > self.setup.retries:
                self._made[seat] = Forfeited(self.turn, seat, "rejected")
                if self._probes is not None:
                    self._probes.skip(seat, ("before", "after"))

    def _record(self, turn: Turn[A, V], answer: Any) -> None:
        """Record an answer and open the probes that follow it; an invalid one changes nothing."""
        answer = as_answer(turn, answer)
        if type(answer) is Fault:
            self.censor(answer.cause, answer.detail, turn.context.seat, answer.calls)
            return
        if turn.question is not None:
            assert self._probes is not None  # only a session puts questions
            self._probes.take(turn, turn.question, answer)
            return
        number, seat = turn.id[0], turn.context.seat
        if type(answer) is Decision:
            if answer.foreseen:  # a report, whether it was asked for or not
                self._probes = self._probes or self._new_probe_session()
                self._probes.check_foreseen(turn, answer.foreseen)
            action = answer.action
            if type(action) is not int or action not in turn.options:
                action = admit(turn.options, action)
            plain = not (answer.calls or answer.reply or turn.looked)
            self._made[seat] = (
                Moved(number, seat, action) if plain else move_event(turn, action, answer)
            )
            if answer.memory is not None or self._memory:
                self._memory[seat] = answer.memory
        elif isinstance(answer, Forfeit):
            self._made[seat] = forfeit_event(turn, answer)
            if answer.memory is not None:
                self._memory[seat] = answer.memory
        else:
            raise IllegalMove(f"{seat} was asked for a move; {answer!r} is not a move.")
        if self._probes is not None:
            self._ask(*self._probes.after_move(seat, answer))

    def _settle(self) -> None:
        """Log a turn in which every mover has answered, and advance the game.

        A position that asks no move ends once the probes are answered.
        """
        if self._position is not None and self._position.asks == "know":
            self._log_turn()
            self._end({})
            return
        moves: dict[Seat, Any] = {}
        for seat in self._movers:
            event = self._made[seat]
            if type(event) is Moved:
                moves[seat] = event.action
        self._log_turn()
        forfeiting_seats = tuple([seat for seat in self._movers if seat not in moves])
        for seat in forfeiting_seats:
            if seat in self.game.helpers:
                self.censor("helper", "a helper gave no legal answer", seat)
                return
        self._step(moves, forfeiting_seats)

    def _step(self, moves: Mapping[Seat, A], forfeiting_seats: tuple[Seat, ...]) -> None:
        replay, state = self.replay, self.replay.states[-1]
        if forfeiting_seats:
            next_state = self.game.forfeit(state, moves, forfeiting_seats)
            replay.forfeited[self.turn] = forfeiting_seats
        else:
            next_state = self.game.step(state, moves)
        replay.moves.append(moves)
        replay.states.append(next_state)

    def _log_turn(self) -> None:
        """Log this turn's answers in canonical order: by section of the log, and within a section
        by seat."""
        move_events = [self._made[seat] for seat in self._movers if seat in self._made]
        if self._probes is None:
            self.events += move_events
        else:
            self.events += self._probes.log_turn(self._movers, move_events)
        self._made.clear()

    def _close(self) -> None:
        self._open.clear()
        self.over = True
