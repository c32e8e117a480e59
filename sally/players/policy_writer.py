"""A language model that writes its policy once; the policy then plays, or is only kept as notes.

A game's `PolicyFormat` defines the question, the reader and the prescribed moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.match.player import Decision, Fault, Forfeit, PlayerKind, Turn
from sally.core.prompt.model import User
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport
from sally.core.rules.words import Words
from sally.players.calls import Answered, Caller, Exchanges, ask_until_readable
from sally.players.language import PLAYERS as LANGUAGE
from sally.players.language import LanguagePlayer, ModelPlayer

THEN = ("run", "play")


class PolicyFormat(Protocol):
    """The policy format of a game, for one seat."""

    def ask_policy(self, words: Words, view: Any) -> tuple[str, ...]:
        """Return the question before the first move, with its answer format."""
        ...

    def read(self, reply: str, words: Words, view: Any) -> Any:
        """Return the policy in a reply; raises Unreadable with a description of a valid one."""
        ...

    def example(self, words: Words, view: Any) -> str:
        """Return a policy as a model could write it."""
        ...

    def read_notes(self, plain: Mapping[str, Any]) -> Any:
        """Return the policy from the notes in a log."""
        ...

    def prescribe_move(self, policy: Any, view: Any) -> Any:
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

    async def report(self, turn: Turn) -> ProbeReport | Fault:
        """Return the player's answer to a probe."""
        report: ProbeReport | Fault = await self.decide(turn)
        return report

    async def answering(
        self, turn: Turn, exchanges: Exchanges
    ) -> Decision[Any] | Forfeit | ProbeReport | Fault:
        """Answer an ask: the strategy answers probes; moves come from the written policy or, with
        `then="play"`, from the strategy."""
        inner, notes = self.inner, turn.memory or {}
        inside = msgspec.structs.replace(turn, memory=notes.get("notes"))
        if turn.question is not None:
            return await inner.answering(inside, exchanges)
        reply, tries = "", 1
        if "policy" in notes:
            policy = self.book.read_notes(notes["policy"])
        else:
            written = await self._write_policy(turn, exchanges)
            if not isinstance(written, Answered):
                return written
            policy, reply, tries = written.value, written.reply, written.tries
        memory = {"policy": msgspec.to_builtins(policy)}
        if self.then == "run":
            return Decision(self.book.prescribe_move(policy, turn.view), memory, reply, tries)
        answer = await inner.answering(inside, exchanges)
        if isinstance(answer, Decision | Forfeit):
            memory_after = memory | ({"notes": answer.memory} if answer.memory is not None else {})
            return msgspec.structs.replace(answer, memory=memory_after)
        return answer

    async def _write_policy(self, turn: Turn, exchanges: Exchanges) -> Answered | Forfeit | Fault:
        """Return the policy that the model writes."""
        inner = self.inner
        caller = Caller(inner.model, inner.settings, turn, inner.call_retries, exchanges)
        context = turn.context.in_words(inner.pack, inner.pack_texts)
        words, opening = context.words, context.opening(turn.view, context.words.forms[0])
        page = opening.plus("\n".join(filter(None, self.book.ask_policy(words, turn.view))))

        async def attempt() -> Any:
            reply = await caller.say("policy", [User(page)])
            return self.book.read(reply.text, words, turn.view)

        return await ask_until_readable(
            caller, attempt, context.retries, lambda problem: words.say("retry", why=problem)
        )


def writer(form: str, book: Callable[[Any, Seat], PolicyFormat]) -> PlayerKind:
    """Return the player kind `policy_writer` for a game with this policy format."""

    def make(
        spec: GameSpec,
        game: Game,
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
        version=2,  # 1 was not shown its own reply when it was asked again
    )
