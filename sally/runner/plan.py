"""Estimate calls, tokens, cost and time of a study from pilot episodes.

Pilot episodes send real prompts to a stub model that only counts, so calls and input tokens equal
those of the study, except where these depend on replies: on the moves, for which a range is given,
and on what a model does, such as replies that cannot be read. Once episodes are stored, the counts
of pilots are therefore multiplied by what the stored episodes took for each call and token of
theirs. Until then a token is assumed to have four characters.
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
    piloted: float | None = None  # calls of a pilot, if `each` was adjusted to stored episodes


class ModelCost(msgspec.Struct, frozen=True):
    """Calls, tokens, cost and time of one model, summed over all parts of a study."""

    model: str
    count: Count
    cost: float | None  # None: no price is known
    cost_cached: float | None  # if the provider's cache holds every shared prefix
    seconds: float | None  # None: no call of this model has been timed
    fewest: float = 0.0  # calls, if the first or the last option is always taken
    most: float = 0.0
    adjusted: float | None = None  # calls for each of the pilots'; None: no stored episode


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
    planned: Orders | None = None,
) -> Plan:
    """Estimate the calls, tokens, cost and time of a study's missing episodes; no model is
    contacted.

    `planned` are the study's episodes, if they are already listed and checked.
    """
    config, stored_episodes, done = config or Config(), stored or {}, set(finished)
    registry.add(
        "models", PILOT, ModelKind(PILOT, "counts", lambda name: CountingModel(_real(name)))
    )
    is_checked = planned is not None
    ranges = CallRanges()
    played_groups = PlayedGroups(reply_tokens, is_checked, ranges)
    if planned is None and done:
        planned = orders(study, limit, open_models=False)
    if planned is None:
        missing = _distinct(limit_trials(_as_pilots(study).trials(), limit))
        total = len(missing)
    else:
        is_stored = planned.found_in(done) or [False] * len(planned)
        missing = []
        for (id, cell, setup), is_found in zip(planned, is_stored, strict=True):
            pilot = setup if is_checked else _as_pilot(setup)
            if not is_found:
                missing.append((cell, pilot))
            elif id in stored_episodes:
                played_groups.add(cell, pilot, stored_episodes[id])
        total = len(planned)
    groups = _groups(missing)
    kinds = {name: _kind(name, group) for name, group in groups.items()}
    pools: dict[bytes, list[Setup]] = {}  # cells that differ only in partners share their pilots
    for name, group in groups.items():
        pools.setdefault(kinds[name], []).extend(group)
    means = {kind: _mean(pool, reply_tokens, is_checked, ranges) for kind, pool in pools.items()}
    parts = [
        played_groups.adjust(
            PlanPart(
                cell, players_text, model, len(group), count, low * count.calls, high * count.calls
            )
        )
        for (cell, players_text), group in groups.items()
        for means_by_model, (low, high) in [means[kinds[cell, players_text]]]
        for model, count in means_by_model.items()
    ]
    names = list(dict.fromkeys(part.model for part in parts))
    bills = tuple(bill_of(name, parts, config, stored_episodes.values()) for name in names)
    return Plan(tuple(parts), bills, total, total - len(missing), reply_tokens, settings)


class PlayedGroups:
    """Stored episodes of a study by cell, models and strategies, to be compared with pilots."""

    def __init__(self, reply_tokens: int, is_checked: bool, ranges: CallRanges) -> None:
        self._reply_tokens, self._is_checked, self._ranges = reply_tokens, is_checked, ranges
        self._groups: dict[tuple[str, str], list[tuple[Setup, Episode]]] = {}
        self._comparisons: dict[tuple[str, str], dict[str, Comparison]] = {}

    def add(self, cell: str, setup: Setup, episode: Episode) -> None:
        """Add an episode; `setup` is its setup with stub models."""
        if players_text := _players_text(setup):
            self._groups.setdefault((cell, players_text), []).append((setup, episode))

    def adjust(self, part: PlanPart) -> PlanPart:
        """Return a part times what stored episodes took for each call and token of their pilots:
        those of its group or, if it has none, those of all groups."""
        names = [name for name in self._groups if name == (part.cell, part.who)]
        by_group = [self._compare_group(name).get(part.model) for name in names or self._groups]
        if not (comparisons := [comparison for comparison in by_group if comparison is not None]):
            return part
        actual, piloted = (sum(counts, Count()) for counts in zip(*comparisons, strict=True))
        return _adjust_part(part, actual, piloted)

    def _compare_group(self, name: tuple[str, str]) -> dict[str, Comparison]:
        """Return what some episodes of a group took, and pilots of the same problems, by model."""
        if name not in self._comparisons:
            group = self._groups[name]
            sums: dict[str, Comparison] = {}
            for setup, episode in (group[place] for place in _spread(len(group))):
                means, _ = _mean(
                    [setup] * PILOTS, self._reply_tokens, self._is_checked, self._ranges
                )
                for model, piloted in means.items():
                    actual, all_piloted = sums.get(model, (Count(), Count()))
                    sums[model] = actual + _used(model, episode), all_piloted + piloted
            self._comparisons[name] = sums
        return self._comparisons[name]


Comparison = tuple[Count, Count]  # what stored episodes took, and pilots of the same problems


def _used(model: str, episode: Episode) -> Count:
    """Return the calls and tokens of a model in a stored episode."""
    usages = [call.usage for event in called_events(model, [episode]) for call in event.calls]
    input, output = (sum(float(u.get(kind) or 0) for u in usages) for kind in ("input", "output"))
    return Count(len(usages), input, 0.0, output)


def _adjust_part(part: PlanPart, actual: Count, piloted: Count) -> PlanPart:
    """Return a part in the ratio of stored episodes to their pilots; tokens that no episode
    counted have the ratio of calls."""
    calls = actual.calls / piloted.calls if piloted.calls else 1.0
    input = actual.input / piloted.input if actual.input and piloted.input else calls
    output = actual.output / piloted.output if actual.output and piloted.output else calls
    mean = part.each
    count = Count(mean.calls * calls, mean.input * input, mean.shared * input, mean.output * output)
    return msgspec.structs.replace(
        part, each=count, fewest=part.fewest * calls, most=part.most * calls, piloted=mean.calls
    )


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
        if players_text := _players_text(setup):
            groups.setdefault((cell, players_text), []).append(setup)
    return groups


def _players_text(setup: Setup) -> str:
    """Return the strategies of the players with models; "" if there is none."""
    return ", ".join(_describe_strategy(w) for w in setup.lineup.values() if uses_model(w))


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

    Pilot episodes are spread over the group. They end when the group has only one problem, whose
    length does not depend on the moves, and one of them was long, or when three of them had equally
    many calls.
    """
    has_one_length = len(_problems(group)) == 1
    totals: dict[str, Count] = {}
    sizes: list[float] = []
    decisions = [0, 0, 0]
    for number, place in enumerate(_spread(len(group))):
        setup = resolve_setup(group[place], open_models=not is_checked)
        counts = pilot_episode(setup, reply_tokens, number)
        for model, count in counts.items():
            totals[model] = totals.get(model, Count()) + count
        sizes.append(sum(count.calls for count in counts.values()))
        lengths = ranges.decisions(setup)
        has_one_length = has_one_length and len(set(lengths)) == 1
        decisions = [a + b for a, b in zip(decisions, lengths, strict=True)]
        if (has_one_length and sum(sizes) >= PILOT_CALLS) or sizes == sizes[:1] * AGREEING:
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
        key = canonical(msgspec.structs.replace(setup, lineup=lineup, repeat=0))
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
    count = sum((part.each.times(part.episodes) for part in model_parts), Count())
    price, cost, cached = config.price(model), None, None
    if price is not None:
        cost = (count.input * price.input + count.output * price.output) / 1e6
        if price.cached is not None:
            cached = cost - count.shared * (price.input - price.cached) / 1e6
    timed = timings(model, episodes)
    at_once = declared_at_once(model, config) or (1 if in_process(model) else CONNECTIONS)
    longest = max(part.each.calls for part in model_parts)  # calls of one episode are sequential
    seconds = max(count.calls / at_once, longest) * sum(timed) / len(timed) if timed else None
    fewest = sum(part.fewest * part.episodes for part in model_parts)
    highest = sum(part.most * part.episodes for part in model_parts)
    adjusted = None
    if any(part.piloted is not None for part in model_parts):
        calls = [part.each.calls if part.piloted is None else part.piloted for part in model_parts]
        piloted = sum(n * part.episodes for n, part in zip(calls, model_parts, strict=True))
        adjusted = count.calls / piloted if piloted else 1.0
    return ModelCost(model, count, cost, cached, seconds, fewest, highest, adjusted)


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
