"""The model calls for one answer of a language player: the requests, their outcomes, and the
drivers that supply the replies.

A language player's answer to an ask is a coroutine that yields a `Request` whenever it needs a
model and receives a reply. The driver decides where the replies come from: a model that is awaited
(`answer_with_model`), the calls of a log (`answer_from_log`), or a trainer outside this process
(`sally.adapters.trainers.text`).
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from types import coroutine
from typing import Any, Protocol

import msgspec
from msgspec.structs import force_setattr

from sally.core import redaction as keys
from sally.core.errors import BadInput, PromptDiffers, TooLong, Unreadable
from sally.core.log.calls import BROKE_READER, KEPT, cut
from sally.core.log.events import Call, without_halves
from sally.core.match.player import Fault, Forfeit, Given, Turn
from sally.core.prompt.model import (
    Assistant,
    BadCandidates,
    CannotScore,
    Context,
    Message,
    Model,
    ModelFailure,
    Reply,
    SchemaSettings,
    Scores,
    Settings,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
    check_candidates,
    read_settings,
)
from sally.core.prompt.prompt_hash import prompt_hash
from sally.core.reply.plain_text import MOST_READ
from sally.core.rules.chance import derived_seed

LOG = logging.getLogger("sally.readers")
TOOL_ROUNDS = 8  # how often a model may call tools in one decision
MOST_QUOTED = 4_000  # characters of an unreadable reply, from its end, that the model is shown
NOT_READ = "It could not be read at all."
Outcome = Reply | Scores | ModelFailure


class Request(msgspec.Struct, frozen=True, gc=False):
    """A request to a model: messages to complete, or candidates to score.

    The seed of the call and the hash of the prompt are computed when they are read.
    """

    ask: Turn
    purpose: str
    messages: Context
    base: Settings  # without the seed of this call
    number: int = 0  # earlier calls of the answer
    tools: tuple[ToolSpec, ...] = ()
    candidates: tuple[str, ...] = ()  # to be scored; empty if a reply is requested

    @property
    def turn(self) -> int:
        """The turn of the match."""
        return self.ask.id[0]

    @property
    def kind(self) -> str:
        """`"move"`, or the name of the probe."""
        return self.ask.id[2] or "move"

    @property
    def about(self) -> str:
        """The seat that the probe is about."""
        return self.ask.id[3]

    @property
    def page(self) -> str:
        """The whole prompt as one text."""
        messages = self.messages
        if isinstance(messages, str):
            return str(messages)
        return messages[0].text if len(messages) == 1 else "\n\n".join(m.text for m in messages)

    @property
    def settings(self) -> Settings:
        """The settings of the call, with a seed of its own unless one was set."""
        base = self.base
        if base.seed is not None:
            return base
        turn, seat, probe, about = self.ask.id
        path = f"{self.ask.context.seed}/{turn}/{seat}/{probe}/{about}/{self.number}"
        call_settings: Settings = base.__copy__()  # type: ignore[attr-defined]  # its fields were checked
        force_setattr(call_settings, "seed", derived_seed(path) % (2**32 - 1))
        return call_settings

    @property
    def hash(self) -> str:
        """The hash of the prompt, which the log stores instead of the prompt."""
        return prompt_hash(self.messages, self.tools, self.candidates)


class Exchange(msgspec.Struct, gc=False):
    """A request and its outcome; the log record is made on demand."""

    request: Request
    outcome: Outcome
    detail: str = ""  # why the reply could not be read

    def call(self) -> Call:
        """Return the record of this call for the log."""
        request, outcome = self.request, self.outcome
        purpose, prompt_hash = request.purpose, request.hash
        if isinstance(outcome, Scores):
            usage = msgspec.to_builtins(outcome.usage)
            return Call(
                purpose, prompt_hash, usage=usage, scores=outcome.logprobs, detail=self.detail
            )
        settings = msgspec.to_builtins(request.settings)
        if isinstance(outcome, ModelFailure):
            detail = self.detail or keys.scrub(outcome.fault.detail)
            return Call(
                purpose, prompt_hash, settings=settings, failure=outcome.kind, detail=detail
            )
        return Call(
            purpose,
            prompt_hash,
            outcome.text,
            outcome.finish,
            msgspec.to_builtins(outcome.usage),
            settings,
            outcome.reasoning or "",
            detail=self.detail,
            tools=tuple(map(msgspec.to_builtins, outcome.tool_calls)),
        )


Exchanges = list[Exchange]


class Caller:
    """The `Speaker` of one answer, which makes its requests and records their outcomes.

    An answer may take several attempts, which make the same calls in the same order. Calls that an
    earlier attempt made are not repeated, except for the one whose reply could not be read.
    """

    __slots__ = (
        "_answers",
        "_before",
        "_conversation",
        "_exchanges",
        "_model",
        "_place",
        "_repeated",
        "_retries",
        "_settings",
        "_turn",
        "failed",
        "problem",
        "reply",
    )

    def __init__(
        self,
        model: Model,
        settings: Settings,
        turn: Turn,
        retries: int,  # for transient failures
        exchanges: Exchanges,
    ) -> None:
        self._model, self._settings, self._turn, self._retries = model, settings, turn, retries
        self._exchanges, self._before = exchanges, len(exchanges)
        self._answers: list[Reply | Scores] = []  # to the calls of an attempt, in order
        self._place = 0  # in these answers, of the next call
        self._conversation: Sequence[Message] = ()  # before the last reply
        self._repeated: Sequence[Message] = ()  # the conversation of the call to be repeated
        self.reply = Reply("")  # the last one
        self.problem = ""  # why the last unreadable reply could not be read, for the model
        self.failed: Exception | None = None  # what the last failed call raised

    async def say(
        self, purpose: str, messages: Sequence[Message], *, schema: str = "", **settings: Any
    ) -> Reply:
        """Return a reply; tool calls are answered, and transient failures retried.

        If a JSON schema is given, the reply is constrained to it.

        Raises:
            ModelFailure: The call failed permanently.
            Unreadable: the model refused to answer.
        """
        if (known_answer := self._known_answer()) is not None:
            return known_answer  # type: ignore[return-value]
        if self._repeated:
            messages, self._repeated = self._repeated, ()
        turn = self._turn
        tools = _tools(turn) if turn.question is None and turn.context.spec.tools else ()
        for _ in range(TOOL_ROUNDS):
            reply: Reply = await self._repeat_until_answered(
                purpose, messages, tools, (), settings, schema
            )
            self._conversation = messages
            if not (reply.tool_calls and tools):  # without tools, a call can only be the answer
                break
            results = [ToolResult(c.id, c.name, self._use_tool(c)) for c in reply.tool_calls]
            messages = [*messages, Assistant(reply.text, reply.tool_calls), *results]
        self.reply = reply
        self._answers.append(reply)
        self._place += 1
        if reply.finish == "refusal":  # its text is logged but is not an answer
            raise Unreadable("The last reply was a refusal.")
        return reply

    async def score(self, purpose: str, context: Context, candidates: Sequence[str]) -> Scores:
        """Return the log-probabilities of the candidates."""
        if (known_answer := self._known_answer()) is not None:
            return known_answer  # type: ignore[return-value]
        if not self._model.can_score:
            raise CannotScore(self._model.name)
        try:
            check_candidates(candidates)
        except BadCandidates as error:
            raise ModelFailure("bad_request", str(error)) from None
        scores: Scores = await self._repeat_until_answered(
            purpose, context, (), tuple(candidates), {}
        )
        self._answers.append(scores)
        self._place += 1
        return scores

    def _known_answer(self) -> Reply | Scores | None:
        """Return the answer to this call in an earlier attempt, or None if it is to be made."""
        if self._place == len(self._answers):
            return None
        self._place += 1
        return self._answers[self._place - 1]

    def begin(self) -> None:
        """Begin the first attempt at an answer."""
        self._answers, self._place = [], 0

    def begin_again(self, problem: str) -> bool:
        """Begin another attempt, in which the last call is repeated; return whether it can be.

        The repeated call continues the conversation: the model sees its own reply and what was
        wrong with it.
        """
        if not self._answers or isinstance(self._answers.pop(), Scores):
            return False  # the same call would only get the same answer
        quoted = without_halves(self.reply.text[-MOST_QUOTED:])
        quoted_messages = (
            [Assistant(quoted)] if quoted.strip() else []
        )  # some servers refuse an empty message
        self._repeated, self._place = [*self._conversation, *quoted_messages, User(problem)], 0
        return True

    @coroutine
    def _repeat_until_answered(
        self,
        purpose: str,
        messages: Context,
        tools: tuple[ToolSpec, ...],
        candidates: tuple[str, ...],
        defaults: Mapping[str, Any],
        schema: str = "",
    ) -> Generator[Request, Any, Any]:
        """Repeat a request until it is answered; every failure is recorded by kind."""
        exchanges, base = self._exchanges, self._settings
        if defaults:
            base = self._with_defaults(base, defaults)
        if schema:
            base = SchemaSettings(**msgspec.structs.asdict(base), schema=schema)
        number = len(exchanges) - self._before
        request = Request(self._turn, purpose, messages, base, number, tools, candidates)
        for attempt in range(self._retries + 1):
            try:
                outcome = yield request
            except Exception as error:
                self.failed = error
                if not isinstance(error, ModelFailure):
                    raise
                exchanges.append(Exchange(request, error))
                if not error.transient or attempt == self._retries:
                    raise
                continue
            if isinstance(outcome, Reply):
                outcome = _storable(outcome)
            exchanges.append(Exchange(request, outcome))
            return outcome
        raise AssertionError("unreachable")

    def _with_defaults(self, base: Settings, defaults: Mapping[str, Any]) -> Settings:
        """Return the settings; values that are not set are taken from the strategy."""
        try:
            strategy_settings = read_settings(defaults, "a strategy's call")
        except BadInput as error:
            self.failed = error  # a mistake in the strategy, not a reply that cannot be read
            raise
        unset = {
            k: getattr(strategy_settings, k) for k in defaults if getattr(base, k) in (None, ())
        }
        return msgspec.structs.replace(base, **unset)

    def reason(self, error: Exception) -> str:
        """Return why the last reply could not be read, as the reason for a forfeit.

        An unusual reason is also recorded with the call. An exception of a model call is raised
        again.
        """
        if isinstance(error, Unreadable) and not isinstance(error, TooLong):
            return {"length": "length", "refusal": "refused"}.get(self.reply.finish, "unreadable")
        if error is self.failed:
            raise error
        if isinstance(error, TooLong):
            reason, detail = "too long", f"not read: more than {MOST_READ} characters"
        else:
            reason = detail = broken_reader(error)
        if len(self._exchanges) > self._before:
            self._exchanges[-1].detail = detail
        return reason

    def _use_tool(self, call: ToolCall) -> str:
        try:
            result = self._turn.use(call.name, call.read())
        except (BadInput, ModelFailure) as error:
            return f"error: {error}"
        return msgspec.json.encode(result).decode()


class Answered(msgspec.Struct, frozen=True):
    """An answer that could be read, the reply that gave it, and the number of tries."""

    value: Any
    reply: str
    tries: int


async def ask_until_readable(
    caller: Caller,
    attempt: Callable[[], Awaitable[Any]],
    retries: int,
    retry_text: Callable[[str], str],
) -> Answered | Forfeit | Fault:
    """Return the result of an attempt at an answer; while its reply cannot be read, ask again.

    Args:
        caller: Makes the calls of the attempt.
        attempt: Calls the model and reads its replies; raises Unreadable if it cannot.
        retries: The number of further attempts. In each of them the model sees its own reply.
        retry_text: Returns the message to the model for what was wrong with its reply.
    """
    caller.begin()
    reason, tries = "unreadable", 0
    for tries in range(1, retries + 2):
        try:
            return Answered(await attempt(), caller.reply.text, tries)
        except ModelFailure as error:
            return Fault("fault", keys.scrub(str(error)))
        except Exception as error:
            reason = caller.reason(error)
            caller.problem = str(error) if isinstance(error, Unreadable) else NOT_READ
            if not caller.begin_again(retry_text(caller.problem)):
                break
    return Forfeit(reason, caller.reply.text, tries)


def broken_reader(error: Exception) -> str:
    """Log an exception that a reader raised, and return it as the reason for a forfeit."""
    LOG.error("a reader raised an exception; the reply counts as unreadable", exc_info=error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{BROKE_READER}: {type(error).__name__} in {frame.name}"


def _tools(turn: Turn) -> tuple[ToolSpec, ...]:
    tools = turn.context.spec.tools
    return tuple(ToolSpec(t.name, t.about, dict(t.parameters)) for t in tools)


def _storable(reply: Reply) -> Reply:
    """Return a reply without API keys and implausible token counts, with long texts cut."""
    if len(reply.text) > KEPT or reply.reasoning or reply.tool_calls or keys.sent_keys():
        calls = map(msgspec.structs.astuple, reply.tool_calls)
        tools = tuple(ToolCall(*map(_storable_text, call)) for call in calls)
        thoughts = reply.reasoning and _storable_text(reply.reasoning)
        text = _storable_text(reply.text)
        reply = msgspec.structs.replace(reply, text=text, reasoning=thoughts, tool_calls=tools)
    if (believed := reply.usage.drop_implausible()) is not reply.usage:
        reply = msgspec.structs.replace(reply, usage=believed)
    return reply


def _storable_text(text: str) -> str:
    return keys.reply_without_keys(cut(text))


# --- drivers --------------------------------------------------------------------------------


class Asks(Protocol):
    """A player whose answers are coroutines that yield requests."""

    @property
    def model(self) -> Model: ...

    def answering(self, turn: Turn, exchanges: Exchanges) -> Coroutine[Request, Any, Any]: ...


def with_calls(answer_given: Given, exchanges: Exchanges) -> Given:
    """Return the answer with the records of the calls behind it."""
    calls = tuple([exchange.call() for exchange in exchanges])
    answer: Given = msgspec.structs.replace(answer_given, calls=calls)
    return answer


async def answer_with_model(player: Asks, turn: Turn) -> Any:
    """Answer an ask with the player's model, which completes or scores each request."""
    exchanges: Exchanges = []
    run, model = player.answering(turn, exchanges), player.model
    step, outcome = run.send, None
    try:
        while True:
            request = step(outcome)
            try:
                if type(request) is not Request:  # an awaitable of the strategy
                    outcome = await _Passed(request)
                elif request.candidates:
                    request_parts = request.messages, request.candidates, request.settings
                    outcome = await model.score(*request_parts)
                else:
                    settings, tools = request.settings, request.tools
                    outcome = await model.complete(request.messages, settings, tools)  # type: ignore[arg-type]
                step = run.send
            except Exception as error:
                step, outcome = run.throw, error
    except StopIteration as done:
        return with_calls(done.value, exchanges)
    finally:
        run.close()


