"""Estimate calls, tokens, cost and time of a study from pilot episodes.

Pilot episodes send real prompts to a stub model that only counts, so calls and input tokens equal
those of the study, except where these depend on replies: on the moves, for which a range is given,
and on replies that cannot be read, which are counted at their rate in stored episodes. A token is
assumed to have four characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from sally.core.log.events import Episode, Event, PlayerSpec, Setup, canonical
from sally.core.prompt.model import ModelKind
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.players.language import LANGUAGE, uses_model
from sally.runner.config import Config, declared_at_once, in_process
from sally.runner.local import limit_trials, orders, with_models
from sally.runner.models import SettingUsed
from sally.runner.orders import Orders
from sally.runner.pilot import (
    MOVES,
    PILOT,
    REPLY,
    Count,
    CountingModel,
    count_decisions,
    pilot_episode,
)
from sally.runner.seating import resolve_setup

PILOT_CALLS = 60  # calls after which a group of one problem has enough pilot episodes
AGREEING = 3  # pilot episodes with equally many calls are enough
PILOTS = 6  # pilot episodes of a group, at most
CONNECTIONS = 10  # Inspect's default number of concurrent calls


class PlanPart(msgspec.Struct, frozen=True):
    """Episodes of one cell with the same models and strategies."""

    cell: str
    who: str
    model: str
    episodes: int
    each: Count
    fewest: float  # calls of an episode in which one option, the first or the last, is always taken
    most: float


class ModelCost(msgspec.Struct, frozen=True):
    """Calls, tokens, cost and time of one model, summed over all parts of a study."""

    model: str
    count: Count
    cost: float | None  # None: no price is known
    cost_cached: float | None  # if the provider's cache holds every shared prefix
    seconds: float | None  # None: no call of this model has been timed
    fewest: float = 0.0  # calls, if the first or the last option is always taken
    most: float = 0.0
    repeated: float | None = None  # share of repeated calls added; None: no stored episode


class Plan(msgspec.Struct, frozen=True):
    """An estimate of the calls, tokens, cost and time of a study."""

    parts: tuple[PlanPart, ...]
    bills: tuple[ModelCost, ...]
    wanted: int  # episodes
    there: int  # episodes already in the store
    reply_tokens: int
    settings: tuple[SettingUsed, ...] = ()  # of its models, and where each came from


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
    ranges = CallRanges()
    means = {kind: _mean(pool, reply_tokens, is_checked, ranges) for kind, pool in pools.items()}
    parts = [
        PlanPart(
            cell, players_text, model, len(group), count, low * count.calls, high * count.calls
        )
        for (cell, players_text), group in groups.items()
        for means_by_model, (low, high) in [means[kinds[cell, players_text]]]
        for model, count in means_by_model.items()
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


def _mean(
    group: Sequence[Setup], reply_tokens: int, is_checked: bool, ranges: CallRanges
) -> tuple[dict[str, Count], tuple[float, float]]:
    """Return the mean calls and tokens of an episode, by model, and the range of its calls as
    shares of that mean.

    Pilot episodes are spread over the group. They end when the group has only one problem and one
    of them was long, or when three of them had equally many calls.
    """
    is_one_problem = len(_problems(group)) == 1
    totals: dict[str, Count] = {}
    sizes: list[float] = []
    decisions = [0, 0, 0]
    for place in _spread(len(group)):
        setup = resolve_setup(group[place], open_models=not is_checked)
        counts = pilot_episode(setup, reply_tokens)
        for model, count in counts.items():
            totals[model] = totals.get(model, Count()) + count
        sizes.append(sum(count.calls for count in counts.values()))
        decisions = [a + b for a, b in zip(decisions, ranges.decisions(setup), strict=True)]
        if (is_one_problem and sum(sizes) >= PILOT_CALLS) or sizes == sizes[:1] * AGREEING:
            break
    means = {model: total.times(1 / len(sizes)) for model, total in totals.items()}
    usual = decisions[0] or 1
    return means, (min(decisions) / usual, max(decisions) / usual)


class CallRanges:
    """The numbers of decisions in episodes, which do not depend on the strategies of the models."""

    def __init__(self) -> None:
        self._counts: dict[bytes, list[int]] = {}

    def decisions(self, setup: Setup) -> list[int]:
        """Return the decisions of the seats with models if their moves are random, and if the
        first or the last option is always taken."""
        plain = PlayerSpec("random")
        lineup = {s: plain if uses_model(spec) else spec for s, spec in setup.lineup.items()}
        key = canonical(msgspec.structs.replace(setup, lineup=lineup, seed=0, repeat=0))
        if key not in self._counts:
            self._counts[key] = [count_decisions(setup, moves) for moves in MOVES]
        return self._counts[key]


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
    model_parts, episodes = [part for part in parts if part.model == model], list(stored)
    repeated = repeated_calls(model, episodes)
    factor = 1 + (repeated or 0.0)
    count = sum((part.each.times(part.episodes) for part in model_parts), Count()).times(factor)
    price, cost, cached = config.price(model), None, None
    if price is not None:
        cost = (count.input * price.input + count.output * price.output) / 1e6
        if price.cached is not None:
            cached = cost - count.shared * (price.input - price.cached) / 1e6
    timed = timings(model, episodes)
    at_once = declared_at_once(model, config) or (1 if in_process(model) else CONNECTIONS)
    longest = max(part.each.calls for part in model_parts)  # calls of one episode are sequential
    seconds = max(count.calls / at_once, longest) * sum(timed) / len(timed) if timed else None
    fewest, highest = (
        factor * sum(n * part.episodes for n, part in zip(numbers, model_parts, strict=True))
        for numbers in (
            [part.fewest for part in model_parts],
            [part.most for part in model_parts],
        )
    )
    return ModelCost(model, count, cost, cached, seconds, fewest, highest, repeated)


def repeated_calls(model: str, stored: Iterable[Episode]) -> float | None:
    """Return the repeated calls per planned call in stored episodes of a model, whose replies could
    not be read at first; None if it has made no calls."""
    calls = repeated = 0
    for event in called_events(model, stored):
        calls += len(event.calls)
        repeated += event.tries - 1
    return repeated / (calls - repeated) if calls > repeated else None


def timings(model: str, stored: Iterable[Episode]) -> list[float]:
    """Return the durations in seconds of a model's logged calls."""
    return [
        float(call.usage["seconds"])
        for event in called_events(model, stored)
        for call in event.calls
        if call.usage.get("seconds")
    ]


def called_events(model: str, stored: Iterable[Episode]) -> Iterator[Event]:
    """Yield the events of stored episodes for which a model was called."""
    for episode in stored:
        lineup = episode.setup.lineup
        seats = {
            seat for seat, spec in lineup.items() if uses_model(spec) and _model(spec) == model
        }
        yield from (event for event in episode.events if event.seat in seats and event.calls)
