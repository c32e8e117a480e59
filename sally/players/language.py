"""A language model as a player: words in, a strategy in the middle, an action out."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from sally.core import redaction as keys
from sally.core.errors import BadInput, TooLong, Unreadable, listed, unknown
from sally.core.log.calls import BROKE_READER
from sally.core.log.events import Call, PlayerSpec
from sally.core.match.player import Decision, Fault, Forfeit, PlayerKind, Turn
from sally.core.prompt import packs
from sally.core.prompt.model import (
    Assistant,
    BadCandidates,
    CannotScore,
    Context,
    Message,
    Model,
    ModelFailure,
    Reply,
    Scores,
    Settings,
    ToolCall,
    ToolResult,
    ToolSpec,
    check_candidates,
)
from sally.core.prompt.page_layout import AS_IT_IS, Harness, read_harness
from sally.core.prompt.prompt_hash import prompt_hash
from sally.core.prompt.strategy import PromptContext, Run, Strategy, StrategyResult, answered
from sally.core.prompt.words import Pack, checked
from sally.core.registry import registry
from sally.core.reply.reading import MOST_READ
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import Report
from sally.players.first_try import Outcome, first_try, seeded

T = TypeVar("T")
LANGUAGE = "language"  # the name of this kind of player
OPEN = "model"  # stands in a study for the model that whoever runs it names
LOG = logging.getLogger("sally.readers")
NOT_READ = "It could not be read at all."
TOOL_ROUNDS = 8  # how often a model may look something up in one decision


def uses_model(who: PlayerSpec) -> bool:
    """Whether somebody at the table calls a model: a language player, or one that names a model."""
    return who.player == LANGUAGE or "model" in who.params


class Caller:
    """One turn's calls: each has its own seed, and each is logged, whatever comes of it."""

    def __init__(
        self,
        model: Model,
        settings: Settings,
        turn: Turn[Any, Any],
        retries: int,
        first: Outcome | None = None,  # of a first call that was made before
    ) -> None:
        self._model, self._settings, self._turn, self._retries = model, settings, turn, retries
        self._first = first
        self.calls: list[Call] = []
        self.finish = "stop"  # of the last reply
        self.failed: Exception | None = None  # what a call of the model raised

    async def say(self, purpose: str, messages: Sequence[Message], **settings: Any) -> Reply:
        """A reply; tools are used on the way, and passing failures tried again."""
        tools = self._tools() if self._turn.question is None else ()
        talk = list(messages)
        for _ in range(TOOL_ROUNDS):
            reply = await self._once(purpose, talk, tools, settings)
            if not reply.tool_calls:
                break
            talk.append(Assistant(reply.text, reply.tool_calls))
            for call in reply.tool_calls:
                talk.append(ToolResult(call.id, call.name, self._looked_up(call)))
        self.finish = reply.finish
        if reply.finish == "refusal":  # its words are in the log, and are no answer
            raise Unreadable("The last reply was a refusal.")
        return reply

    async def score(self, purpose: str, context: Context, candidates: Sequence[str]) -> Scores:
        """The log-probabilities of the candidates."""
        if not self._model.can_score:
            raise CannotScore(self._model.name)
        try:
            check_candidates(candidates)
        except BadCandidates as why:
            raise ModelFailure("bad_request", str(why)) from None
        settings = self._seeded({})
        shown = prompt_hash(context, (), candidates)
        scores = await self._tried(
            purpose, shown, settings, lambda: self._model.score(context, candidates, settings)
        )
        usage = msgspec.to_builtins(scores.usage)
        self.calls.append(Call(purpose, shown, usage=usage, scores=scores.logprobs))
        return scores

    async def _once(
        self, purpose: str, talk: list[Message], tools: Sequence[ToolSpec], more: Mapping[str, Any]
    ) -> Reply:
        settings, shown = self._seeded(more), prompt_hash(talk, tools)
        reply = _without_keys(
            await self._tried(
                purpose, shown, settings, lambda: self._model.complete(talk, settings, tools)
            )
        )
        self.calls.append(
            Call(
                purpose,
                shown,
                reply.text,
                reply.finish,
                msgspec.to_builtins(reply.usage),
                msgspec.to_builtins(settings),
                reply.reasoning or "",
                tools=tuple(msgspec.to_builtins(call) for call in reply.tool_calls),
            )
        )
        return reply

    async def _tried(
        self, purpose: str, shown: str, settings: Settings, call: Callable[[], Awaitable[T]]
    ) -> T:
        """The call's outcome; each failure is logged by kind, passing ones are tried again."""
        for attempt in range(self._retries + 1):
            try:
                return await (self._made_already() if self._first is not None else call())
            except Exception as why:
                self.failed = why
                if not isinstance(why, ModelFailure):
                    raise
                failed = Call(
                    purpose,
                    shown,
                    settings=msgspec.to_builtins(settings),
                    failure=why.kind,
                    detail=keys.scrubbed(why.fault.detail),
                )
                self.calls.append(failed)
                if not why.transient or attempt == self._retries:
                    raise
        raise AssertionError("unreachable")

    async def _made_already(self) -> Any:
        outcome, self._first = self._first, None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def noted(self, why: Exception) -> str:
        """Why the last reply was not read, for a forfeit; what is odd stands with the call, too.

        What a model's call raised is no matter of reading, and goes on.
        """
        if isinstance(why, Unreadable) and not isinstance(why, TooLong):
            return _reason(self.finish)
        if why is self.failed:
            raise why
        if isinstance(why, TooLong):
            reason, detail = "too long", f"not read: more than {MOST_READ} characters"
        else:
            reason = detail = broken_reader(why)
        if self.calls:
            self.calls[-1] = msgspec.structs.replace(self.calls[-1], detail=detail)
        return reason

    def _seeded(self, more: Mapping[str, Any]) -> Settings:
        """The settings of the next call, with a seed of its own where sampling has one."""
        settings = msgspec.structs.replace(self._settings, **more) if more else self._settings
        return seeded(settings, self._turn, len(self.calls))

    def _tools(self) -> tuple[ToolSpec, ...]:
        tools = self._turn.context.spec.tools
        return tuple(ToolSpec(t.name, t.about, dict(t.parameters)) for t in tools)

    def _looked_up(self, call: Any) -> str:
        try:
            found = self._turn.use(call.name, call.read())
        except (BadInput, ModelFailure) as why:
            return f"error: {why}"
        return msgspec.json.encode(found).decode()


