"""One match whose one language seat is answered from outside, a call at a time.

The seat is an ordinary `LanguagePlayer`, so pages, readers, retries and forfeits are those of an
evaluation. Its model suspends itself at each call; no event loop is needed.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Mapping, Sequence
from typing import Any

import msgspec

from sally.core import shelf
from sally.core.drive import let_answer
from sally.core.errors import BadInput
from sally.core.log import Episode, Setup
from sally.core.match import Match
from sally.core.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.player import Player, Turn, put
from sally.runner.local import is_bot, reached
from sally.runner.seating import players_of

Given = str | bytes | Reply | Scores | Sequence[float]
"""What may be answered: a reply, or the log-probability of each candidate where these are asked."""

OVER = "The episode is over; call reset before the next step."


class Asked(msgspec.Struct, frozen=True):
    """What the model outside is asked now: to say something, or to score candidates."""

    turn: int  # of the match
    kind: str  # "move", or the name of the probe
    about: str  # whom the probe is about
    messages: Context
    candidates: tuple[str, ...] = ()  # where scores are wanted
    settings: Settings = AS_THE_PROVIDER_DOES
    tools: tuple[ToolSpec, ...] = ()

    @property
    def page(self) -> str:
        """All that is shown, as one text."""
        if isinstance(self.messages, str):
            return str(self.messages)
        return "\n\n".join(message.text for message in self.messages)


class _Call:
    """One call that waits for its answer."""

    def __init__(self, shown: Context, candidates: tuple[str, ...], *more: Any) -> None:
        self.shown, self.candidates, self.more = shown, candidates, more

    def __await__(self) -> Generator[_Call, Any, Any]:
        return (yield self)


class Outside:
    """The model that is answered for from outside; it says itself what it is trained on."""

    can_score = True

    def __init__(self, name: str, used: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.used = dict(used) if used else None

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        reply: Reply = await _Call(list(messages), (), settings, tuple(tools))
        return reply

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        scores: Scores = await _Call(context, tuple(candidates), settings, ())
        return scores


class _Later:
    """An ask to the seat outside whose turn has not come: nothing of it has begun."""

    def __init__(self, turn: Turn[Any, Any], player: Player[Any, Any]) -> None:
        self._turn, self._player = turn, player
        self._run: Coroutine[_Call, Any, Any] | None = None

    def __await__(self) -> Generator[_Call, Any, Any]:
        raise AssertionError("a text table sends answers itself")

    def send(self, given: Reply | Scores | None) -> _Call:
        """Go on with this answer, from the beginning if there was none; the next call."""
        if self._run is None:
            self._run = put(self._turn, self._player)
        return self._run.send(given)

    def close(self) -> None:
        if self._run is not None:
            self._run.close()


class TextTable:
    """A match in progress: what is asked now, and one answer at a time."""

    def __init__(
        self,
        setup: Setup,
        players: Mapping[str, Player[Any, Any]],
        seat: str,
        like: Match[Any, Any, Any] | None = None,  # one of the same task; saves making its words
    ) -> None:
        spec = shelf.game(setup.instance.game) if like is None else like.spec
        self.match: Match[Any, Any, Any] = Match(spec, setup, like=like)
        self.seat, self._players = seat, players
        self._open: list[tuple[Turn[Any, Any], _Later]] = []
        self.asked: Asked | None = None
        self._go_on()

    def answer(self, given: Given) -> bool:
        """Answer what is asked; says whether the decision is made, or another try is wanted."""
        if self.asked is None:
            raise BadInput(OVER)
        read = _read(given, self.asked)
        turn, run = self._open[0]
        try:
            self._ask(turn, run.send(read))
        except StopIteration as done:
            self._take(turn, done.value)
            self._go_on()
            return True
        return False

    def censor(self, cause: str, detail: str = "") -> None:
        """Stop the episode without a result: a token limit, an abort."""
        if self.match.over:
            raise BadInput(OVER)
        self.match.censor(cause, detail, self.seat)
        self._close()

    def episode(self, cell: str = "", used: Mapping[str, Any] | None = None) -> Episode:
        """The record of a match that is over, as any other's."""
        return self.match.episode(cell, used)

    def _go_on(self) -> None:
        """Let the others play until the seat outside is asked something, or to the end."""
        while not self.match.over:
            if not self._open:
                self._open = let_answer(self.match, self._players, self._says)
                continue
            turn, run = self._open[0]
            try:
                self._ask(turn, run.send(None))
                return
            except StopIteration as done:  # it decided without a call
                self._take(turn, done.value)
        self._close()

    def _says(self, turn: Turn[Any, Any]) -> Any:
        player = self._players[turn.seat]
        return _Later(turn, player) if turn.seat == self.seat else put(turn, player)

    def _ask(self, turn: Turn[Any, Any], call: _Call) -> None:
        question = turn.question
        kind, about = ("move", "") if question is None else (question.probe, question.about)
        self.asked = Asked(turn.number, kind, about, call.shown, call.candidates, *call.more)

    def _take(self, turn: Turn[Any, Any], given: Any) -> None:
        del self._open[0]
        self.match.answer(turn.id, given)

    def _close(self) -> None:
        self.asked = None
        for _, run in self._open:
            run.close()
        self._open = []


def _read(given: Given, asked: Asked) -> Reply | Scores:
    """An answer of the right kind; whatever a reply holds is for the game's reader to judge."""
    if asked.candidates:
        return _scores(given, asked.candidates)
    if isinstance(given, Reply):
        return given
    if isinstance(given, bytes):
        given = given.decode("utf-8", "replace")
    if not isinstance(given, str):
        raise BadInput(f"A reply is a text, not {type(given).__name__}.")
    return Reply(given)


def _scores(given: Given, candidates: tuple[str, ...]) -> Scores:
    if isinstance(given, Scores) and given.candidates == candidates:
        return given
    if isinstance(given, str | bytes | Reply | Scores):
        named = ", ".join(candidates)
        raise BadInput(f"Scores are asked for here: one log-probability for each of {named}.")
    try:
        return Scores(candidates, tuple(float(each) for each in given))
    except (TypeError, ValueError) as why:
        raise BadInput(f"These scores cannot be used: {str(why).rstrip('.')}.") from None


def players_for(
    match: Match[Any, Any, Any], seat: str, model: Outside
) -> dict[str, Player[Any, Any]]:
    """Everybody at the table of a match, with the model outside in its seat; made once a task."""
    setup = match.setup
    lineup = reached(setup.lineup, lambda at, name: model)
    players = players_of(match, lineup)
    for at, player in players.items():
        if at != seat and not is_bot(player):
            raise BadInput(f"{setup.lineup[at].player} takes time; only bots sit with a learner.")
    return players
