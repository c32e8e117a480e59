"""The driver of a match: it passes asks to players and their answers to the match."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Literal

from sally.core.errors import IllegalMove
from sally.core.event_loop import run_coroutine
from sally.core.log.events import Censored, Episode
from sally.core.match.answers import answers_of
from sally.core.match.engine import Match
from sally.core.match.partner import Scripted
from sally.core.match.player import (
    CANNOT_ANSWER,
    WAIT,
    Decision,
    Fault,
    Forfeit,
    NoAnswer,
    Player,
    Source,
    Turn,
    wait,
)
from sally.core.rules.game import NATURE, Game
from sally.core.rules.probe import ProbeReport
from sally.core.rules.replay import AskId

if TYPE_CHECKING:
    import asyncio

OnIllegal = Literal["raise", "forfeit", "fault"]
Around = Callable[[Coroutine[Any, Any, None]], Coroutine[Any, Any, None]]
Awaited = tuple[Turn, Any]  # an ask and the awaitable of its answer
Again = Callable[[Turn, Any], Any]
"""Function of an ask and its logged event that returns an answer, or None for the logged one."""
NOBODY: Mapping[str, Source] = {}
_IMMEDIATE = frozenset((int, Decision, Forfeit, Fault, ProbeReport, NoAnswer))  # never awaited


class Driver:
    """The one way to run a match.

    Args:
        match: the match, at its start or at any later point.
        sources: for each seat a player, or a function that answers its asks for moves and its
            probes. Asks of other seats stay open, so that `match.answer` can answer them; only
            nature, if it is asked at all, then draws from the random stream of the setup.
        on_illegal: what becomes of an answer that does not fit its ask: IllegalMove is raised and
            the ask stays open, the move is forfeited (a probe has no answer), or the match is
            censored with a fault.
        on_answer: called with every ask and its answer after the match has recorded it.

    An exception in a player is raised; asks without an answer at that point stay open.
    """

    def __init__(
        self,
        match: Match,
        sources: Mapping[str, Player | Source] = NOBODY,
        on_illegal: OnIllegal = "raise",
        on_answer: Callable[[Turn, Any], None] | None = None,
    ) -> None:
        self.match, self._on_illegal, self._on_answer = match, on_illegal, on_answer
        self._decide: dict[str, Source] = {NATURE: lambda turn: Decision(match.drawn_by_nature())}
        self._decide |= {seat: _decider(source) for seat, source in sources.items()}
        self._report = {seat: _reporter(source) for seat, source in sources.items()}
        self._sent: set[AskId] = set()  # asks whose answers are awaited
        self._plays_numbers = on_answer is None  # whether a surprise in `play_numbers` is unlikely

    # --- playing ----------------------------------------------------------------------------

    def run(self, around: Around | None = None) -> None:
        """Play until the match is over, or until only seats without a source are asked.

        If an answer has to be awaited, the rest of the match is played in a new event loop.

        Args:
            around: function that wraps this rest, a coroutine, in another, such as a time limit.
        """
        if awaited := self.advance():
            remaining = self._await_answers(awaited)
            run_coroutine(remaining if around is None else around(remaining))

    async def arun(self) -> None:
        """Play as `run` does, in the running event loop; open asks are awaited concurrently."""
        await self._await_answers(self.advance())

    def advance(self) -> list[Awaited]:
        """Send asks, through the following turns, until no source answers immediately.

        Returns:
            The asks sent now whose answers must be awaited, each with its awaitable. They are not
            sent again; the caller passes their answers to `answer`, or closes the awaitables if
            the match is over.
        """
        match, awaited, sent = self.match, list[Awaited](), set(self._sent)

        def receive(turn: Turn, answer: Any) -> None:
            if answer is WAIT:
                sent.add(turn.id)
            elif type(answer) not in _IMMEDIATE and isawaitable(answer):
                sent.add(turn.id)
                awaited.append((turn, answer))
            else:
                self.answer(turn.id, answer)

        try:
            while not match.over:
                if self._plays_numbers and (surprise := match.play_numbers(self._decide)):
                    self._plays_numbers = False  # these players give other answers
                    receive(*surprise)
                unsent = [turn for turn in match.asks() if turn.id not in sent]
                if not unsent:
                    break
                for turn in unsent:
                    if not match.over:
                        sources = self._decide if turn.question is None else self._report
                        receive(turn, sources.get(turn.context.seat, wait)(turn))
        except BaseException:
            _close(awaited)
            raise
        self._sent.update(turn.id for turn, _ in awaited)
        return awaited

    def answer(self, id: AskId, answer: Any) -> None:
        """Pass an answer to the match; it may also come from outside the driver.

        Raises:
            NotAsked: No ask with this id is open.
            IllegalMove: The answer does not fit the ask, and `on_illegal` is "raise".
        """
        match = self.match
        turn = match.ask(id)
        try:
            match.take(turn, answer)
        except IllegalMove as error:
            if self._on_illegal == "raise":
                raise
            answer = _instead(turn, error, self._on_illegal)
            match.take(turn, answer)
        self._sent.discard(id)
        if self._on_answer is not None:
            self._on_answer(turn, answer)

    async def _await_answers(self, awaited: list[Awaited]) -> None:
        import asyncio  # a sixth of a worker's start, and bots need none

        tasks: dict[asyncio.Future[Any], Turn] = {}
        try:
            while not self.match.over and (awaited or tasks):
                if len(awaited) == 1 and not tasks:  # a single answer needs no task
                    turn, answer = awaited.pop()
                    self.answer(turn.id, await answer)
                else:
                    while awaited:
                        turn, answer = awaited.pop(0)
                        tasks[asyncio.ensure_future(answer)] = turn
                    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                    for task in [task for task in tasks if task in done]:
                        turn, answer = tasks.pop(task), task.result()
                        if not self.match.over:
                            self.answer(turn.id, answer)
                awaited = self.advance()
        finally:
            for task in tasks:
                task.cancel()
            _close(awaited)
            self._sent.clear()

    # --- replay -----------------------------------------------------------------------------

    def replay(
        self, episode: Episode, upto: int | None = None, ask_again: Again | None = None
    ) -> list[Turn]:
        """Answer the asks from the log of an episode, to its end or to the beginning of a turn.

        If the log was censored, so is the match.

        Args:
            episode: the episode; the match must put the same asks up to that turn.
            upto: the turn, from 0, whose asks stay open; None to replay the whole log.
            ask_again: called with every ask and its logged event before the ask is answered; it may
                return another answer.

        Returns:
            The asks that are open at the end: those of turn `upto`, or those that had no answer
            when the episode was censored.

        Raises:
            LookupError: The log lacks an answer.
        """
        match, logged = self.match, answers_of(self.match.spec, episode)

        def answer_from_log(turn: Turn) -> Any:
            if turn.id not in logged or (upto is not None and turn.number >= upto):
                return WAIT
            event, answer = logged[turn.id]
            new_answer = None if ask_again is None else ask_again(turn, event)
            if new_answer is not None:
                return new_answer
            if event.looked:
                turn.looked = event.looked
            return answer

        seats = (*match.game.seats, *match.game.helpers)
        Driver(match, dict.fromkeys(map(str, seats), answer_from_log)).advance()
        unanswered = match.asks()
        if match.over or (upto is not None and match.turn >= upto):
            return unanswered
        stop = episode.events[-1] if episode.events else None
        if upto is not None or not isinstance(stop, Censored):
            raise LookupError(f"the log has no answer to {[turn.id for turn in unanswered]}")
        if stop.cause == Game.censor_cause:  # a stop that the rules make by themselves
            raise LookupError(f"the log stops for {stop.cause!r}, where the rules go on")
        match.censor(stop.cause, stop.detail, stop.seat, stop.calls)
        return unanswered


def _close(awaited: list[Awaited]) -> None:
    for _, answer in awaited:
        if isinstance(answer, Coroutine):
            answer.close()


def _instead(turn: Turn, error: IllegalMove, on_illegal: OnIllegal) -> Any:
    """Return the answer that replaces an illegal one."""
    if on_illegal == "fault":
        return Fault("fault", f"the player in seat {turn.seat!r}: {error}")
    return (
        Forfeit("illegal", str(error))
        if turn.question is None
        else ProbeReport(None, reply=str(error))
    )


def _decider(player: Player | Source) -> Source:
    """Return the function that decides a player's moves; for a scripted player, its script."""
    decide: Any = getattr(player, "decide", player)
    return player.script if type(player) is Scripted else decide


def _reporter(player: Player | Source) -> Source:
    """Return the function that answers probes for a player."""
    if not hasattr(player, "decide"):
        return player
    return getattr(player, "report", None) or (lambda turn: CANNOT_ANSWER)