def patient(player: Any, retries: int) -> Any:
    """A player that tries a call again so often which failed in passing; others as they are."""
    if not isinstance(player, msgspec.Struct):
        return player
    if "call_retries" in player.__struct_fields__:
        return msgspec.structs.replace(player, call_retries=retries)
    inner = getattr(player, "inner", None)
    return msgspec.structs.replace(player, inner=patient(inner, retries)) if inner else player


class LanguagePlayer(msgspec.Struct, frozen=True):
    """A model under a strategy; the same object sits in a thousand episodes."""

    model: Model
    act: Run
    answer: Run
    settings: Settings = Settings()
    call_retries: int = 2
    texts: Mapping[str, str] = msgspec.field(default_factory=dict)  # the strategy's sentences
    pack: str = ""  # a words pack by reference
    pack_texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    harness: Harness = AS_IT_IS

    @property
    def asks_once(self) -> bool:
        """Whether a decision is one page and one reply, unless something is wrong with it."""
        return self.act is answered and self.harness is AS_IT_IS

    async def decide(self, turn: Turn[Any, Any]) -> Decision[Any] | Forfeit | Fault:
        outcome = None
        if self.asks_once and not turn.context.spec.tools:
            context = (
                turn.context.in_words(self.pack, self.pack_texts) if self.pack else turn.context
            )
            found = await first_try(self.model, self.settings, turn, context, self.texts)
            if isinstance(found, Decision):
                return found
            outcome = found
        caller = Caller(self.model, self.settings, turn, self.call_retries, outcome)
        said, retry, reason, tries = StrategyResult(""), "", "unreadable", 0
        kept: dict[str, Any] = {}
        for tries in range(1, turn.context.retries + 2):
            prompt = self._sheet(turn, retry, kept)
            try:
                said = await self.act(prompt, caller)
                chosen = said.place is not None
                action: Any = turn.options[said.place] if chosen else prompt.read(readable(said))  # type: ignore[index]
            except ModelFailure as why:
                return Fault("fault", keys.scrubbed(str(why)), tuple(caller.calls))
            except Unreadable as why:
                retry, reason = prompt.say("retry", why=why), caller.noted(why)
                continue
            except Exception as why:
                reason = caller.noted(why)
                retry = prompt.say("retry", why=NOT_READ)
                continue
            return Decision(
                action, said.memory, said.text, tries, tuple(caller.calls), said.foreseen
            )
        return Forfeit(reason, said.text, tries, tuple(caller.calls), said.memory)

    async def report(self, turn: Turn[Any, Any]) -> Report | Fault:
        question = turn.question
        assert question is not None
        caller = Caller(self.model, self.settings, turn, self.call_retries)
        said, retry, tries = StrategyResult(""), "", 0
        kept: dict[str, Any] = {}
        for tries in range(1, turn.context.retries + 2):
            prompt = self._sheet(turn, retry, kept)
            try:
                said = await self.answer(prompt, caller)
                if said.place is not None:
                    read = Report(question.choices[said.place], said.odds)
                else:
                    read = prompt.read(readable(said))
            except ModelFailure as why:
                return Fault("fault", keys.scrubbed(str(why)), tuple(caller.calls))
            except Unreadable as why:
                caller.noted(why)
                retry = prompt.say("retry", why=why)
                continue
            except Exception as why:
                caller.noted(why)
                retry = prompt.say("retry", why=NOT_READ)
                continue
            return Report(read.value, read.odds, said.text, tries, tuple(caller.calls))
        return Report(None, None, said.text, tries, tuple(caller.calls))

    def _sheet(self, turn: Turn[Any, Any], retry: str, kept: dict[str, Any]) -> PromptContext:
        context = turn.context.in_words(self.pack, self.pack_texts)
        return PromptContext(turn, retry, self.texts, context, kept, self.harness)


