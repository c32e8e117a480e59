"""Inspect scorers of episodes: measures of each seat taken by a language model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.package import get_installed_package_name
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, Value, mean, metric, scorer
from inspect_ai.solver import TaskState

from sally.core.errors import unknown
from sally.core.log.events import Episode, Forfeited, PlayerSpec, Reported, Setup, from_line
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.metric import Metric
from sally.frames.measured_seat import doing_metric
from sally.frames.replays import replay_for_measures
from sally.players.language import LANGUAGE
from sally.runner.orders import Order

COMPLETED = "completed"
NAMED: Mapping[str, str] = {"knowing": "tom_percent", "acting": "action_consistency"}
UNITS: Mapping[str, float] = {"knowing": 0.01}  # a share like the others, not percent


def registered_name(name: str, make: Callable[..., Any]) -> str:
    """Return the name to register something under, so that it is found as `sally/NAME`.

    Inspect prefixes the package name, except in a working copy with its own metadata, which it
    takes for loose files.
    """
    return name if get_installed_package_name(make) else f"sally/{name}"


def register_scorer(name: str, metrics: Any, make: Callable[..., Scorer]) -> Callable[..., Scorer]:
    """Register a scorer as `sally/NAME`, and under its bare name, by which logs refer to it."""
    scorer(metrics=metrics, name=registered_name(name, make))(make)
    return scorer(metrics=metrics, name=name)(make)


def model_seats(lineup: Mapping[str, PlayerSpec]) -> list[str]:
    """Return the seats that language models take."""
    return [seat for seat, player in lineup.items() if player.player == LANGUAGE]


# --- forfeits as Inspect's reasons ----------------------------------------------------------------


def score_reason(event: Forfeited | Reported) -> str:
    """Return Inspect's name for the reason of an answer that could not be used."""
    if not event.reply.strip():
        return "no_response"
    is_refusal = isinstance(event, Forfeited) and event.reason == "refused"
    return "refusal" if is_refusal else "invalid_response_format"


def count_reasons(episode: Episode) -> dict[str, dict[str, int]]:
    """Return, for each seat of a model, how many answers could not be used, by Inspect's reason."""
    seats = {seat: Counter[str]() for seat in model_seats(episode.setup.lineup)}
    for event in episode.events:
        is_lost = isinstance(event, Forfeited) or (
            isinstance(event, Reported) and event.value is None and event.source == "probe"
        )
        if is_lost and event.seat in seats:
            assert isinstance(event, Forfeited | Reported)
            seats[event.seat][score_reason(event)] += 1
    return {seat: dict(counts) for seat, counts in seats.items() if counts}


def seat_score(value: Value, explanation: str, reasons: Mapping[str, Mapping[str, int]]) -> Score:
    """Return a score with the commonest reason of unusable answers; `metadata` has all by seat."""
    totals = Counter[str]()
    for counts in reasons.values():
        totals.update(counts)
    commonest = totals.most_common(1)
    return Score(
        value=value,
        explanation=explanation,
        reason=commonest[0][0] if commonest else None,
        metadata={"unusable_answers": msgspec.to_builtins(reasons)} if commonest else None,
    )


# --- all headline metrics -------------------------------------------------------------------------


def score_keys(orders: Sequence[Order]) -> list[str]:
    """Return all score keys of these episodes; Inspect needs the same keys in every sample."""
    keys = {COMPLETED: None}
    lineups: set[tuple[str, tuple[str, ...]]] = set()
    for _, _, setup in orders:
        seats = tuple(model_seats(setup.lineup))
        if (setup.instance.game, seats) not in lineups:
            lineups.add((setup.instance.game, seats))
            for seat in seats:
                keys |= {f"{seat}.{name}": None for name in headlines(setup.instance.game)}
    return list(keys)


def headlines(game: str) -> dict[str, Metric]:
    """Return the headline metrics of a game."""
    return {
        name: metric
        for name, metric in registry.metrics(registry.family(game).name).items()
        if metric.headline
    }


def _all_metrics(keys: Sequence[str]) -> Scorer:
    """Return a scorer of the headline metrics of every seat with a language model; a metric without
    a value is NaN."""
    blank = dict.fromkeys(keys, math.nan)  # Inspect treats NaN as not scored

    async def score(state: TaskState, target: Target) -> Score:
        line = state.store.get("episode")
        if line is None:
            return Score(value={**blank}, explanation="not begun: the run had to stop")
        episode = from_line(line.encode())
        values = {COMPLETED: float(episode.payoffs is not None), **metrics_by_seat(episode)}
        return seat_score({**blank, **values}, f"episode {episode.id}", count_reasons(episode))

    return score