class _Passed:
    """An awaitable that passes the value yielded by a coroutine on to the event loop."""

    def __init__(self, yielded: Any) -> None:
        self._yielded = yielded

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield self._yielded)


def answer_from_log(
    player: Asks, turn: Turn, calls: Sequence[Call], requests: list[Request]
) -> Any:
    """Answer an ask from logged calls, in order; the requests that are made are added to a list.

    Raises:
        PromptDiffers: The prompt of a request differs from that of the logged call.
    """
    exchanges = Exchanges()
    run = player.answering(turn, exchanges)
    step, reply = run.send, None
    try:
        while True:
            request = step(reply)
            requests.append(request)
            outcome = _logged_outcome(request, calls, len(requests))
            step = run.throw if isinstance(outcome, ModelFailure) else run.send
            reply = outcome
    except StopIteration as done:
        return with_calls(done.value, exchanges)
    finally:
        run.close()


def _logged_outcome(request: Request, calls: Sequence[Call], number: int) -> Outcome:
    """Return the outcome of a logged call; raises PromptDiffers if the request differs from it."""
    if number > len(calls):
        raise PromptDiffers(f"The log has {len(calls)} calls, but the replay made one more.")
    call = calls[number - 1]
    if call.prompt != (prompt_hash := request.hash):
        raise PromptDiffers(
            f"Call {number} shows a prompt with the hash {prompt_hash}, "
            f"while the log has {call.prompt}; the words or the strategy have changed."
        )
    if call.failure:
        return ModelFailure(call.failure, call.detail)  # type: ignore[arg-type]
    usage = msgspec.convert(call.usage, Usage)
    if bool(request.candidates) != bool(call.scores):
        was, now = ("scoring", "completing") if call.scores else ("completing", "scoring")
        raise PromptDiffers(f"Call {number} was logged as {was}, not as {now}.")
    if call.scores:
        return Scores(request.candidates, call.scores, usage)
    tools = tuple(msgspec.convert(tool, ToolCall) for tool in call.tools)
    return Reply(call.reply, tools, usage, call.finish, call.reasoning or None)  # type: ignore[arg-type]