def readable(said: StrategyResult) -> str:
    """What may be read of a reply: all of it, or only its whole lines if it was cut by length."""
    return said.text.rpartition("\n")[0] if said.cut else said.text


def _without_keys(reply: Reply) -> Reply:
    """The reply, without the keys of this process if it repeats one."""
    thoughts = reply.reasoning and keys.scrubbed(reply.reasoning)
    calls = map(msgspec.structs.astuple, reply.tool_calls)
    tools = tuple(ToolCall(*map(keys.scrubbed, call)) for call in calls)
    text = keys.scrubbed(reply.text)
    return msgspec.structs.replace(reply, text=text, reasoning=thoughts, tool_calls=tools)


def broken_reader(why: Exception) -> str:
    """The reason of a forfeit where a reader broke down; its trace is in the program's log."""
    LOG.error("a reader broke down over a reply, which counts as unreadable", exc_info=why)
    at = traceback.extract_tb(why.__traceback__)[-1]
    return f"{BROKE_READER}: {type(why).__name__} in {at.name}"


def _reason(finish: str) -> str:
    return {"length": "length", "refusal": "refused"}.get(finish, "unreadable")


def _language(
    spec: GameSpec[Any, Any, Any],
    game: Game[Any, Any, Any],
    seat: Seat,
    model: str | Model = "embedded",
    strategy: str = "qa",
    settings: Mapping[str, Any] | None = None,
    with_: Mapping[str, Any] | None = None,
    pack: str = "",
    harness: Mapping[str, Any] | None = None,
) -> LanguagePlayer:
    chosen = strategy_named(strategy)
    params = dict(with_ or {})
    for name, value in params.items():
        if name not in chosen.params:
            raise unknown(f"parameter of strategy {strategy}", name, chosen.params)
        if type(value) is not type(default := chosen.params[name]):
            kind = {bool: "true or false", int: "a whole number"}[type(default)]
            raise BadInput(f"{name} of strategy {strategy} must be {kind}, not {value!r}.")
    try:
        given = msgspec.convert(dict(settings or {}), Settings)
    except (msgspec.ValidationError, ValueError) as why:
        raise BadInput(f"settings of the model in seat {seat!r}: {why}.") from None
    if model == OPEN:
        raise BadInput(f"A model sits in seat {seat!r}; say which one, such as embedded.")
    found = registry.model(model) if isinstance(model, str) else model
    if "scoring" in chosen.needs and not found.can_score:
        scoring = sorted(
            n for n, s in registry.entries("strategies").items() if "scoring" in s.needs
        )
        raise BadInput(
            f"{str(CannotScore(found.name)).rstrip('.')}; run and plan can do without the "
            f"strategies that score, {listed(scoring)}."
        )
    act, answer = chosen.make(**params)
    worded = checked_pack(pack, spec).texts if pack else {}
    layout = read_harness(harness) if harness else AS_IT_IS
    return LanguagePlayer(found, act, answer, given, 2, chosen.texts, pack, worded, layout)


def checked_pack(name: str, spec: GameSpec[Any, Any, Any]) -> Pack:
    """A words pack, from wherever it comes, if it fits the sentences of the game."""
    found = packs.find(name)
    if found.game not in (spec.name, spec.family):
        raise BadInput(f"Words pack {found.name!r} is for {found.game}, not for {spec.name}.")
    return checked(found, {**every_strategy_text(), **spec.texts})


def every_strategy_text() -> dict[str, str]:
    """The sentences of all strategies, so that one pack can serve them all."""
    texts: dict[str, str] = {}
    for strategy in registry.entries("strategies").values():
        texts |= strategy.texts
    return texts


def strategy_named(name: str) -> Strategy:
    found: Strategy = registry.pick("strategy", name, registry.entries("strategies"))
    return found


PLAYERS = {
    LANGUAGE: PlayerKind(
        LANGUAGE,
        "a language model under a prompting strategy",
        _language,
        {
            "model": "embedded",
            "strategy": "qa",
            "settings": None,
            "with_": None,
            "pack": "",
            "harness": None,
        },
    )
}
