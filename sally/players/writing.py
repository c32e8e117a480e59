"""A language model that writes its policy once; the policy then plays, or is only kept as notes.

A game's `PolicyFormat` defines the question, the reader and the prescribed moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from sally.core.errors import BadInput, Unreadable, unknown
from sally.core.match.player import Decision, Fault, Forfeit, PlayerKind, Turn
from sally.core.prompt.model import ModelFailure, User
from sally.core.prompt.words import Words
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport
from sally.players.calls import Caller, Exchanges
from sally.players.language import PLAYERS as LANGUAGE
from sally.players.language import LanguagePlayer, ModelPlayer

THEN = ("run", "play")


class PolicyFormat(Protocol):
    """The policy format of a game, for one seat."""

    def asked(self, words: Words[Any, Any], view: Any) -> tuple[str, ...]:
        """Return the question before the first move, with its answer format."""
        ...

    def read(self, reply: str, words: Words[Any, Any], view: Any) -> Any:
        """Return the policy in a reply; raises Unreadable with a description of a valid one."""
        ...

    def kept(self, plain: Mapping[str, Any]) -> Any:
        """Return the policy from the notes in a log."""
        ...

    def prescribed(self, policy: Any, view: Any) -> Any:
        """Return the move that the policy prescribes."""
        ...


class PolicyWriter(ModelPlayer, frozen=True):
    """A player that writes a policy before its first move; the log stores it as notes."""

    inner: LanguagePlayer
    book: PolicyFormat
    then: str

    @property
    def model(self) -> Any:
        return self.inner.model

    async def report(self, turn: Turn[Any, Any]) -> ProbeReport | Fault:
        """Return the player's answer to a probe."""
        given: ProbeReport | Fault = await self.decide(turn)
        return given

    async def answering(
        self, turn: Turn[Any, Any], exchanges: Exchanges
    ) -> Decision[Any] | Forfeit | ProbeReport | Fault:
        """Answer an ask: the strategy answers probes; moves come from the written policy or, with
        `then="play"`, from the strategy."""
        inner, notes = self.inner, turn.memory or {}
        inside = msgspec.structs.replace(turn, memory=notes.get("notes"))
        if turn.question is not None:
            return await inner.answering(inside, exchanges)
        reply, tries = "", 1
        if "policy" in notes:
            policy = self.book.kept(notes["policy"])
        else:
            caller = Caller(inner.model, inner.settings, turn, inner.call_retries, exchanges)
            try:
                policy, reply, tries = await self._written(turn, caller)
            except ModelFailure as why:
                return Fault("fault", str(why))
            except Unreadable as why:
                return Forfeit("unreadable", str(why), turn.context.retries + 1)
        kept = {"policy": msgspec.to_builtins(policy)}
        if self.then == "run":
            return Decision(self.book.prescribed(policy, turn.view), kept, reply, tries)
        given = await inner.answering(inside, exchanges)
        if isinstance(given, Decision | Forfeit):
            more = kept | ({"notes": given.memory} if given.memory is not None else {})
            return msgspec.structs.replace(given, memory=more)
        return given

    async def _written(self, turn: Turn[Any, Any], caller: Caller) -> tuple[Any, str, int]:
        """Return the policy, the reply that states it, and the number of tries it took."""
        context = turn.context.in_words(self.inner.pack, self.inner.pack_texts)
        words, retry, last = context.words, "", Unreadable("nothing was asked")
        opening = context.opening(turn.view, words.forms[0])
        for tries in range(1, context.retries + 2):
            asked = (*self.book.asked(words, turn.view), retry)
            page = opening.plus("\n".join(part for part in asked if part))
            reply = await caller.say("policy", [User(page)])
            try:
                return self.book.read(reply.text, words, turn.view), reply.text, tries
            except Unreadable as why:
                retry, last = words.say("retry", why=why), why
        raise last


def writer(form: str, book: Callable[[Any, Seat], PolicyFormat]) -> PlayerKind:
    """Return the player kind `policy_writer` for a game with this policy format."""

    def make(
        spec: GameSpec[Any, Any, Any],
        game: Game[Any, Any, Any],
        seat: Seat,
        then: str = "run",
        **language: Any,
    ) -> PolicyWriter:
        if then not in THEN:
            raise unknown("value of `then`", then, THEN)
        if "model" not in language:
            raise BadInput("name the model that writes the policy, such as `model=embedded`")
        inner: Any = LANGUAGE["language"].make(spec, game, seat, **language)
        return PolicyWriter(inner, book(game, seat), then)

    return PlayerKind(
        "policy_writer",
        f"a language model that writes its policy once, as {form}, which is then run (then=run) "
        "or only kept while it plays turn by turn (then=play)",
        make,
        {**LANGUAGE["language"].params, "then": "run"},
    )
