"""Tidy rows of episodes and decisions, from which tables, plots and exports are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sally.analysis.profile.bounds import bounds_over, mean_within, row_bounds
from sally.core.errors import needs_extra, unknown
from sally.core.log.events import (
    Call,
    Censored,
    Episode,
    Forfeited,
    Moved,
    PlayerSpec,
    Reported,
    label,
    model_and_strategy,
)
from sally.core.match.playback import replayed
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played, judged
from sally.players.language import uses_model
from sally.stats.cluster_interval import Bounds, coarsest
from sally.stats.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Row = dict[str, Any]


def played(episode: Episode) -> Played:
    """Replay an episode for measuring."""
    spec = registry.game(episode.setup.instance.game)
    return Played(spec, episode, replayed(spec, episode))


EFFORT = ("moves", "retried", "calls", "input_tokens", "output_tokens", "seconds")
Chosen = bool | Collection[str]  # every metric that fits the game, none, or these


def episode_rows(episodes: Iterable[Episode], metrics: Chosen = True) -> Iterator[Row]:
    """Yield one row for each seat of each episode, with every metric that fits the game."""
    for episode in episodes:
        for row in seat_rows(played(episode), metrics):
            del row["ends"]
            yield row


def seat_rows(whole: Played, metrics: Chosen = True) -> Iterator[Row]:
    """Yield a row for each seat of a replayed episode; the field `ends` has the bounds of its
    metrics."""
    game = whole.replay.game
    for seat in game.seats:
        row = _episode_row(whole, seat, metrics)
        yield row | {"ends": row_bounds(whole.spec, game, seat)}


def _episode_row(whole: Played, seat: Seat, metrics: Chosen) -> Row:
    episode, setup = whole.episode, whole.episode.setup
    end = episode.end
    others = [setup.lineup[s] for s in whole.replay.game.seats if s != seat]
    row: Row = {
        "episode": episode.id,
        "cell": episode.cell,
        "game": setup.instance.game,
        "instance": setup.instance.id,
        "repeat": setup.repeat,
        "seat": str(seat),
        **_player(setup.lineup[seat]),
        "others": ", ".join(label(who) for who in others),
        "turns": len(whole.replay),
        "censored": end.cause if isinstance(end, Censored) else None,
        "payoff": None if episode.payoffs is None else episode.payoffs[seat],
        **_effort(episode, seat),
    }
    if metrics:
        for name, metric in registry.metrics(whole.spec.family or whole.spec.name).items():
            if metrics is True or name in metrics:
                row[name] = metric.measure(whole, seat)
    return row


Measure = Callable[[Played, Seat], float | None]


def seat_measures(family: str, names: Collection[str]) -> dict[str, Measure]:
    """Return those of the named metrics and counts that exist for a family of games."""
    fitting = registry.metrics(family)
    counts: dict[str, Measure] = {
        "payoff": _payoff,
        "turns": lambda whole, seat: len(whole.replay),
        "forfeited": _forfeited,
        **{name: partial(_count, name) for name in EFFORT},
    }
    return {
        **{n: fitting[n].measure for n in names if n in fitting},
        **{n: count for n, count in counts.items() if n in names},
    }


def _payoff(whole: Played, seat: Seat) -> float | None:
    paid = whole.episode.payoffs
    return None if paid is None else paid[seat]


def _forfeited(whole: Played, seat: Seat) -> float:
    return len([e for e in whole.episode.events if type(e) is Forfeited and e.seat == seat])


def _count(name: str, whole: Played, seat: Seat) -> float | None:
    found: float | None = _effort(whole.episode, seat)[name]
    return found


def _player(who: PlayerSpec) -> Row:
    """Return the columns of a player: its label, and its model, strategy and settings if any."""
    spoken = uses_model(who)
    asked = who.params.get("settings") or {}
    row: Row = {
        "player": label(who),
        "model": who.params.get("model", "embedded") if spoken else None,
        "strategy": model_and_strategy(who)[1] if spoken else None,
        "settings": ", ".join(f"{k}={v}" for k, v in sorted(asked.items())) or None,
    }
    if (person := who.params.get("participant")) is not None:
        row["participant"] = person  # for analyses by person; a salted hash
    return row


def _effort(episode: Episode, seat: Seat) -> Row:
    """Count the forfeits, retries, calls and tokens of one seat."""
    mine = [e for e in episode.events if e.seat == seat]
    since = episode.setup.fork.turn if episode.setup.fork else 0
    own = [e for e in mine if e.turn >= since]  # calls before a fork belong to another episode
    calls = [call for event in own for call in event.calls]
    return {
        "moves": sum(isinstance(e, Moved) for e in mine),
        "forfeited": sum(isinstance(e, Forfeited) for e in mine),
        "retried": sum(e.tries - 1 for e in mine),
        "calls": len(calls),
        "input_tokens": tokens(calls, "input"),
        "output_tokens": tokens(calls, "output"),
        "seconds": sum(c.usage.get("seconds", 0.0) for c in calls),
    }


def tokens(calls: Sequence[Call], kind: str) -> int | None:
    """Return the number of tokens of a kind; None if an answered call has no token count."""
    answered = [call.usage for call in calls if not call.failure]
    if any("input" not in usage for usage in answered):  # no prompt is empty
        return None
    return sum(int(usage.get(kind, 0)) for usage in answered)


def decision_rows(episodes: Iterable[Episode]) -> Iterator[Row]:
    """Yield one row for each move, forfeit and report, with the truth where it is known."""
    for episode in episodes:
        whole = played(episode)
        head = {
            "episode": episode.id,
            "cell": episode.cell,
            "game": whole.spec.name,
            "instance": episode.setup.instance.id,
        }
        contexts = {
            s: SeatContext(whole.spec, whole.replay.game, s, 0) for s in whole.replay.game.seats
        }
        heads = {
            seat: {**head, "player": label(who), "participant": who.params.get("participant")}
            for seat, who in episode.setup.lineup.items()
        }
        for event in episode.events:
            if (named := heads.get(event.seat)) is None or isinstance(event, Censored):
                continue
            took, context = _seconds(event.calls), contexts.get(Seat(event.seat))
            if isinstance(event, Moved):
                said = _option(context, whole, event)
                yield {**named, **_moved(event), "label": said, "seconds": took}
            elif isinstance(event, Forfeited):
                yield {**named, **_moved(event), "what": "forfeit", "seconds": took}
            elif isinstance(event, Reported):
                yield {**named, **_reported(whole, event, context), "seconds": took}


def _seconds(calls: Sequence[Call]) -> float | None:
    """Return the duration of the calls behind an answer; None if there were none."""
    return sum(c.usage.get("seconds", 0.0) for c in calls) if calls else None


def _option(context: SeatContext | None, whole: Played, event: Moved) -> str | None:
    """Return the name of a move in the seat's wording; None for free text."""
    if context is None or not isinstance(event.action, int | str):
        return None
    action = whole.replay.move(event.turn, Seat(event.seat))
    return None if action is None else context.words.name(action)


