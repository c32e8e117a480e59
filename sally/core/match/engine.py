"""The match: an episode in progress, and the only code that plays a turn.

A match lists its open questions (`asks`), takes answers in any order (`answer`) and logs events in
one canonical order. Where the answers come from is up to the driver: bots, model calls, people in a
browser, a learner in a Gymnasium environment, or a stored log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from inspect import isawaitable
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
from sally.core.match.answers import forfeited, spoken
from sally.core.match.playable import check_playable
from sally.core.match.player import (
    WAIT,
    Answer,
    Ask,
    AskId,
    Decision,
    Fault,
    Forfeit,
    Given,
    Move,
    NoAnswer,
    Source,
    Turn,
    wait,
)
from sally.core.match.position import past_moves
from sally.core.match.probes import ProbeSession
from sally.core.match.replay import Trajectory
from sally.core.match.seat_context import SeatContext
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE, A, Game, GameSpec, S, Seat, V
from sally.core.rules.menu import admitted
from sally.core.rules.probe import ProbeReport

NO_SOURCES: Mapping[str, Source] = {}
_REPORTS = frozenset((ProbeReport, NoAnswer))
_ANSWERS = _REPORTS | {Decision, Forfeit, Fault}
_AT_HAND = _ANSWERS | {int}  # common types that need not be awaited; the check costs a microsecond


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
            {seat: context.again(setup.seed) for seat, context in like._contexts.items()}
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
        self._waiting: dict[AskId, Turn[A, V]] = {}
        self._made: dict[Seat, Moved | Forfeited] = {}
        self._movers: tuple[Seat, ...] = ()
        self._unasked: list[Seat] = []  # movers that are told something before they are asked
        probed = any(setup.arms.values()) or setup.injections or setup.fork
        self._probes = self._new_probe_session() if probed else None
        asks = self._next_asks(NO_SOURCES, NO_SOURCES)
        if not self.over:
            self._play(asks, NO_SOURCES, NO_SOURCES)

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
        return list(self._waiting.values())

    @property
    def waiting(self) -> int:
        """Number of asks that can be answered now."""
        return len(self._waiting)

    def asked(self, seat: str) -> Turn[A, V] | None:
        """Return the ask for a seat's move, or None if that seat is not to move now."""
        return self._waiting.get((len(self.replay.moves), seat, "", ""))

    def answer(
        self,
        id: AskId,
        given: Move[A] | Answer,
        decide: Mapping[str, Source] = NO_SOURCES,
        report: Mapping[str, Source] = NO_SOURCES,
    ) -> list[tuple[Turn[A, V], Any]]:
        """Record an answer; send the asks that follow from it to the given sources, as `play` does.

        Returns:
            The asks whose answers must be awaited, each with its awaitable.

        Raises:
            NotAsked: No ask with this id is open.
            IllegalMove: the answer does not fit the ask; the match is unchanged.
        """
        turn = self._waiting.get(id)
        if turn is None:
            raise NotAsked(f"There is no open ask {id!r} for seat {id[1]!r}.")
        opened = self._take(turn, given, report)
        if self.over:
            return []
        del self._waiting[id]
        if opened or self._unasked or not self._waiting:
            return self._play(opened, decide, report)
        return []

    def move(self, seat: str, action: A) -> None:
        """Make the move of a seat that is asked for one; raises as `answer` does."""
        self.answer((self.turn, seat, "", ""), Decision(action))

    def play(
        self,
        decide: Mapping[str, Source],
        report: Mapping[str, Source],
        sent: Collection[AskId] = (),
    ) -> list[tuple[Turn[A, V], Any]]:
        """Send asks to these sources of answers until none of them can answer immediately.

        Args:
            decide: the source of each seat's moves. An action without a `Decision` around it has no
                memory.
            report: the source of each seat's answers to probes.
            sent: open asks that are not sent again.

        Returns:
            The asks whose answers must be awaited, each with its awaitable. They stay open.

        An exception in a source is raised, and so is an invalid answer; asks without an answer at
        that point stay open.
        """
        turns = [turn for id, turn in self._waiting.items() if id not in sent]
        if not turns:
            return []
        for turn in turns:
            del self._waiting[turn.id]
        return self._play(self._sourced(turns, decide, report), decide, report)

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

    def copied(self) -> Match[S, A, V]:
        """Return an independent copy of the match at its current position."""
        twin = copy(self)
        twin.events, twin.replay = list(self.events), self.replay.copied()
        twin._contexts = {seat: context.copied() for seat, context in self._contexts.items()}
        twin._memory, twin._made = dict(self._memory), dict(self._made)
        twin._unasked = list(self._unasked)
        twin._waiting = {
            id: replace(turn, context=twin._contexts[turn.context.seat])
            for id, turn in self._waiting.items()
        }
        if self._probes is not None:
            twin._probes = self._probes.copied(twin.replay, twin._contexts, twin._memory)
        return twin

    def _new_probe_session(self) -> ProbeSession:
        return ProbeSession(self.spec, self.setup, self.replay, self._contexts, self._memory)

    # --- the turn ---------------------------------------------------------------------------

    def _play(
        self, asks: list[Ask], decide: Mapping[str, Source], report: Mapping[str, Source]
    ) -> list[tuple[Turn[A, V], Any]]:
        """Send these asks, then those of the following turns, until one has no answer.

        Each pass of the loop plays a whole turn. Because tournaments of bots spend their time here,
        moves that are not wrapped in a `Decision` are handled inline, and asks are reused from turn
        to turn if the menus stay the same.
        """
        game, replay, events, memory = self.game, self.replay, self.events, self._memory
        waiting, made, states, past = self._waiting, self._made, replay.states, replay.moves
        to_move, step = game.to_move, game.step
        steady = game.same_menus and not self._may_reject and self._position is None
        steady = steady and (game.censors_forfeits or not self._may_censor)
        repeats = False  # whether the next turn can have the same asks; those given are for now
        probes, movers, toolless = self._probes, self._movers, not self.spec.tools
        observe = game.observe if probes is None else probes.observe
        wanted = -1 if made else len(movers)  # moves of a turn in which no seat has answered yet
        turn: Turn[A, V] | None = None
        awaited: list[tuple[Turn[A, V], Any]] = []
        number, state = len(past), states[-1]
        while True:
            moves: dict[Seat, Any] = {}
            moved: list[Moved] = []
            try:
                for ask in asks:  # grows where an answer opens further asks
                    seat, source, context, menu, turn = ask
                    if turn is None:  # a move
                        id = (number, seat, "", "")
                        turn = Turn(id, context, observe(state, seat), menu, memory.get(seat))
                    given = source(turn)
                    if (
                        type(given) is int
                        and given in menu
                        and (toolless or not turn.looked)  # a look-up is logged with the move
                    ):
                        moved.append(Moved(number, seat, given))
                        moves[seat] = given
                        if memory:
                            memory[seat] = None
                        if probes is not None and seat in probes.after:
                            asks += probes.after_asks(seat, given, report)
                        continue
                    if given is WAIT:
                        waiting[turn.id] = turn
                    elif type(given) in _REPORTS and turn.question is not None:
                        assert probes is not None  # only a session puts questions
                        probes.take(turn, turn.question, given)
                    elif type(given) not in _AT_HAND and isawaitable(given):
                        waiting[turn.id] = turn
                        awaited.append((turn, given))
                    else:
                        if type(given) not in _ANSWERS and turn.question is None:
                            given = Decision(given)
                        made.update(zip(moves, moved, strict=True))
                        asks += self._take(turn, given, report)
                        if self.over:
                            return awaited
            except BaseException:
                made.update(zip(moves, moved, strict=False))
                if turn is not None:
                    waiting[turn.id] = turn
                    rest = asks[next(i for i, each in enumerate(asks) if each is ask) + 1 :]
                    asks = [(each[0], wait, *each[2:]) for each in rest]
                    self._play(asks, NO_SOURCES, NO_SOURCES)
                raise
            if waiting or len(moves) != wanted:
                made.update(zip(moves, moved, strict=True))
            if (
                probes is not None
                and self._unasked
                and (ready := self._ready(list(waiting), decide))
            ):
                asks = ready
                continue
            if waiting:
                return awaited
            if len(moves) == wanted:
                events += moved if probes is None else probes.logged(movers, moved)
                state = step(state, moves)
                past.append(moves)
                states.append(state)
                if repeats and to_move(state) is movers:
                    number += 1
                    if probes is not None:
                        asks = self._asks_of(movers, decide, report)
                    continue
            else:
                self._settle()
                if self.over:
                    return awaited
            asks = self._next_asks(decide, report)
            if self.over:
                return awaited
            probes, movers = self._probes, self._movers
            observe = game.observe if probes is None else probes.observe
            number, state, wanted, repeats = len(past), states[-1], len(movers), steady

    def _sourced(
        self,
        turns: Iterable[Turn[A, V]],
        decide: Mapping[str, Source],
        report: Mapping[str, Source],
    ) -> list[Ask]:
        """Return the open asks, each with the function that supplies its answer."""
        asks: list[Ask] = []
        for turn in turns:
            seat = turn.context.seat
            if turn.question is None:
                asks.append((seat, decide.get(seat, wait), turn.context, turn.options, turn))
            else:
                asks.append((seat, report.get(seat, wait), turn.context, (), turn))
        return asks

    def _next_asks(self, decide: Mapping[str, Source], report: Mapping[str, Source]) -> list[Ask]:
        """Begin the next turn and return its asks; the list is empty if the match is over."""
        self._movers = movers = self._next_movers()
        return self._asks_of(movers, decide, report) if movers else []

    def _asks_of(
        self, movers: tuple[Seat, ...], decide: Mapping[str, Source], report: Mapping[str, Source]
    ) -> list[Ask]:
        """Return the asks of a turn that begins: probes first, then the moves."""
        state, options, contexts = self.replay.states[-1], self.game.options, self._contexts
        probes, asks = self._probes, list[Ask]()
        if probes is not None:
            probes.turn_begins()
        if self._may_reject:
            self._forfeit_rejected(state)
        asked = [seat for seat in movers if seat not in self._made] if self._made else movers
        if probes is not None:
            if movers[0] != NATURE:
                asks = probes.at_start(asked, report)
            if probes.injects:
                self._unasked = list(asked)
                asks += self._ready([ask[4].id for ask in asks if ask[4] is not None], decide)
                return asks
            options = probes.menu
        if self._position is not None and self._position.asks == "know":
            return asks
        for seat in asked:
            asks.append((seat, decide.get(seat, wait), contexts[seat], options(state, seat), None))
        return asks

    def _next_movers(self) -> tuple[Seat, ...]:
        """Let nature move and return the seats that move next; empty if the match is over."""
        game, states = self.game, self.replay.states
        while True:
            state = states[-1]
            movers = game.to_move(state)
            if self._may_censor and (why := game.censored(state)) is not None:
                self.censor(game.censor_cause, why)
                return ()
            if not movers:
                self._end(self._paid(state))
                return ()
            if self._position is not None and self._has_decided(self._position):
                self._end(self._paid(state) if game.pays_as_it_goes else {})
                return ()
            if movers[0] != NATURE or self._ask_nature:
                return movers
            drawn = Stream(self.setup.seed, NATURE, self.turn, "move").draw(game.odds(state))
            self.events.append(Moved(self.turn, NATURE, drawn))
            self._step({NATURE: drawn}, ())

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

    def _paid(self, state: S) -> dict[str, float]:
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

    def _ready(self, open_asks: list[AskId], decide: Mapping[str, Source]) -> list[Ask]:
        """Return the asks for moves that can be requested now, with the information injected for
        them."""
        probes = self._probes
        assert probes is not None  # without a session nothing is told
        ready: list[Ask] = []
        for seat in tuple(self._unasked):
            if probes.ready(seat, self._movers, self._made, open_asks):
                self._unasked.remove(seat)
                turn = probes.move(seat, probes.tell(seat, self._made))
                source = decide.get(seat, wait)
                ready.append((seat, source, turn.context, turn.options, turn))
                open_asks.append(turn.id)
        return ready

    def _take(self, turn: Turn[A, V], given: Given, report: Mapping[str, Source]) -> list[Ask]:
        """Record an answer and return the asks that follow from it; an invalid answer changes
        nothing."""
        if type(given) is Fault:
            self.censor(given.cause, given.detail, turn.context.seat, given.calls)
            return []
        if turn.question is not None:
            assert self._probes is not None  # only a session puts questions
            self._probes.take(turn, turn.question, given)
            return []
        number, seat = turn.id[0], turn.context.seat
        if type(given) is Decision:
            if given.foreseen:  # a report, whether it was asked for or not
                self._probes = self._probes or self._new_probe_session()
                self._probes.check_foreseen(turn, given.foreseen)
            action = given.action
            if type(action) is not int or action not in turn.options:
                action = admitted(turn.options, action)
            plain = not (given.calls or given.reply or turn.looked)
            self._made[seat] = Moved(number, seat, action) if plain else spoken(turn, action, given)
            if given.memory is not None or self._memory:
                self._memory[seat] = given.memory
        elif isinstance(given, Forfeit):
            self._made[seat] = forfeited(turn, given)
            if given.memory is not None:
                self._memory[seat] = given.memory
        else:
            raise IllegalMove(f"{seat} was asked for a move; {given!r} is not a move.")
        return [] if self._probes is None else self._probes.after_move(seat, given, report)

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
        lost = tuple(seat for seat in self._movers if seat not in moves)
        for seat in lost:
            if seat in self.game.helpers:
                self.censor("helper", "a helper gave no legal answer", seat)
                return
        self._step(moves, lost)

    def _step(self, moves: Mapping[Seat, A], lost: tuple[Seat, ...]) -> None:
        replay, state = self.replay, self.replay.states[-1]
        if lost:
            after = self.game.forfeit(state, moves, lost)
            replay.forfeited[self.turn] = lost
        else:
            after = self.game.step(state, moves)
        replay.moves.append(moves)
        replay.states.append(after)

    def _log_turn(self) -> None:
        """Log this turn's answers in canonical order: by section of the log, and within a section
        by seat."""
        made = [self._made[seat] for seat in self._movers if seat in self._made]
        if self._probes is None:
            self.events += made
        else:
            self.events += self._probes.logged(self._movers, made)
        self._made.clear()

    def _close(self) -> None:
        self._waiting.clear()
        self.over = True
