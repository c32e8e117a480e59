"""Pilot episodes: real prompts to a stub model that only counts its calls and tokens.

The replies of the stub can be read, and name moves that are drawn at random. If the number of calls
depends on the moves, episodes in which the first or the last option is always taken show how much.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, get_args

import msgspec

from sally.core.log.events import PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Decision, NoAnswer, Player, Turn
from sally.core.match.strategy import PromptContext
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    Model,
    Reply,
    SchemaSettings,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.menu import Form, example, is_finite
from sally.models.stub import even
from sally.players.language import LanguagePlayer, strategy_named, uses_model
from sally.players.policy_writer import PolicyWriter
from sally.runner.budget import CHARACTERS
from sally.runner.config import in_process
from sally.runner.local import with_models
from sally.runner.seating import players_of

PILOT = "pilot"  # prefix of a model whose calls are only counted
REPLY = 60  # tokens assumed per reply, unless fewer are allowed
REMEMBERED = 6  # earlier prompts that a provider's prefix cache may hold
Moves = Literal["random", "first", "last"]  # the options that a pilot takes
MOVES: tuple[Moves, ...] = get_args(Moves)


class Count(msgspec.Struct, frozen=True):
    """Calls and tokens; `shared` counts the input tokens that repeat the beginning of an earlier
    prompt."""

    calls: float = 0.0
    input: float = 0.0
    shared: float = 0.0
    output: float = 0.0

    def __add__(self, other: Count) -> Count:
        own_counts, other_counts = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Count(*(a + b for a, b in zip(own_counts, other_counts, strict=True)))

    def times(self, factor: float) -> Count:
        return Count(*(value * factor for value in msgspec.structs.astuple(self)))


WriteReply = Callable[[str, str], str]  # from the last message and the schema of its answer


class CountingModel:
    """A stub model that counts its prompts; `write_reply` answers them."""

    def __init__(self, name: str, reply_tokens: int = REPLY, can_score: bool | None = None) -> None:
        self.name = name
        self.write_reply: WriteReply = lambda page, schema: "{}"
        # without contacting the model, only its name says whether it can score candidates
        by_name = in_process(name) or name.startswith("sally/")
        self.can_score = by_name if can_score is None else can_score
        self._reply_tokens = reply_tokens
        self._calls = self._characters = self._shared = self._output = 0
        self._pages: deque[str] = deque(maxlen=REMEMBERED)

    can_constrain = True  # the run itself refuses a model that cannot

    @property
    def count(self) -> Count:
        """Calls and tokens so far."""
        input, shared = self._characters / CHARACTERS, self._shared / CHARACTERS
        return Count(self._calls, input, shared, self._output)

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        output_tokens = min(self._reply_tokens, settings.max_tokens or self._reply_tokens)
        self._add("\n".join(str(m.text) for m in messages), output_tokens)
        schema = settings.schema if isinstance(settings, SchemaSettings) else ""
        return Reply(self.write_reply(str(messages[-1].text), schema))

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        page = context if isinstance(context, str) else "\n".join(m.text for m in context)
        self._add(page + "".join(candidates), 0)
        return Scores(tuple(candidates), tuple(even(context, name) for name in candidates))

    def _add(self, page: str, output_tokens: int) -> None:
        shared = 0
        for earlier in reversed(self._pages):
            if page.startswith(earlier[: shared + 1]):  # otherwise it shares no more
                shared = max(shared, _common(page, earlier))
        self._pages.append(page)
        self._calls += 1
        self._characters += len(page)
        self._shared += shared
        self._output += output_tokens


def _common(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts, by bisection."""
    low, high = 0, min(len(first), len(second))
    if first.startswith(second):  # the page has grown
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if first.startswith(second[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


class PilotPlayer(msgspec.Struct, frozen=True):
    """A player whose model only counts prompts; its replies can be read and name random options."""

    inner: LanguagePlayer | PolicyWriter
    model: CountingModel
    predicts: bool  # whether its strategy asks for predictions before or together with a move
    number: int = 0  # pilots of one setup with different numbers make different moves

    async def decide(self, turn: Turn) -> Any:
        move = choose_move(turn, "random", self.number)
        self.model.write_reply = ReplyWriter(self.inner, turn, move, self.predicts)
        answer = await self.inner.decide(turn)
        return answer if isinstance(answer, Decision) else Decision(move)

    async def report(self, turn: Turn) -> Any:
        self.model.write_reply = ReplyWriter(self.inner, turn, None, self.predicts)
        return await self.inner.report(turn)


class ReplyWriter:
    """Writes the replies for one ask: every text that a strategy may want, and the answer."""

    def __init__(
        self, player: LanguagePlayer | PolicyWriter, turn: Turn, move: Any, predicts: bool
    ) -> None:
        self._player, self._turn, self._move, self._predicts = player, turn, move, predicts
        language = player.inner if isinstance(player, PolicyWriter) else player
        self._context = turn.context.in_words(language.pack, language.pack_texts)
        self._prompt = PromptContext(
            turn, language.texts, self._context, language.harness, language.as_schema
        )

    def __call__(self, page: str, schema: str) -> str:
        """Return the reply to a page; if a schema is given, a JSON object that satisfies it."""
        prompt = self._prompt
        if schema:
            *notes, label = msgspec.json.decode(schema)["properties"]
            asked_prompt = next(
                (p for p in self._inner_prompts() if p.schema(*notes) == schema), prompt
            )
            answer = {label: self._value(asked_prompt)}
            return msgspec.json.encode({**dict.fromkeys(notes, "-"), **answer}).decode()
        for inner in self._inner_prompts():
            if page.endswith(prompt.format):
                break
            if page.endswith(inner.format):
                return f"{inner.label}: {self._name(inner)}"
        notes = NOTES if "Insights:" in page else ()
        return "\n".join([*notes, *self._policy(), *self._predictions(), self._answer()])

    def _inner_prompts(self) -> Iterator[PromptContext]:
        """Yield the prompts of the predictions that the strategy may ask for."""
        if self._predicts and self._turn.question is None:
            yield from map(self._prompt.asking, self._prompt.foresee)

    def _name(self, prompt: PromptContext) -> str:
        """Return a random name among the possible answers to a prompt; "" if it lists none."""
        return self._turn.draws.pick(prompt.names) if prompt.names else ""

    def _value(self, prompt: PromptContext) -> Any:
        """Return the answer to a prompt as the value of a JSON field."""
        turn, words, question = self._turn, self._context.words, prompt.asked
        if question is not None:
            name = self._name(prompt)
            return name if question.scale is None else int(name)
        if is_finite(turn.options) and words.scale(turn.options) is None:
            return words.menu(turn.options)[turn.options.index(self._move)]
        return msgspec.to_builtins(self._move)

    def _answer(self) -> str:
        """Return the line, or the JSON object, that answers the prompt."""
        value = self._value(self._prompt)
        is_form = isinstance(value, dict)
        return msgspec.json.encode(value).decode() if is_form else f"{self._prompt.label}: {value}"

    def _policy(self) -> Iterator[str]:
        """Yield the policy that the player is to write, if it is to write one."""
        if isinstance(self._player, PolicyWriter) and self._turn.question is None:
            yield self._player.book.example(self._context.words, self._turn.view)

    def _predictions(self) -> Iterator[str]:
        """Yield the lines of the predictions that a strategy may ask for in one reply."""
        prompts, label = list(self._inner_prompts()), self._prompt.foreseen_label
        for number, inner in enumerate(prompts, start=1):
            yield f"{label}{f' {number}' if len(prompts) > 1 else ''}: {self._name(inner)}"


NOTES = ("Plans: -", "Insights: -")  # for which some pages ask before the answer


def choose_move(turn: Turn, moves: Moves, number: int = 0) -> Any:
    """Return a legal move: a random one, or that of the first or the last option of the menu.

    The draws of other pilots than the first have a stream of their own.
    """
    draws = Stream(PILOT, number, turn.context.seed, *turn.id) if number else turn.draws
    if moves == "random":
        return example(turn.options, draws)
    option = turn.options[0 if moves == "first" else -1]
    return option.example(draws) if isinstance(option, Form) else option


def _with_counter(player: Any, spec: PlayerSpec, model: CountingModel, number: int) -> Any:
    """Return the player for a pilot episode, with a model that only counts its prompts; the replies
    to any other kind of player are empty JSON objects."""
    if not isinstance(player, LanguagePlayer | PolicyWriter):
        return player
    strategy = strategy_named(spec.params.get("strategy", "qa"))
    return PilotPlayer(player, model, "probe" in strategy.needs, number)


def pilot_episode(setup: Setup, reply_tokens: int = REPLY, number: int = 0) -> dict[str, Count]:
    """Return the calls and tokens of one episode, by model; its setup was checked.

    The replies can be read, so no question is asked again. Pilots with different numbers have the
    same deals and partners and make different moves.
    """
    single_try = msgspec.structs.replace(setup, retries=0)
    match: Match = Match(registry.game(setup.instance.game), single_try)
    models: dict[str, CountingModel] = {}

    def counting(seat: str, name: str) -> Model:
        models[seat] = CountingModel(name.removeprefix(f"{PILOT}:"), reply_tokens, can_score=True)
        return models[seat]

    players = players_of(match, with_models(setup.lineup, counting))
    counted = {
        seat: _with_counter(player, match.setup.lineup[seat], models[seat], number)
        if seat in models
        else player
        for seat, player in players.items()
    }
    Driver(match, counted).run()
    counts: dict[str, Count] = {}
    for model in models.values():
        counts[model.name] = counts.get(model.name, Count()) + model.count
    return counts


class DecisionCounter(msgspec.Struct):
    """A player without a model, which counts its moves and probes."""

    moves: Moves
    count: int = 0

    def decide(self, turn: Turn) -> Decision[Any]:
        """Return a move chosen as `moves` says."""
        self.count += 1
        return Decision(choose_move(turn, self.moves))

    def report(self, turn: Turn) -> NoAnswer:
        """Leave a probe without an answer."""
        self.count += 1
        return NoAnswer("only counted")


def count_decisions(setup: Setup, moves: Moves) -> int:
    """Return how many moves and probes the seats with models are asked for in one episode.

    No prompt is written. The setup was checked.
    """
    match: Match = Match(registry.game(setup.instance.game), setup)
    counter = DecisionCounter(moves)
    with_model = {seat: spec for seat, spec in setup.lineup.items() if uses_model(spec)}
    others = {seat: spec for seat, spec in setup.lineup.items() if seat not in with_model}
    players: dict[str, Player] = dict.fromkeys(with_model, counter)
    Driver(match, {**players_of(match, others), **players}).run()
    return counter.count
