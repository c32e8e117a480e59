"""Estimate calls, tokens, cost and time of a study from pilot episodes.

Pilot episodes send real prompts to a stub model that only counts, so calls and input tokens equal
those of the study, except where these depend on replies. A token is assumed to have four
characters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from sally.core.log.events import Episode, PlayerSpec, Setup, canonical
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Turn
from sally.core.match.strategy import PromptContext
from sally.core.prompt.answer_schema import field_name
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    Model,
    ModelKind,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.models.stub import even
from sally.players.language import LANGUAGE, LanguagePlayer, uses_model
from sally.players.mindless import Random
from sally.runner.budget import CHARACTERS
from sally.runner.config import Config, declared_at_once, in_process
from sally.runner.local import limit_trials, orders, with_models
from sally.runner.models import SettingUsed
from sally.runner.orders import Orders
from sally.runner.seating import players_of, resolve_setup

PILOT = "pilot"  # prefix of a model whose calls are only counted
REPLY = 60  # tokens assumed per reply, unless fewer are allowed
PILOT_CALLS = 60  # calls after which a group of one problem has enough pilot episodes
AGREEING = 3  # pilot episodes with equally many calls are enough
PILOTS = 6  # pilot episodes of a group, at most
REMEMBERED = 6  # earlier prompts that a provider's prefix cache may hold
CONNECTIONS = 10  # Inspect's default number of concurrent calls


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


class PlanPart(msgspec.Struct, frozen=True):
    """Episodes of one cell with the same models and strategies."""

    cell: str
    who: str
    model: str
    episodes: int
    each: Count


class ModelCost(msgspec.Struct, frozen=True):
    """Calls, tokens, cost and time of one model, summed over all parts of a study."""

    model: str
    count: Count
    cost: float | None  # None: no price is known
    cost_cached: float | None  # if the provider's cache holds every shared prefix
    seconds: float | None  # None: no call of this model has been timed


class Plan(msgspec.Struct, frozen=True):
    """An estimate of the calls, tokens, cost and time of a study."""

    parts: tuple[PlanPart, ...]
    bills: tuple[ModelCost, ...]
    wanted: int  # episodes
    there: int  # episodes already in the store
    reply_tokens: int
    settings: tuple[SettingUsed, ...] = ()  # of its models, and where each came from


# --- counting -------------------------------------------------------------------------------------


class CountingModel:
    """A stub model that returns a fixed reply and counts its prompts."""

    def __init__(self, name: str, reply_tokens: int = REPLY, can_score: bool | None = None) -> None:
        self.name, self.answer = name, ""
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
        return Reply(self.answer)

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
    """A language player whose model only counts prompts; an unreadable reply becomes a random legal
    move."""

    inner: LanguagePlayer
    model: CountingModel

    async def decide(self, turn: Turn) -> Any:
        self._prompt(turn)
        answer = await self.inner.decide(turn)
        return answer if isinstance(answer, Decision) else Random().decide(turn)

    async def report(self, turn: Turn) -> Any:
        self._prompt(turn)
        return await self.inner.report(turn)

    def _prompt(self, turn: Turn) -> None:
        prompt = PromptContext(turn)
        names = prompt.names
        if self.inner.as_schema and names:
            chosen = {field_name(prompt.label): names[turn.number % len(names)]}
            self.model.answer = msgspec.json.encode(chosen).decode()
            return
        self.model.answer = f"{prompt.label}: {names[turn.number % len(names)]}" if names else ""


def _with_counter(player: Any, model: CountingModel) -> Any:
    """Return the player for a pilot episode, with a model that only counts its prompts; a player
    that expects JSON gets an empty object as reply."""
    if isinstance(player, LanguagePlayer):
        return PilotPlayer(player, model)
    model.answer = "{}"
    return player


def pilot_episode(setup: Setup, reply_tokens: int = REPLY) -> dict[str, Count]:
    """Return the calls and tokens of one episode, by model; its setup was checked."""
    single_try = msgspec.structs.replace(setup, retries=0)  # no retries
    match: Match = Match(registry.game(setup.instance.game), single_try)
    models: dict[str, CountingModel] = {}

    def counting(seat: str, name: str) -> Model:
        models[seat] = CountingModel(_real(name), reply_tokens, can_score=True)
        return models[seat]

    players = players_of(match, with_models(setup.lineup, counting))
    counted = {
        seat: _with_counter(player, models[seat]) if seat in models else player
        for seat, player in players.items()
    }
    Driver(match, counted).run()
    counts: dict[str, Count] = {}
    for model in models.values():
        counts[model.name] = counts.get(model.name, Count()) + model.count
    return counts


# --- planning -------------------------------------------------------------------------------------


def plan(
    study: Study,
    limit: int | None = None,
    config: Config | None = None,
    stored: Mapping[str, Episode] | None = None,
    finished: Iterable[str] = (),
    reply_tokens: int = REPLY,
    settings: tuple[SettingUsed, ...] = (),
    wanted: Orders | None = None,
) -> Plan:
    """Estimate the calls, tokens, cost and time of a study's missing episodes; no model is
    contacted.

    `wanted` are the study's episodes, if they are already listed and checked.
    """
    config, stored_episodes, done = config or Config(), stored or {}, set(finished)
    registry.add(
        "models", PILOT, ModelKind(PILOT, "counts", lambda name: CountingModel(_real(name)))
    )
    is_checked = wanted is not None
    if wanted is None and done:
        wanted = orders(study, limit, open_models=False)
    if wanted is None:
        missing = _distinct(limit_trials(_as_pilots(study).trials(), limit))
        total = len(missing)
    else:
        is_stored = wanted.found_in(done) or [False] * len(wanted)
        missing = [
            (cell, setup if is_checked else _as_pilot(setup))
            for (_, cell, setup), skipped in zip(wanted, is_stored, strict=True)
            if not skipped
        ]
        total = len(wanted)
    groups = _groups(missing)
    kinds = {name: _kind(name, group) for name, group in groups.items()}
    pools: dict[bytes, list[Setup]] = {}  # cells that differ only in partners share their pilots
    for name, group in groups.items():
        pools.setdefault(kinds[name], []).extend(group)
    means = {kind: _mean(pool, reply_tokens, is_checked) for kind, pool in pools.items()}
    parts = [
        PlanPart(cell, players_text, model, len(group), count)
        for (cell, players_text), group in groups.items()
        for model, count in means[kinds[cell, players_text]].items()
    ]
    names = list(dict.fromkeys(part.model for part in parts))
    bills = tuple(bill_of(name, parts, config, stored_episodes.values()) for name in names)
    return Plan(tuple(parts), bills, total, total - len(missing), reply_tokens, settings)


def _distinct(trials: Iterable[tuple[str, Setup]]) -> list[tuple[str, Setup]]:
    """Return the trials without those that an earlier cell also holds; a run plays them once."""
    kinds: dict[tuple[str, int, int], bytes] = {}
    distinct: dict[tuple[bytes, int, int], tuple[str, Setup]] = {}
    for cell, setup in trials:
        alike = cell, id(setup.instance), id(setup.lineup)
        if alike not in kinds:
            kinds[alike] = canonical(msgspec.structs.replace(setup, seed=0, repeat=0))
        distinct.setdefault((kinds[alike], setup.seed, setup.repeat), (cell, setup))
    return list(distinct.values())


def _as_pilots(study: Study) -> Study:
    """Return the study with stub models that count prompts."""
    cells = tuple(
        msgspec.structs.replace(cell, lineups=tuple(map(_with_pilots, cell.lineups)))
        for cell in study.cells
    )
    return msgspec.structs.replace(study, cells=cells)


def _as_pilot(setup: Setup) -> Setup:
    return msgspec.structs.replace(setup, lineup=_with_pilots(setup.lineup))


def _with_pilots(lineup: Mapping[str, PlayerSpec]) -> dict[str, PlayerSpec]:
    return with_models(lineup, lambda _, name: f"{PILOT}:{name}")


def _model(player: PlayerSpec) -> str:
    return str(player.params.get("model", "embedded"))


def _real(name: str) -> str:
    return name.removeprefix(f"{PILOT}:")


def _groups(missing: Iterable[tuple[str, Setup]]) -> dict[tuple[str, str], list[Setup]]:
    """Return episodes grouped by cell, models and strategies; partners are pooled."""
    groups: dict[tuple[str, str], list[Setup]] = {}
    for cell, setup in missing:
        players = [_describe_strategy(spec) for spec in setup.lineup.values() if uses_model(spec)]
        if players:
            groups.setdefault((cell, ", ".join(players)), []).append(setup)
    return groups


def _kind(name: tuple[str, str], group: Sequence[Setup]) -> bytes:
    """Return a key of episodes with the same problem, models, strategies and probes; a group with
    several problems has a key of its own."""
    first = group[0]
    problems = _problems(group)
    if len(problems) > 1:
        return msgspec.json.encode(name)
    players = {seat: spec for seat, spec in first.lineup.items() if uses_model(spec)}
    alike = msgspec.json.encode((players, first.arms, first.injections), order="sorted")
    return problems.pop() + alike


def _describe_strategy(player: PlayerSpec) -> str:
    if player.player != LANGUAGE:
        return player.player
    params_text = " ".join(f"{k}={v}" for k, v in (player.params.get("with_") or {}).items())
    strategy = str(player.params.get("strategy", "qa"))
    return f"{strategy} ({params_text})" if params_text else strategy


def _mean(group: Sequence[Setup], reply_tokens: int, is_checked: bool) -> dict[str, Count]:
    """Return the mean calls and tokens of an episode, by model.

    Pilot episodes are spread over the group. They end when the group has only one problem and one
    of them was long, or when three of them had equally many calls.
    """
    is_one_problem = len(_problems(group)) == 1
    totals: dict[str, Count] = {}
    sizes: list[float] = []
    for place in _spread(len(group)):
        setup = resolve_setup(group[place], open_models=not is_checked)
        counts = pilot_episode(setup, reply_tokens)
        for model, count in counts.items():
            totals[model] = totals.get(model, Count()) + count
        sizes.append(sum(count.calls for count in counts.values()))
        if (is_one_problem and sum(sizes) >= PILOT_CALLS) or sizes == sizes[:1] * AGREEING:
            break
    return {model: total.times(1 / len(sizes)) for model, total in totals.items()}


def _problems(group: Iterable[Setup]) -> set[bytes]:
    """Return the different problems of a group of episodes."""
    instances = {id(setup.instance): setup.instance for setup in group}.values()
    return {msgspec.json.encode((i.game, i.params), order="sorted") for i in instances}


def _spread(size: int) -> list[int]:
    """Return the places of pilot episodes in a group: the middle, the ends, and others between."""
    shares = (0.5, 0.0, 1.0, 0.25, 0.75, 0.125)[:PILOTS]
    return list(dict.fromkeys(round(share * (size - 1)) for share in shares))


def bill_of(
    model: str, parts: Sequence[PlanPart], config: Config, stored: Iterable[Episode] = ()
) -> ModelCost:
    """Return the calls, tokens, cost and time of one model over all parts of a study."""
    model_parts = [part for part in parts if part.model == model]
    count = sum((part.each.times(part.episodes) for part in model_parts), Count())
    price, cost, cached = config.price(model), None, None
    if price is not None:
        cost = (count.input * price.input + count.output * price.output) / 1e6
        if price.cached is not None:
            cached = cost - count.shared * (price.input - price.cached) / 1e6
    timed = timings(model, stored)
    at_once = declared_at_once(model, config) or (1 if in_process(model) else CONNECTIONS)
    longest = max(part.each.calls for part in model_parts)  # calls of one episode are sequential
    seconds = max(count.calls / at_once, longest) * sum(timed) / len(timed) if timed else None
    return ModelCost(model, count, cost, cached, seconds)


def timings(model: str, stored: Iterable[Episode]) -> list[float]:
    """Return the durations in seconds of a model's logged calls."""
    return [
        float(call.usage["seconds"])
        for episode in stored
        for event in episode.events
        if (player := episode.setup.lineup.get(event.seat)) is not None
        and uses_model(player)
        and _model(player) == model
        for call in event.calls
        if call.usage.get("seconds")
    ]
