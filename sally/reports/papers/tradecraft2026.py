"""tradecraft2026 again: settings as our code has them, fits and directions from stored episodes.

A direction is 1 or -1 by the sign of our figure, with the signs of its interval's ends, so that it
agrees with the paper unless our interval lies wholly on the other side; a figure without an
interval has its own sign only. The printed macro-F1 are means over three folds without an
interval; ours carries the range of its folds. Rows for which the stored episodes do not suffice
(too few, all decisions alike, one arm missing) stay blank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

from sally.core.game import Seat
from sally.core.metric import Played
from sally.core.probe import Question
from sally.games.tradecraft.decisions import Fit, fit_decisions
from sally.games.tradecraft.instances import instance_set
from sally.games.tradecraft.rules import TradeCraft
from sally.games.tradecraft.spec import GROUPS
from sally.games.tradecraft.values import exchange
from sally.metrics.trades import beliefs_apart, exchange_of, fit_of, mean_apart, trend
from sally.reports.reproduce import Conditions, Effort, Engine, Known
from sally.stats.intervals import Estimate, mean_interval
from sally.studies.tradecraft2026 import INSTANCES_PLAYED, PARTNER, PLAYER, REPEATS, SET

SEAT, SEED = Seat(PLAYER), 2026
Plays = Sequence[Played]


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """What needs no episodes: the settings, read off the code that uses them."""
    scale = Question("v0", "values", ())
    settings: Mapping[str, float] = {
        "instances": len(instance_set(SET).instances),
        "instances_played": INSTANCES_PLAYED,
        "repeats": REPEATS,
        "folds": _default(fit_decisions, "folds"),
        "bootstrap_samples": _default(exchange, "draws"),
        "bootstrap_level": _default(exchange, "level"),
        "value_lowest": scale.low,
        "value_highest": scale.high,
    }
    if metric not in settings:
        return None
    exact = float(settings[metric])
    return Estimate(exact, exact, exact, 1, "exact")


def _default(function: Callable[..., Any], name: str) -> float:
    return float(signature(function).parameters[name].default)


def facts(played: Played) -> Conditions | None:
    """An episode of one model against itself, with the arm of the first player."""
    setup = played.episode.setup
    if not isinstance(played.replay.game, TradeCraft) or len(setup.lineup) != 2:
        return None
    if any(who.player != "language" for who in setup.lineup.values()):
        return None
    models = {str(who.params.get("model")) for who in setup.lineup.values()}
    arm = next((g for g, probes in GROUPS.items() if setup.arms.get(PLAYER) == probes), None)
    if arm is None or len(models) != 1 or setup.arms.get(PARTNER) != GROUPS["v0"]:
        return None
    return {"model": models.pop(), "arm": arm}


def tabulates(row: Conditions, metric: str, known: Known, model: str | None) -> Estimate | None:
    """A figure over the episodes of a row, by the name that the paper's tables give it."""
    wanted = model or row.get("model")
    mine = [(f, p) for f, p in known if wanted in ("all", f["model"]) or row.get("model") == "all"]
    by_arm = {arm: [p for f, p in mine if f["arm"] == arm] for arm in GROUPS}
    figure = FIGURES.get(metric)
    return None if figure is None else figure(by_arm, str(row.get("arm", "")))


# --- figures --------------------------------------------------------------------------------------

Arms = Mapping[str, Plays]


def _macro_f1(arms: Arms, arm: str) -> Estimate | None:
    fit = _fit(arms[arm], arm)
    if fit is None:
        return None
    return Estimate(fit.f1_mean, min(fit.f1), max(fit.f1), fit.decisions, "range of folds")


def _coefficient(arms: Arms, arm: str, name: str) -> Estimate | None:
    fit = _fit(arms[arm], arm)
    return None if fit is None else _bare_sign(fit.coefficients[name], fit.decisions)


def _coefficient_change(arms: Arms, arm: str, name: str) -> Estimate | None:
    """The second-order fit's coefficient against the first-order fit's."""
    first, second = (_fit(arms[group], group) for group in ("v0+v1", "v0+v1+v2"))
    if first is None or second is None:
        return None
    change = second.coefficients[name] - first.coefficients[name]
    return _bare_sign(change, second.decisions)


def _kl_over_turns(arms: Arms, arm: str) -> Estimate | None:
    slopes = [
        trend([(each.turn, each.divergence.kl) for each in beliefs_apart(played, SEAT)])
        for plays in arms.values()
        for played in plays
    ]
    known = [slope for slope in slopes if slope is not None]
    return _sign(mean_interval(known)) if len(known) > 1 else None


def _kl_by_order(arms: Arms, arm: str) -> Estimate | None:
    """The mean KL of the second-order arm against the first-order arm's."""
    means = []
    for group in ("v0+v1", "v0+v1+v2"):
        found = [mean_apart(played, SEAT, "kl") for played in arms[group]]
        known = [value for value in found if value is not None]
        if not known:
            return None
        means.append(sum(known) / len(known))
    return _bare_sign(means[1] - means[0], sum(map(len, arms.values())))


def _over_order(arms: Arms, arm: str, name: str) -> Estimate | None:
    """The trend of a slope or a correlation of proposals from order 0 to 2."""
    points = []
    for order, plays in enumerate(arms.values()):
        if not plays:
            return None
        found = getattr(exchange_of([(played, SEAT) for played in plays], seed=SEED, draws=2), name)
        if found is None:
            return None
        points.append((float(order), float(found)))
    change = trend(points)
    return None if change is None else _bare_sign(change, sum(map(len, arms.values())))


FIGURES: Mapping[str, Callable[[Arms, str], Estimate | None]] = {
    "macro_f1": _macro_f1,
    "kl_over_turns": _kl_over_turns,
    "kl_second_order_against_first": _kl_by_order,
    "slope_over_order": partial(_over_order, name="slope"),
    "correlation_over_order": partial(_over_order, name="r"),
    "coefficient_g0": partial(_coefficient, name="G0"),
    "coefficient_g1": partial(_coefficient, name="G1"),
    "coefficient_g2": partial(_coefficient, name="G2"),
    "coefficient_l2": partial(_coefficient, name="L2"),
    "coefficient_l1_second_order_against_first": partial(_coefficient_change, name="L1"),
}


def _fit(plays: Plays, arm: str) -> Fit | None:
    """The fit of an arm's order; None where its decisions do not allow one."""
    order = len(GROUPS[arm]) - 1
    try:
        return fit_of([(played, SEAT) for played in plays], order, seed=SEED)
    except ValueError:
        return None


def _bare_sign(value: float, n: int) -> Estimate:
    sign = float((value > 0) - (value < 0))
    return Estimate(sign, sign, sign, n, "sign")


def _sign(estimate: Estimate) -> Estimate | None:
    """A figure and its interval as directions."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    ends = (estimate.low, estimate.value, estimate.high)
    low, value, high = (float((x > 0) - (x < 0)) for x in ends)
    return Estimate(value, low, high, estimate.n, "sign")


ENGINE = Engine(computes, {}, SEAT, facts, tabulates=tabulates)
