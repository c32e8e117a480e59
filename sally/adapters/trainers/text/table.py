"""One match whose one language seat is answered from outside, a call at a time.

The seat is an ordinary `LanguagePlayer`, so pages, readers, retries and forfeits are those of an
evaluation. Its model suspends itself at each call; no event loop is needed.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Mapping, Sequence
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Moved, Setup
from sally.core.match.drive import let_answer
from sally.core.match.engine import Decides, Match
from sally.core.match.player import Decision, Player, Turn, put
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.registry import registry
from sally.players.straight import Shown, Straight
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
    shown: Context | Shown
    candidates: tuple[str, ...] = ()  # where scores are wanted
    how: Settings | None = None  # None: as what is shown says
    tools: tuple[ToolSpec, ...] = ()

    @property
    def messages(self) -> Context:
        """All that is shown, as a conversation or as one text."""
        return self.shown.messages if isinstance(self.shown, Shown) else self.shown

    @property
    def settings(self) -> Settings:
        """How the model is to answer."""
        if isinstance(self.shown, Shown):
            return self.shown.settings
        return AS_THE_PROVIDER_DOES if self.how is None else self.how

    @property
    def page(self) -> str:
        """All that is shown, as one text."""
        shown = self.shown
        if isinstance(shown, Shown):
            return shown.opening + shown.tail
        if isinstance(shown, str):
            return str(shown)
        return "\n\n".join(message.text for message in shown)


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
        way: Straight | None = None,  # of the seat's player, where it has a short one
        scripts: Mapping[str, Decides[Any, Any]] | None = None,  # of those others that are scripts
    ) -> None:
        spec = registry.game(setup.instance.game) if like is None else like.spec
        self.playing: Match[Any, Any, Any] = Match(spec, setup, like=like)  # log: without calls
        self.seat, self._players = seat, players
        self._way, self._scripts = way, scripts or {}
        self._shown: Shown | None = None  # what is asked the short way now
        self._unsaid: list[tuple[int, Shown, dict[str, Any]]] = []  # calls that the log lacks yet
        self._open: list[tuple[Turn[Any, Any], _Later]] = []
        self.asked: Asked | None = None
        self.made: Moved | None = None  # the move just taken, where that is all that was decided
        self._go_on()

    @property
    def match(self) -> Match[Any, Any, Any]:
        """The match as it stands, its log with every call so far."""
        if self._unsaid:
            events: list[Any] = self.playing.events
            for place, shown, usage in self._unsaid:
                events[place] = shown.moved(events[place], usage)
            self._unsaid = []
        return self.playing

    def answer(self, given: Given) -> bool:
        """Answer what is asked; says whether the decision is made, or another try is wanted."""
        if self.asked is None:
            raise BadInput(OVER)
        self.made = None
        if (shown := self._shown) is not None and (way := self._way) is not None:
            if self._went_straight(way, shown, given):
                return True
            _read(given, self.asked)  # refuses what is no reply, and nothing has changed
            self._go_the_long_way(shown.turn)
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
        if self.playing.over:
            raise BadInput(OVER)
        self.playing.censor(cause, detail, self.seat)
        self._close()

    def episode(self, cell: str = "", used: Mapping[str, Any] | None = None) -> Episode:
        """The record of a match that is over, as any other's."""
        return self.match.episode(cell, used)

    def _go_on(self) -> None:
        """Let the others play until the seat outside is asked something, or to the end."""
        while not self.playing.over:
            if self._way is not None and (next_ := self.playing.asked(self.seat)) is not None:
                self._shown = shown = self._way.shown(next_)
                self.asked = Asked(next_.id[0], "move", "", shown)
                return
            if not self._open:
                self._open = let_answer(self.playing, self._players, self._says)
                continue
            turn, run = self._open[0]
            try:
                self._ask(turn, run.send(None))
                return
            except StopIteration as done:  # it decided without a call
                self._take(turn, done.value)
        self._close()

    def _went_straight(self, way: Straight, shown: Shown, given: Given) -> bool:
        """Take a reply that names a move without further ado, if it does."""
        text, usage = (given, {}) if type(given) is str else _plainly(given)
        if text is None or (event := way.moved(shown, text)) is None:
            return False
        self._shown, match = None, self.playing
        at = len(match.events)
        if not self._open and match.play_turn({self.seat: event}, self._scripts):
            while match.events[at] is not event:
                at += 1
            self._unsaid.append((at, shown, usage))
            self.made = event
        else:
            whole = shown.moved(event, usage)
            self._open = []
            match.answer(shown.turn.id, Decision(event.action, None, text, 1, whole.calls))
        self._go_on()
        return True

    def _go_the_long_way(self, turn: Turn[Any, Any]) -> None:
        """Have the player itself see to what is asked: it shows the same page."""
        self._shown = None
        self._open = [(turn, _Later(turn, self._players[self.seat]))]
        self._open[0][1].send(None)

    def _says(self, turn: Turn[Any, Any]) -> Any:
        player = self._players[turn.seat]
        return _Later(turn, player) if turn.seat == self.seat else put(turn, player)

    def _ask(self, turn: Turn[Any, Any], call: _Call) -> None:
        question = turn.question
        kind, about = ("move", "") if question is None else (question.probe, question.about)
        self.asked = Asked(turn.number, kind, about, call.shown, call.candidates, *call.more)

    def _take(self, turn: Turn[Any, Any], given: Any) -> None:
        del self._open[0]
        self.playing.answer(turn.id, given)

    def _close(self) -> None:
        self.asked = self._shown = None
        for _, run in self._open:
            run.close()
        self._open = []


def _plainly(given: Given) -> tuple[str | None, dict[str, Any]]:
    """The words of a reply that is nothing but words, and what they used; None if it is more."""
    if type(given) is not Reply or given.finish != "stop" or given.tool_calls or given.reasoning:
        return None, {}
    return given.text, msgspec.to_builtins(given.usage)


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