all_metrics = register_scorer("all_metrics", {"*": [mean()]}, _all_metrics)


def metrics_by_seat(episode: Episode) -> dict[str, float]:
    """Return the metrics of a finished episode by seat and name."""
    if episode.payoffs is None:
        return {}
    replay = replay_for_measures(episode)
    values = {
        f"{seat}.{name}": metric.measure(replay, Seat(seat))
        for seat in model_seats(episode.setup.lineup)
        for name, metric in headlines(replay.spec.name).items()
    }
    return {name: value for name, value in values.items() if value is not None}


# --- one scorer per measure -----------------------------------------------------------------------


@metric
def mean_by_seat() -> Any:
    """Return the mean of a score, or of each value of a score by seat; NaN is not counted."""

    def means(scores: list[SampleScore]) -> Value:
        numbers: dict[str, list[float]] = {}
        for sample in scores:
            value = sample.score.value
            values = value if isinstance(value, Mapping) else {"mean": sample.score.as_float()}
            for name, number in values.items():
                group = numbers.setdefault(name, [])
                if isinstance(number, int | float) and not math.isnan(number):
                    group.append(number)
        return {
            name: math.fsum(group) / len(group) if group else math.nan
            for name, group in numbers.items()
        }

    return means


def named_scorer(name: str) -> Callable[..., Scorer]:
    """Return the scorer `sally/NAME`, which scores the seats of models that a sample has.

    The value is one number if that is one seat, else one number per seat under `SEAT.NAME`. The
    viewer uses these keys as column headings, so the seat alone would not distinguish the scorers.
    """

    def make(seats: str | Sequence[str] = (), by_seat: bool = False) -> Scorer:
        chosen = [seats] if isinstance(seats, str) else list(seats)

        async def score(state: TaskState, target: Target) -> Score:
            lineup = msgspec.json.decode(state.metadata["setup"], type=Setup).lineup
            scored = [seat for seat in chosen if seat in lineup] if chosen else model_seats(lineup)
            if chosen and not scored:
                raise PrerequisiteError(str(unknown("seat of the episode", chosen[0], lineup)))
            values, reasons = _values(state, name, scored)
            if len(scored) == 1 and not by_seat:
                return seat_score(values[scored[0]], f"{name} of {scored[0]}", reasons)
            values_by_key = {f"{seat}.{name}": value for seat, value in values.items()}
            return seat_score(values_by_key, f"{name} by seat", reasons)

        return score

    return register_scorer(name, [mean_by_seat()], make)


SCORERS = {
    name: named_scorer(name) for name in ("knowing", "acting", "doing", "regret", "forfeits")
}


def named_scorers(orders: Sequence[Order]) -> list[Scorer]:
    """Return the five scorers `knowing`, `acting`, `doing`, `regret` and `forfeits`; they key their
    values by seat if models take several seats of an episode."""
    by_seat = any(len(model_seats(setup.lineup)) > 1 for _, _, setup in orders)
    return [make(by_seat=True) if by_seat else make() for make in SCORERS.values()]


def _values(
    state: TaskState, name: str, seats: Sequence[str]
) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
    """Return a scorer's value for each seat, NaN (which Inspect ignores) if there is none, and the
    reasons of unusable answers."""
    line = state.store.get("episode")
    values = dict.fromkeys(seats, math.nan)
    if line is None:
        return values, {}
    episode = from_line(line.encode())
    reasons = {seat: counts for seat, counts in count_reasons(episode).items() if seat in values}
    if episode.payoffs is None:
        return values, reasons
    replay = replay_for_measures(episode)
    for seat in seats:
        if (metric := _metric_of(name, replay.spec, seat)) is not None:
            value = metric.measure(replay, Seat(seat))
            values[seat] = math.nan if value is None else value * UNITS.get(name, 1.0)
    return values, reasons


def _metric_of(name: str, spec: GameSpec, seat: str) -> Metric | None:
    """Return the game's metric for a scorer, or None if the game has no such metric."""
    metrics: Mapping[str, Metric] = registry.metrics(spec.family or spec.name)
    if name == "doing":
        return doing_metric(spec, seat)
    if name == "regret":
        losses = [measure for key, measure in metrics.items() if key.endswith("regret")]
        return next((loss for loss in losses if loss.headline), losses[0] if losses else None)
    return metrics.get(NAMED.get(name, name))
