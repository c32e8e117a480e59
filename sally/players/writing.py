"""A language model that writes its policy once; then we run it, or it plays on turn by turn.

What a policy is in a game, how it is asked for and what it prescribes, the game's book says.
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
from sally.players.language import PLAYERS as LANGUAGE
from sally.players.language import Caller, LanguagePlayer

THEN = ("run", "play")


class Book(Protocol):
    """What a game knows of policies, for one seat."""

    def asked(self, words: Words[Any, Any], view: Any) -> tuple[str, ...]:
        """What is asked before the first move, and in which form."""
        ...

    def read(self, reply: str, words: Words[Any, Any], view: Any) -> Any:
        """The policy in a reply; raises Unreadable, and teaches."""
        ...

    def kept(self, plain: Mapping[str, Any]) -> Any:
        """The policy again from the notes in a log."""
        ...

    def prescribed(self, policy: Any, view: Any) -> Any:
        """The move that the policy asks for."""
        ...


class PolicyWriter(msgspec.Struct, frozen=True):
    """Writes before its first move; its policy is in the log as its notes."""

    inner: LanguagePlayer
    book: Book
    then: str

    @property
    def model(self) -> Any:
        return self.inner.model

    async def decide(self, turn: Turn[Any, Any]) -> Decision[Any] | Forfeit | Fault:
        notes = turn.memory or {}
        caller = Caller(self.inner.model, self.inner.settings, turn, self.inner.call_retries)
        reply, tries = "", 1
        if "policy" in notes:
            policy = self.book.kept(notes["policy"])
        else:
            try:
                policy, reply, tries = await self._written(turn, caller)
            except ModelFailure as why:
                return Fault("fault", str(why), tuple(caller.calls))
            except Unreadable as why:
                tries = turn.context.retries + 1
                return Forfeit("unreadable", str(why), tries, tuple(caller.calls))
        kept = {"policy": msgspec.to_builtins(policy)}
        if self.then == "run":
            move = self.book.prescribed(policy, turn.view)
            return Decision(move, kept, reply, tries, tuple(caller.calls))
        return await self._played_on(turn, kept, caller)

    async def _written(self, turn: Turn[Any, Any], caller: Caller) -> tuple[Any, str, int]:
        """The policy; an answer that does not fit is asked for again."""
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

    async def _played_on(
        self, turn: Turn[Any, Any], kept: dict[str, Any], caller: Caller
    ) -> Decision[Any] | Forfeit | Fault:
        """A move as the strategy makes it; the policy is not on its page."""
        inside = msgspec.structs.replace(turn, memory=(turn.memory or {}).get("notes"))
        given = await self.inner.decide(inside)
        calls = (*caller.calls, *given.calls)
        if isinstance(given, Fault):
            return msgspec.structs.replace(given, calls=calls)
        notes = kept | ({"notes": given.memory} if given.memory is not None else {})
        return msgspec.structs.replace(given, memory=notes, calls=calls)

    async def report(self, turn: Turn[Any, Any]) -> Any:
        """Probes are answered as the strategy answers them."""
        inside = msgspec.structs.replace(turn, memory=(turn.memory or {}).get("notes"))
        return await self.inner.report(inside)


def writer(form: str, book: Callable[[Any, Seat], Book]) -> PlayerKind:
    """The player `policy_writer` of a game whose policies have this form."""

    def make(
        spec: GameSpec[Any, Any, Any],
        game: Game[Any, Any, Any],
        seat: Seat,
        then: str = "run",
        **language: Any,
    ) -> PolicyWriter:
        if then not in THEN:
            raise unknown("way to go on after writing", then, THEN)
        if "model" not in language:
            raise BadInput("say which model writes, such as embedded")
        inner: Any = LANGUAGE["language"].make(spec, game, seat, **language)
        return PolicyWriter(inner, book(game, seat), then)

    return PlayerKind(
        "policy_writer",
        f"a language model that writes its policy once, as {form}, which is then run (then=run) "
        "or only kept while it plays turn by turn (then=play)",
        make,
        {**LANGUAGE["language"].params, "then": "run"},
    )
