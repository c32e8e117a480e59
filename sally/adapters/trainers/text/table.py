"""One match in which a trainer answers for the language models, one request at a time.

The seat of such a model is an ordinary language player, so prompts, reply parsing, retries and
forfeits are the same as in an evaluation. Its requests go to the trainer instead of a model; no
event loop is needed.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Moved, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import AskId, Decision, Player, Turn
from sally.core.prompt.model import Reply, Scores
from sally.core.registry import registry
from sally.models.trained import Trained
from sally.players.calls import Exchanges, Request, with_calls
from sally.runner.local import is_bot, reached
from sally.runner.seating import players_of

Given = str | bytes | Reply | Scores | Sequence[float]
"""An answer: a reply, or the log-probability of each candidate if scores are asked for."""

OVER = "The episode is over; call reset before the next step."


class TextTable:
    """A match in progress: the current request, and one answer at a time."""

    def __init__(
        self,
        setup: Setup,
        players: Mapping[str, Player[Any, Any]],
        seat: str | Sequence[str],  # or several, which are asked one after another
        like: Match[Any, Any, Any] | None = None,  # one of the same task, whose words are shared
    ) -> None:
        self._open: list[tuple[Turn[Any, Any], Coroutine[Request, Any, Any]]] = []
        spec = registry.game(setup.instance.game) if like is None else like.spec
        self.playing: Match[Any, Any, Any] = Match(spec, setup, like=like)  # log: without calls
        self.seats = (seat,) if isinstance(seat, str) else tuple(seat)
        self.seat, self._players = self.seats[0], players
        trained = dict.fromkeys(self.seats, self._answering)
        self._driver = Driver(self.playing, {**players, **trained})
        # A second ask may then be open while one is answered.
        self._probed = len(self.seats) > 1 or any(setup.arms.get(at) for at in self.seats)
        self._unlogged: list[tuple[int, Exchanges]] = []  # calls to be added to events of the log
        self._exchanges: dict[AskId, Exchanges] = {}
        self.asked: Request | None = None
        self.made: Moved | None = None  # the move just made, if nothing else was decided
        self._go_on()

    @property
    def match(self) -> Match[Any, Any, Any]:
        """The match, with every call so far in its log."""
        events: list[Any] = self.playing.events
        for place, exchanges in self._unlogged:
            events[place] = with_calls(events[place], exchanges)
        self._unlogged = []
        return self.playing

    def answer(self, given: Given) -> bool:
        """Answer the current request; return whether this completes the decision.

        Raises:
            BadInput: The episode is over, or `given` is not the requested kind of answer.
        """
        if self.asked is None:
            raise BadInput(OVER)
        reply, self.made = _read(given, self.asked), None
        turn, run = self._open[0]
        try:
            self.asked = run.send(reply)
        except StopIteration as done:
            self._take(turn, done.value)
            self._go_on()
            return True
        return False

    def censor(self, cause: str, detail: str = "") -> None:
        """Stop the episode without a result, for example at a token limit or after an abort."""
        if self.playing.over:
            raise BadInput(OVER)
        self.playing.censor(cause, detail, self.seat)
        self._close()

    def episode(self, cell: str = "", used: Mapping[str, Any] | None = None) -> Episode:
        """Return the record of a match that is over."""
        return self.match.episode(cell, used)

    def _go_on(self) -> None:
        """Let the other players play until the trained model is asked something, or to the end."""
        match = self.playing
        while not match.over:
            if not self._open:
                self._open = self._driver.advance()
                continue
            turn, run = self._open[0]
            try:
                self.asked = run.send(None)
                return
            except StopIteration as done:  # decided without a request
                self._take(turn, done.value)
        self._close()

    def _answering(self, turn: Turn[Any, Any]) -> Any:
        player: Any = self._players[turn.context.seat]
        exchanges = self._exchanges[turn.id] = []
        return player.answering(turn, exchanges)

    def _take(self, turn: Turn[Any, Any], given: Any) -> None:
        """Pass a complete answer from the trained model's seat to the match."""
        del self._open[0]
        match, exchanges = self.playing, self._exchanges.pop(turn.id)
        plain = type(given) is Decision and given.memory is None and not given.foreseen
        if not plain or turn.looked or self._open or self._probed:
            self._driver.answer(turn.id, with_calls(given, exchanges))
            return
        at = len(match.events)
        self._driver.answer(turn.id, given)  # calls are added when the log is accessed
        for place in range(at, len(match.events)):
            event = match.events[place]
            if type(event) is Moved and (event.turn, event.seat) == (turn.id[0], self.seat):
                self._unlogged.append((place, exchanges))
                self.made = event
                return

    def __del__(self) -> None:
        self._close()  # a coroutine that was never begun would warn when it is collected

    def _close(self) -> None:
        self.asked = None
        for _, run in self._open:
            run.close()
        self._open = []


class TextPlay:
    """Base of the environments that play one match at a time."""

    _table: TextTable | None = None  # the match in progress

    @property
    def asked(self) -> Request | None:
        """The current request, with its messages, candidates and tools; None at the end."""
        return None if self._table is None else self._table.asked

    def _begun(self) -> TextTable:
        if self._table is None:
            raise BadInput("No episode has begun; call reset first.")
        return self._table

    def _asked_now(self) -> Request:
        asked = self._begun().asked
        if asked is None:
            raise BadInput(OVER)
        return asked


def logged(given: Given) -> Any:
    """Return an answer as the rows of a trainer keep it."""
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else given


def _read(given: Given, asked: Request) -> Reply | Scores:
    """Return the answer as a reply or scores, whichever is requested; the text is not parsed
    here."""
    if type(given) is str and not asked.candidates:
        return Reply(given)
    if asked.candidates:
        return _scores(given, asked.candidates)
    if isinstance(given, Reply):
        return given
    if isinstance(given, bytes):
        given = given.decode("utf-8", "replace")
    if not isinstance(given, str):
        raise BadInput(f"A reply must be a text, not {type(given).__name__}.")
    return Reply(given)


def _scores(given: Given, candidates: tuple[str, ...]) -> Scores:
    if isinstance(given, Scores) and given.candidates == candidates:
        return given
    if isinstance(given, str | bytes | Reply | Scores):
        named = ", ".join(candidates)
        raise BadInput(f"This question needs scores: one log-probability for each of {named}.")
    try:
        return Scores(candidates, tuple(float(each) for each in given))
    except (TypeError, ValueError) as why:
        raise BadInput(f"These scores cannot be used: {str(why).rstrip('.')}.") from None


def players_for(
    match: Match[Any, Any, Any], models: Mapping[str, Trained]
) -> dict[str, Player[Any, Any]]:
    """Return the players of a match, with externally run models in their seats.

    Raises:
        BadInput: Another seat has a player that is not a bot.
    """
    setup = match.setup
    first = next(iter(models.values()))
    lineup = reached(setup.lineup, lambda at, name: models.get(at, first))
    players = players_of(match, lineup)
    for at, player in players.items():
        if at not in models and not is_bot(player):
            raise BadInput(
                f"{setup.lineup[at].player} is not a bot; only bots can play with a learner."
            )
    return players
