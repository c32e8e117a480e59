"""A language model that writes its policy once; then we run it, or it plays on turn by turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput, Unreadable, unknown
from sally.core.game import Game, GameSpec, Seat
from sally.core.model import ModelFailure, User
from sally.core.player import Decision, Fault, Forfeit, PlayerKind, Turn
from sally.games.repeated_games.policies import Policy, checked_policy, prescribed, read_policy
from sally.games.repeated_games.rules import RepeatedGame
from sally.games.repeated_games.words import RepeatedWords
from sally.players.language import PLAYERS as LANGUAGE
from sally.players.language import Caller, LanguagePlayer

THEN = ("run", "play")
CALL_RETRIES = 2  # of a call that failed in passing


class PolicyWriter(msgspec.Struct, frozen=True):
    """Writes before the first round; its policy is in the log as its notes."""

    inner: LanguagePlayer
    game: RepeatedGame
    seat: Seat
    then: str

    @property
    def model(self) -> Any:
        return self.inner.model

    async def decide(self, turn: Turn[Any, Any]) -> Decision[Any] | Forfeit | Fault:
        notes = turn.memory or {}
        caller = Caller(self.inner.model, self.inner.settings, turn, CALL_RETRIES)
        reply, tries = "", 1
        if "policy" in notes:
            policy = checked_policy(notes["policy"], self.game, self.seat)
        else:
            try:
                policy, reply, tries = await self._written(turn, caller)
            except ModelFailure as why:
                return Fault("fault", str(why), tuple(caller.calls))
            except Unreadable as why:
                tries = turn.desk.retries + 1
                return Forfeit("unreadable", str(why), tries, tuple(caller.calls))
        kept = {"policy": msgspec.to_builtins(policy)}
        if self.then == "run":
            move = prescribed(policy, self.game, self.seat, turn.view.played())
            return Decision(move, kept, reply, tries, tuple(caller.calls))
        return await self._played_on(turn, kept, caller)

    async def _written(self, turn: Turn[Any, Any], caller: Caller) -> tuple[Policy, str, int]:
        """The policy; an answer that does not fit is asked for again."""
        desk = turn.desk.in_words(self.inner.pack, self.inner.pack_texts)
        words, retry, last = desk.words, "", Unreadable("nothing was asked")
        opening = desk.opening(turn.view, words.forms[0])
        assert isinstance(words, RepeatedWords)
        names = ", ".join(words.called()[self.seat])
        for tries in range(1, desk.retries + 2):
            asked = (words.say("policy.ask"), words.say("policy.form", names=names), retry)
            page = opening.plus("\n".join(part for part in asked if part))
            reply = await caller.say("policy", [User(page)])
            try:
                policy = read_policy(reply.text, self.game, self.seat, words.called())
                return policy, reply.text, tries
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


def _writer(
    spec: GameSpec[Any, Any, Any],
    game: Game[Any, Any, Any],
    seat: Seat,
    then: str = "run",
    **language: Any,
) -> PolicyWriter:
    if not isinstance(game, RepeatedGame):
        raise BadInput("it writes policies for repeated games only")
    if then not in THEN:
        raise unknown("way to go on after writing", then, THEN)
    if "model" not in language:
        raise BadInput("say which model writes, such as embedded")
    inner: Any = LANGUAGE["language"].make(spec, game, seat, **language)
    return PolicyWriter(inner, game, seat, then)


_PARAMS: Mapping[str, Any] = {**LANGUAGE["language"].params, "then": "run"}
PLAYERS = {
    "policy_writer": PlayerKind(
        "policy_writer",
        "a language model that writes its policy once, as a table over the last moves, which is "
        "then run (then=run) or only kept while it plays turn by turn (then=play)",
        _writer,
        _PARAMS,
    )
}