DECISION = ("turn", "seat", "what", "probe", "about", "source", "value", "label", "odds", "truth",
            "right", "brier", "log", "absolute_error", "tries")  # fmt: skip


def _moved(event: Moved | Forfeited) -> Row:
    return dict.fromkeys(DECISION) | {
        "turn": event.turn,
        "seat": event.seat,
        "what": "move",
        "value": _flat(event.action) if isinstance(event, Moved) else event.reason,
        "tries": event.tries,
    }


def _reported(whole: Played, event: Reported, context: SeatContext | None) -> Row:
    found = judged(whole.spec, whole.replay, event)
    scores = found.scores if found else {}
    stated = scores if event.odds is not None else {}  # a bare choice has no odds to score
    return {
        "turn": event.turn,
        "seat": event.seat,
        "what": "report",
        "probe": event.probe,
        "about": event.about,
        "source": event.source,
        "value": _flat(event.value),
        "label": _answer(whole, event, found, context),
        "odds": None if event.odds is None else list(event.odds),
        "truth": _flat(found.truth if found else None),
        "right": scores.get("right"),
        "brier": stated.get("brier"),
        "log": stated.get("log"),
        "absolute_error": scores.get("absolute_error"),
        "tries": event.tries,
    }


def _answer(
    whole: Played, event: Reported, found: JudgedReport | None, context: SeatContext | None
) -> str | None:
    """Return the name of a chosen answer in the seat's wording."""
    if found is None or not isinstance(event.value, int | str):
        return None
    context = context or SeatContext(whole.spec, whole.replay.game, Seat(event.seat), 0)
    return context.words.of(found.question).choice_name(found.question, event.value)


