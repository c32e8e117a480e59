"""One match in which a trainer answers for the language models, one request at a time.

The seat of such a model is an ordinary language player, so prompts, reply parsing, retries and
forfeits are the same as in an evaluation. Its requests go to the trainer instead of a model; no
event loop is needed.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from sally.core.errors import BadInput
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Player, Turn
from sally.core.prompt.model import Reply, Scores
from sally.core.rules.replay import AskId
from sally.models.trained import Trained
from sally.players.calls import Exchanges, Request, with_calls
from sally.runner.local import is_bot, with_models
from sally.runner.seating import players_of

Given = str | bytes | Reply | Scores | Sequence[float]
"""An answer: a reply, or the log-probability of each candidate if scores are asked for."""

OVER = "The episode is over; call reset before the next step."


class TextTable:
    """A match in progress: the current request, and one answer at a time."""

    def __init__(
        self,
        match: Match,
        players: Mapping[str, Player],
        seats: Sequence[str],  # the trainer's, which are asked one after another
    ) -> None:
        self._open: list[tuple[Turn, Coroutine[Request, Any, Any]]] = []
        self._exchanges: dict[AskId, Exchanges] = {}
        self.match, self.seats, self._players = match, tuple(seats), players
        self._driver = Driver(match, {**players, **dict.fromkeys(seats, self._start_answer)})
        self.asked: Request | None = None
        self._go_on()

    def _start_answer(self, turn: Turn) -> Coroutine[Request, Any, Any]:
        player: Any = self._players[turn.context.seat]
        exchanges = self._exchanges[turn.id] = []
        answering: Coroutine[Request, Any, Any] = player.answering(turn, exchanges)
        return answering

    def answer(self, answer: Given) -> bool:
        """Answer the current request; return whether this completes the decision.

        Raises:
            BadInput: The episode is over, or `answer` is not the requested kind of answer.
        """
        if self.asked is None:
            raise BadInput(OVER)
        reply = _read(answer, self.asked)
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
        if self.match.over:
            raise BadInput(OVER)
        self.match.censor(cause, detail, self.seats[0])
        self._close()

    def _go_on(self) -> None:
        """Let the other players play until a trained model is asked something, or to the end."""
        while not self.match.over:
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

    def _take(self, turn: Turn, answer: Any) -> None:
        """Pass a complete answer from a trained model's seat to the match."""
        del self._open[0]
        self._driver.answer(turn.id, with_calls(answer, self._exchanges.pop(turn.id)))

    def __del__(self) -> None:
        self._close()  # a coroutine that was never begun would warn when it is collected

    def _close(self) -> None:
        self.asked = None
        for _, run in self._open:
            run.close()
        self._open = []


def logged_answer(answer: Given) -> Any:
    """Return an answer as the rows of a trainer keep it."""
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer


def _read(answer: Given, request: Request) -> Reply | Scores:
    """Return the answer as a reply or scores, whichever is requested; the text is not parsed
    here."""
    if type(answer) is str and not request.candidates:
        return Reply(answer)
    if request.candidates:
        return _scores(answer, request.candidates)
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, bytes):
        answer = answer.decode("utf-8", "replace")
    if not isinstance(answer, str):
        raise BadInput(f"A reply must be a text, not {type(answer).__name__}.")
    return Reply(answer)


def _scores(answer: Given, candidates: tuple[str, ...]) -> Scores:
    if isinstance(answer, Scores) and answer.candidates == candidates:
        return answer
    if isinstance(answer, str | bytes | Reply | Scores):
        names = ", ".join(candidates)
        raise BadInput(f"This question needs scores: one log-probability for each of {names}.")
    try:
        return Scores(candidates, tuple(float(score) for score in answer))
    except (TypeError, ValueError) as error:
        raise BadInput(f"These scores cannot be used: {str(error).rstrip('.')}.") from None


def players_for(match: Match, models: Mapping[str, Trained]) -> dict[str, Player]:
    """Return the players of a match, with externally run models in their seats.

    Raises:
        BadInput: Another seat has a player that is not a bot.
    """
    setup = match.setup
    first = next(iter(models.values()))
    lineup = with_models(setup.lineup, lambda seat, name: models.get(seat, first))
    players = players_of(match, lineup)
    for seat, player in players.items():
        if seat not in models and not is_bot(player):
            raise BadInput(
                f"{setup.lineup[seat].player} is not a bot; only bots can play with a learner."
            )
    return players
