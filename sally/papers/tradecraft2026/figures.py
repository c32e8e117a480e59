"""Figures of tradecraft2026, drawn from our episodes; the paper publishes them only as images."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import inf

from sally.analysis.episodes.paper_store import short
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.tradecraft.spec import GROUPS
from sally.games.tradecraft.trades import (
    Fit,
    beliefs_apart,
    decisions,
    exchange_of,
    fit_decisions,
    price_proposals,
)
from sally.output.figures.paper_figures import Picture, Point, Series, point
from sally.output.tables.reproduce import Effort, Known
from sally.papers.tradecraft2026.study import PLAYER
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate

SEAT, SEED = Seat(PLAYER), 2026
Plays = Sequence[Played]


def fit_arm(plays: Plays, arm: str) -> Fit | None:
    """Return the utility function fitted to the decisions in one experimental condition; None if
    they are too few for a fit."""
    order = len(GROUPS[arm]) - 1
    decision_rows = decisions([(p, SEAT) for p in plays], order)
    rows = tuple(map(tuple, decision_rows.features))
    return _fit(rows, tuple(decision_rows.accepted), tuple(decision_rows.episodes), order)


@lru_cache(maxsize=64)  # several cells of a table read one fit
def _fit(
    rows: tuple[tuple[float, ...], ...],
    accepted: tuple[bool, ...],
    episodes: tuple[str, ...],
    order: int,
) -> Fit | None:
    try:
        return fit_decisions(rows, accepted, episodes, order, seed=SEED)
    except ValueError:  # too few episodes, or all decisions alike
        return None


def by_model_and_arm(games: Known) -> Mapping[str, Mapping[str, Plays]]:
    """Return the finished episodes of every model in every experimental condition."""
    games = [(facts, played) for facts, played in games if "model" in facts]
    models = dict.fromkeys(str(facts["model"]) for facts, _ in games)
    return {
        model: {
            arm: [p for f, p in games if (f["model"], f["arm"]) == (model, arm)] for arm in GROUPS
        }
        for model in models
    }


def divergence_by_turn(plays: Sequence[tuple[Played, Seat]]) -> dict[int, Estimate]:
    """Return, by turn, the divergence KL(V0 || V1) of a seat's first-order reports (V1) from the
    other player's own reports (V0).

    Later turns have fewer episodes.
    """
    by_turn: dict[int, list[float]] = {}
    for played, seat in plays:
        for distance in beliefs_apart(played, seat, 1):
            by_turn.setdefault(distance.turn, []).append(distance.divergence.kl)
    return {turn: lone_by_rule(values, (0, inf)) for turn, values in sorted(by_turn.items())}


ByArm = Callable[[str, Plays], Iterable[Point]]  # the points of one model in one condition


def _by_arm(games: Known, points: ByArm) -> Iterator[Series]:
    for model, arms in by_model_and_arm(games).items():
        for arm, plays in arms.items():
            yield Series(short(model), arm, tuple(points(arm, plays)))


def figure4(games: Known, effort: Effort) -> Picture:
    """Draw the divergence of first-order reports from the other player's own reports, by turn."""

    def points(arm: str, plays: Plays) -> list[Point]:
        turns = divergence_by_turn([(played, SEAT) for played in plays])
        return [point(float(turn), kl) for turn, kl in turns.items()]

    return _picture(
        "figure4",
        "KL divergence of first-order reports from the other's own values",
        ("turn", "KL (nats)"),
        "lines",
        _by_arm(games, points),
        "KL(the other's V0 || V1), each value plus .5, normalised; later turns rest on fewer "
        "episodes.",
    )


def figure5(games: Known, effort: Effort) -> Picture:
    """Draw the slope and the correlation of offered value on requested value, by order of theory of
    mind."""

    def draw_series() -> Iterator[Series]:
        for model, arms in by_model_and_arm(games).items():
            points = []
            for plays in filter(None, arms.values()):
                rate = exchange_of([(played, SEAT) for played in plays], seed=SEED)
                if rate.slope is not None and rate.r is not None:
                    ends = rate.r_interval
                    points.append(
                        Point(rate.slope, rate.r, ends, rate.proposals, rate.slope_interval)
                    )
            yield Series("proposals", short(model), tuple(points))

    return _picture(
        "figure5",
        "Offered value on requested value, by order of the reports",
        ("slope m (offer/request)", "Pearson r"),
        "map",
        draw_series(),
        "Values are the proposer's own V0. Bars here: 90%, 2000 draws of whole episodes.",
    )


def proposals(games: Known, effort: Effort) -> Picture:
    """Draw every proposal by its requested and its offered value."""

    def points(arm: str, plays: Plays) -> list[Point]:
        pairs = [pair for played in plays for pair in price_proposals(played, SEAT)]
        return [Point(requested, offered, None, 1) for requested, offered in pairs]

    return _picture(
        "proposals",
        "Every proposal: offered value on requested value",
        ("requested value", "offered value"),
        "scatter",
        _by_arm(games, points),
        "Values are the proposer's own V0, summed over the goods; lines by least squares.",
    )


def figure6(games: Known, effort: Effort) -> Picture:
    """Draw the normalised coefficients of the acceptance model, by order of theory of mind."""

    def points(arm: str, plays: Plays) -> list[Point]:
        fit = fit_arm(plays, arm) if plays else None
        weights = {} if fit is None else fit.coefficients
        n = 0 if fit is None else fit.decisions
        return [Point(name, value, None, n) for name, value in weights.items()]

    return _picture(
        "figure6",
        "What weighs in accepting a proposal",
        ("term", "normalised coefficient"),
        "dots",
        _by_arm(games, points),
        "Coefficients of a fit have no interval.",
    )


def _picture(
    name: str, title: str, axes: tuple[str, str], kind: str, all_series: Iterator[Series], note: str
) -> Picture:
    series = tuple(one_series for one_series in all_series if one_series.points)
    missing_reason = None if series else "not run"
    return Picture(name, title, *axes, kind, series, note, missing=missing_reason)  # type: ignore[arg-type]


FIGURES: Mapping[str, Callable[[Known, Effort], Picture]] = {
    "figure4": figure4,
    "figure5": figure5,
    "proposals": proposals,
    "figure6": figure6,
}