def _flat(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)


# --- means with intervals -----------------------------------------------------------------------


def summary(rows: Iterable[Row], metric: str, by: Sequence[str]) -> list[Row]:
    """Return the mean of a metric in each group, with its 95% interval; None values are ignored."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if metric not in row:
            raise unknown("metric", metric, row)
        groups.setdefault(tuple(row[key] for key in by), []).append(row)
    return [
        dict(zip(by, key, strict=True)) | estimate_row(metric, mean_of(found, metric))
        for key, found in groups.items()
    ]


def mean_of(rows: Iterable[Row], metric: str, bounds: Bounds | None = None) -> Estimate:
    """Return the mean of a metric with its 95% interval (`sally.stats.cluster_interval`).

    Episodes of one person or one instance are not independent, so intervals are clustered.
    """
    there = [row for row in rows if row.get(metric) is not None]
    units = units_of(there)
    ends = bounds or bounds_over(metric, there)
    values = [float(row[metric]) for row in there]
    return mean_within(metric, values, units[coarsest(units)], ends)


def units_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return the units by which rows can be clustered, coarsest first; the finest unit is the row
    itself."""
    again = [(row.get("instance"), row.get("repeat")) for row in rows]
    return {
        "participants": [row.get("participant") for row in rows],
        "instances": [row.get("instance") for row in rows],
        "repeats of instances": again,
        "episodes": list(range(len(rows))),
    }


def estimate_row(metric: str, found: Estimate) -> Row:
    """Return an estimate as columns; `method` describes the interval, or says why there is none."""
    return {
        "metric": metric,
        "value": found.value,
        "interval": found.interval,
        "episodes": found.n,
        "method": found.method,
    }


# --- frames -------------------------------------------------------------------------------------


def to_polars(rows: Iterable[Mapping[str, Any] | Episode]) -> pl.DataFrame:
    """Return rows, or one row per seat of each episode, as a polars frame.

    Args:
        rows: Rows of any table, or episodes.

    Raises:
        BadInput: If polars is not installed.

    >>> import sally
    >>> played = [sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, rounds=2)]
    >>> sally.to_polars(played)["game"].to_list()
    ['ipd', 'ipd']
    """
    with needs_extra("frames"):
        import polars
    return polars.DataFrame(_as_rows(rows), infer_schema_length=None)


def to_pandas(rows: Iterable[Mapping[str, Any] | Episode]) -> pd.DataFrame:
    """Return rows, or one row per seat of each episode, as a pandas frame.

    Args:
        rows: Rows of any table, or episodes.

    Raises:
        BadInput: If pandas is not installed.

    >>> import sally
    >>> list(sally.to_pandas(sally.list_strategies()))
    ['name', 'about']
    """
    with needs_extra("frames"):
        import pandas
    return pandas.DataFrame(_as_rows(rows))


def _as_rows(given: Iterable[Mapping[str, Any] | Episode]) -> list[Mapping[str, Any]]:
    """Return rows unchanged, and convert episodes to rows."""
    rows: list[Mapping[str, Any]] = []
    for one in given:
        rows.extend(episode_rows([one]) if isinstance(one, Episode) else [one])
    return rows
