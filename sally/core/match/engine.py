"""An episode in progress, one answer at a time.

A match says what it wants to know (`asks`), takes answers in any order (`answer`), and logs
events in one canonical order. Who answers, and how long that takes, is the driver's business:
bots in a loop, models in tasks, people in a browser, a learner in a Gymnasium environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from math import isfinite
from typing import Any

from msgspec.structs import replace

from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.core.log.events import (
    Censored,
    Ended,
    Episode,
    Event,
    Forfeited,
    Moved,
    Setup,
    Told,
    episode_id,
)
from sally.core.match.answers import forfeited, spoken
from sally.core.match.asked_at_once import AskedAtOnce
from sally.core.match.at_once import Decides as Decides
from sally.core.match.playable import check_playable
from sally.core.match.player import Answer, AskId, Decision, Fault, Forfeit, Move, Turn
from sally.core.match.probes import ProbeSession
from sally.core.match.replay import Replay
from sally.core.match.seat_context import SeatContext
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE, A, Game, GameSpec, S, Seat, V
from sally.core.rules.menu import admitted


class Match(AskedAtOnce[S, A, V]):
    """Turn order, nature, probes, injection, forfeits and the log, in one place."""

    def __init__(
        self,
        spec: GameSpec[S, A, V],
        setup: Setup,
        *,
        ask_nature: bool = False,  # whether the driver supplies nature's moves, as a replay does
        texts: Mapping[str, Mapping[str, str]] | None = None,  # words packs' texts, by seat
        like: Match[S, A, V] | None = None,  # one of the same setup but for its seed and repeat
    ) -> None:
        self.spec, self.setup, self._ask_nature = spec, setup, ask_nature
        self.game: Game[S, A, V] = spec.build(setup.instance.params) if like is None else like.game
        self.events: list[Event] = []
        self.replay: Replay[S, A, V] = Replay(self.game, [self.game.start()], lineup=setup.lineup)
        self.over = False
        if like is None:
            check_playable(spec, self.game, setup)
        self._contexts = (
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
        quiet = self.game.censors_forfeits or not self._may_censor
        self._is_steady = self.game.same_menus and quiet and not self._may_reject
        self._memory: dict[Seat, Any] = {}
        self._waiting: dict[AskId, Turn[A, V]] = {}
        self._made: dict[Seat, Moved | Forfeited] = {}
        self._movers: tuple[Seat, ...] = ()
        self._unasked: list[Seat] = []  # movers who wait to be told before they are asked
        probed = any(setup.arms.values()) or setup.injections or setup.fork
        self._probes = self._new_probe_session() if probed else None
        self._begin()

    # --- what a driver uses -----------------------------------------------------------------

    @property
    def turn(self) -> int:
        return len(self.replay.moves)

    @property
    def state(self) -> S:
        return self.replay.states[-1]

    def context(self, seat: Seat) -> SeatContext:
        """A seat's own desk."""
        return self._contexts[seat]

    def memory(self, seat: Seat) -> Any:
        """What a seat chose to keep from its last turn."""
        return self._memory.get(seat)

    def asks(self) -> list[Turn[A, V]]:
        """All that can be answered now, in any order; empty when the match is over."""
        return list(self._waiting.values())

    @property
    def waiting(self) -> int:
        """How many asks can be answered now."""
        return len(self._waiting)

    def asked(self, seat: str) -> Turn[A, V] | None:
        """The move that a seat is asked for now, if it is."""
        return self._waiting.get((len(self.replay.moves), seat, "", ""))

    def answer(self, id: AskId, given: Move[A] | Answer) -> None:
        """Take an answer; a wrong one raises and leaves the match as it was."""
        turn = self._waiting.get(id)
        if turn is None:
            raise NotAsked(f"Nothing is asked of {id[1]!r} under {id!r} now.")
        if type(given) is Fault:
            self.censor(given.cause, given.detail, turn.context.seat, given.calls)
            return
        if turn.question is None:
            if type(given) is Decision and given.foreseen:  # a report, whether asked for or not
                self._probes = self._probes or self._new_probe_session()
                self._probes.check_foreseen(turn, given.foreseen)
            self._take_move(turn, given)
        else:
            assert self._probes is not None  # only they put questions
            self._probes.take(turn, turn.question, given)  # type: ignore[arg-type]
        del self._waiting[id]
        if self._probes is not None:
            if turn.question is None:
                self._put(self._probes.after_move(turn.context.seat, given))  # type: ignore[arg-type]
            if self._unasked:
                self._ask_whoever_is_ready()
        if not self._waiting:
            self._settle()

    def censor(self, cause: str, detail: str = "", seat: str = "", calls: Any = ()) -> None:
        """Stop without a result; what was already answered this turn is kept in the log."""
        if self.over:
            raise NotAsked("The match is over.")
        self._flush()
        self.events.append(Censored(self.turn, cause, detail, seat, tuple(calls)))
        self._close()

    def episode(self, cell: str = "", used: Mapping[str, Any] | None = None) -> Episode:
        """The record of a match that is over."""
        if not self.over:
            raise BadInput("The match is still going on; it has no record yet.")
        return Episode(episode_id(self.setup), self.setup, self.events, cell, dict(used or {}))

    def copied(self) -> Match[S, A, V]:
        """Another match that stands where this one does; neither knows how the other goes on."""
        twin = copy(self)
        twin.events, twin.replay = list(self.events), self.replay.copied()
        twin._contexts = {seat: context.copied() for seat, context in self._contexts.items()}
        twin._memory, twin._made = dict(self._memory), dict(self._made)
        twin._unasked = list(self._unasked)
        twin._waiting = {
            id: replace(turn, context=twin._contexts[turn.context.seat], looked=list(turn.looked))
            for id, turn in self._waiting.items()
        }
        if self._probes is not None:
            twin._probes = self._probes.copied(twin.replay, twin._contexts, twin._memory)
        return twin

    def _new_probe_session(self) -> ProbeSession:
        return ProbeSession(self.spec, self.setup, self.replay, self._contexts, self._memory)

    # --- from one turn to the next ----------------------------------------------------------

    def _next(self) -> tuple[Seat, ...]:
        """Who must answer next, once nature has moved; nobody when that was the end."""
        game, states = self.game, self.replay.states
        while True:
            state = states[-1]
            movers = game.to_move(state)
            if self._may_censor and (why := game.censored(state)) is not None:
                self.censor("forfeits", why)
                return ()
            if not movers:
                self.events.append(Ended(self.turn, self._paid(state)))
                self._close()
                return ()
            if movers[0] != NATURE or self._ask_nature:
                return movers
            drawn = Stream(self.setup.seed, NATURE, self.turn, "move").draw(game.odds(state))
            self.events.append(Moved(self.turn, NATURE, drawn))
            self._step({NATURE: drawn}, ())

    def _begin(self) -> None:
        """Go on to the next point at which somebody must answer, or to the end."""
        self._movers = movers = self._next()
        if not movers:
            return
        state = self.state
        if self._may_reject:
            self._forfeit_the_rejected(state)
        if self._probes is None:
            game, contexts, memory = self.game, self._contexts, self._memory
            number, waiting = len(self.replay.moves), self._waiting
            for seat in movers:
                if seat not in self._made:
                    id, view = (number, seat, "", ""), game.observe(state, seat)
                    menu = game.options(state, seat)
                    waiting[id] = Turn(id, contexts[seat], view, menu, memory.get(seat))
        else:
            self._ask_with_asides(self._probes)
        if not self._waiting:
            self._settle()

    def _ask_with_asides(self, probe_session: ProbeSession) -> None:
        probe_session.turn_begins()
        self._unasked = [seat for seat in self._movers if seat not in self._made]
        if self._movers[0] != NATURE:
            self._put(probe_session.at_start(tuple(self._unasked)))
        self._ask_whoever_is_ready()

    def _paid(self, state: S) -> dict[str, float]:
        payoffs = {str(seat): float(p) for seat, p in self.game.payoffs(state).items()}
        if not all(isfinite(p) for p in payoffs.values()):
            raise BadInput(f"{self.spec.name} pays {payoffs}; every payoff must be finite.")
        return payoffs

    def _forfeit_the_rejected(self, state: S) -> None:
        """Whoever the rules have turned down too often is not asked again."""
        for seat in self._movers:
            if self.game.rejections(state, seat) > self.setup.retries:
                self._made[seat] = Forfeited(self.turn, seat, "rejected")
                if self._probes is not None:
                    self._probes.skip(seat, ("before", "after"))

    def _put(self, asked: Iterable[Turn[A, V]]) -> None:
        for turn in asked:
            self._waiting[turn.id] = turn

    def _ask_whoever_is_ready(self) -> None:
        """Ask those movers that wait for nothing: injected ones are told first."""
        assert self._probes is not None
        for seat in tuple(self._unasked):
            if self._probes.ready(seat, self._movers, self._made, self._waiting):
                self._unasked.remove(seat)
                self._ask_move(seat, self.state, self._probes.tell(seat, self._made))

    def _ask_move(self, seat: Seat, state: S, told: tuple[Told, ...] = ()) -> None:
        game, probe_session = self.game, self._probes
        id = (len(self.replay.moves), seat, "", "")
        self._waiting[id] = Turn(
            id,
            self._contexts[seat],
            game.observe(state, seat) if probe_session is None else probe_session.view(seat),
            game.options(state, seat) if probe_session is None else probe_session.menu(seat),
            self._memory.get(seat),
            told,
        )

    def _take_move(self, turn: Turn[A, V], given: Move[A] | Answer) -> None:
        number, seat = turn.id[0], turn.context.seat
        if type(given) is Decision:
            action = given.action
            if type(action) is not int or action not in turn.options:
                action = admitted(turn.options, action)
            plain = not (given.calls or given.reply or turn.looked)
            self._made[seat] = Moved(number, seat, action) if plain else spoken(turn, action, given)
            self._memory[seat] = given.memory
        elif isinstance(given, Forfeit):
            self._made[seat] = forfeited(turn, given)
            if given.memory is not None:
                self._memory[seat] = given.memory
        else:
            raise IllegalMove(f"{seat} was asked for a move and answered {given!r}.")

    def _settle(self) -> None:
        """Everybody has answered: log in canonical order and let the rules step."""
        made = self._made
        self._flush()
        moves: dict[Seat, Any] = {}
        for seat in self._movers:
            event = made[seat]
            if type(event) is Moved:
                moves[seat] = event.action
        lost = () if len(moves) == len(made) else tuple(s for s in self._movers if s not in moves)
        for seat in lost:
            if seat in self.game.helpers:
                self.censor("helper", "a helper gave no legal answer", seat)
                return
        self._step(moves, lost)
        self._begin()

    def _step(self, moves: Mapping[Seat, A], lost: tuple[Seat, ...]) -> None:
        replay, state = self.replay, self.replay.states[-1]
        if lost:
            after = self.game.forfeit(state, moves, lost)
            replay.forfeited[self.turn] = lost
        else:
            after = self.game.step(state, moves)
        replay.moves.append(moves)
        replay.states.append(after)

    def _flush(self) -> None:
        """Log this turn's answers: start, before, told, moves, after - each in seat order."""
        probe_session, made = self._probes, self._made
        if probe_session is not None:
            probe_session.keep_own(self._movers)
            self.events += probe_session.flushed(("start", "before", "told"))
        for seat in self._movers:
            if seat in made:
                self.events.append(made[seat])
        if probe_session is not None:
            self.events += probe_session.flushed(("foreseen", "after"))
            self.replay.pending = {}
        self._made = {}

    def _close(self) -> None:
        self._waiting.clear()
        self.over = True
