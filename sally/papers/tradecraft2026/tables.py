"""Tables of tradecraft2026: settings come from our code, fits and directions from episodes.

A direction is 1 or -1, the sign of our figure; its interval consists of the signs of our interval's
bounds. So a direction agrees with the paper unless our interval is entirely on the other side; for
a figure without an interval, only its sign counts. The printed macro-F1 are means over three folds
without an interval; ours come with the range over folds, which is not an interval, so agreement is
not stated. Rows stay blank if the stored episodes do not suffice (too few, identical decisions, a
missing arm, a single model).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

from sally.analysis.episodes.paper_store import same_model, short
from sally.core.rules.metric import Played
from sally.core.rules.probe import Question
from sally.games.tradecraft.instances import instance_set
from sally.games.tradecraft.rules import TradeCraft
from sally.games.tradecraft.spec import GROUPS
from sally.games.tradecraft.trades import (
    beliefs_apart,
    exchange,
    exchange_of,
    fit_decisions,
    mean_apart,
    trend,
)
from sally.output.tables.layout import Column, Layout, Stub
from sally.output.tables.reproduce import Conditions, Effort, Engine, Known
from sally.papers.tradecraft2026.figures import (
    FIGURES as PICTURES,
)
from sally.papers.tradecraft2026.figures import (
    SEAT,
    SEED,
    Plays,
    by_model_and_arm,
    fit_arm,
)
from sally.papers.tradecraft2026.study import INSTANCES_PLAYED, PARTNER, PLAYER, REPEATS, SET
from sally.parts.importers import RECORDED
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate, exact
from sally.stats.paired_differences import unpaired_difference

CAPABILITY = ("gpt-4o", "o3", "o4-mini", "gpt-5-medium")  # top to bottom in Figure 6
MODELS = {"gpt-4o": "GPT-4o", "o4-mini": "o4", "gpt-5-medium": "GPT-5 (medium)"}
ORDERS = {"v0": "Zero-order", "v0+v1": "First-order", "v0+v1+v2": "Second-order"}


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a table value that is a setting of our code, such as the number of folds; None for
    values that are computed from episodes."""
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
    return exact(settings[metric])


def _default(function: Callable[..., Any], name: str) -> float:
    return float(signature(function).parameters[name].default)


def facts(played: Played) -> Conditions | None:
    """Return the model of an episode in which it plays against itself, and the first player's
    experimental condition. For a released game, return its pairing instead; for any other episode,
    None."""
    setup = played.episode.setup
    if not isinstance(played.replay.game, TradeCraft) or len(setup.lineup) != 2:
        return None
    if all(player.player == RECORDED for player in setup.lineup.values()):
        _, _, after_prefix = setup.instance.id.partition(":")  # tradecraft:PAIRING:ID
        pairing = after_prefix.partition(":")[0]
        return {"pairing": pairing} if "_vs_" in pairing else None  # else a person's game
    if any(player.player != "language" for player in setup.lineup.values()):
        return None
    models = {str(player.params.get("model")) for player in setup.lineup.values()}
    arm = next((g for g, probes in GROUPS.items() if setup.arms.get(PLAYER) == probes), None)
    if arm is None or len(models) != 1 or setup.arms.get(PARTNER) != GROUPS["v0"]:
        return None
    return {"model": models.pop(), "arm": arm}


def tabulates(
    row: Conditions, metric: str, known_games: Known, model: str | None
) -> Estimate | None:
    """Return the table value of a row, computed from the row's episodes."""
    if metric in RELEASED:
        pairing = row.get("pairing", "all")
        games = [p for f, p in known_games if "pairing" in f and pairing in ("all", f["pairing"])]
        return _released_count(metric, str(row.get("player", "")), games)
    known_games = [(facts, played) for facts, played in known_games if "model" in facts]
    if metric in AMONG_MODELS:
        return AMONG_MODELS[metric](known_games, str(row["model"]))
    model_name = "all" if row.get("model") == "all" else str(model or row.get("model"))
    model_games = [
        (f, p)
        for f, p in known_games
        if model_name == "all" or same_model(str(f["model"]), model_name)
    ]
    by_arm = {arm: [p for f, p in model_games if f["arm"] == arm] for arm in GROUPS}
    figure = FIGURES.get(metric)
    return None if figure is None else figure(by_arm, str(row.get("arm", "")))


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why a table value cannot be computed from episodes; None if it can."""
    if "dimension" in row:
        return (
            "agreement of people with a model's ratings; ratings are not episodes, and "
            "`sally paper tradecraft2026 ratings FILE OTHER` compares two files of them"
        )
    return None


# --- the released games ---------------------------------------------------------------------------

RELEASED = ("games", "games_won", "won_by_first", "won_by_second", "won_by_both", "won_by_nobody")


def _released_count(metric: str, player: str, games: Plays) -> Estimate | None:
    """Return one count over the released games, by their recorded winners; some games have no
    winner."""
    if not games:
        return None
    winners = [tuple(played.episode.used.get("recorded_winners") or ()) for played in games]
    counts = {
        "games": len(games),
        "won_by_first": winners.count((PLAYER,)),
        "won_by_second": winners.count((PARTNER,)),
        "won_by_both": sum(len(won) == 2 for won in winners),
        "won_by_nobody": winners.count(()),
        "games_won": sum(
            str(played.episode.setup.lineup[seat].params.get("name", "")).rstrip("12") == player
            for played, won in zip(games, winners, strict=True)
            for seat in won
        ),
    }
    return exact(counts[metric], len(games), "count")


def brings(table: str, row: Conditions) -> str | None:
    """Return the command that imports the released games."""
    return "sally import tradecraft PATH" if table == "released" else None


# --- figures --------------------------------------------------------------------------------------

Arms = Mapping[str, Plays]


def _macro_f1(arms: Arms, arm: str) -> Estimate | None:
    fit = fit_arm(arms[arm], arm)
    if fit is None:
        return None
    folds = f"mean of {len(fit.f1)} folds, {min(fit.f1):.2f} to {max(fit.f1):.2f}"
    return Estimate(fit.f1_mean, None, None, fit.decisions, folds)  # a range is not an interval


def _coefficient(arms: Arms, arm: str, name: str) -> Estimate | None:
    fit = fit_arm(arms[arm], arm)
    return None if fit is None else _bare_sign(fit.coefficients[name], fit.decisions)


def _larger(arms: Arms, arm: str, first: str, second: str) -> Estimate | None:
    """Return the direction in which the sizes of two coefficients differ, regardless of their
    signs."""
    fit = fit_arm(arms[arm], arm)
    if fit is None:
        return None
    sizes = [abs(fit.coefficients[name]) for name in (first, second)]
    return _bare_sign(sizes[0] - sizes[1], fit.decisions)


def _coefficient_change(arms: Arms, arm: str, name: str) -> Estimate | None:
    """Return the direction of a coefficient's change from the first-order fit to the second-order
    fit."""
    first, second = (fit_arm(arms[group], group) for group in ("v0+v1", "v0+v1+v2"))
    if first is None or second is None:
        return None
    change = second.coefficients[name] - first.coefficients[name]
    return _bare_sign(change, second.decisions)


def _kl_over_turns(arms: Arms, arm: str) -> Estimate | None:
    slopes = [
        trend([(distance.turn, distance.divergence.kl) for distance in beliefs_apart(played, SEAT)])
        for plays in arms.values()
        for played in plays
    ]
    known_slopes = [slope for slope in slopes if slope is not None]
    return _sign(lone_by_rule(known_slopes)) if len(known_slopes) > 1 else None


def _kl_by_order(arms: Arms, arm: str) -> Estimate | None:
    """Return the direction in which the mean divergence (KL) changes from seats that report beliefs
    of order 1 to those that also report order 2."""
    means = []
    for group in ("v0+v1", "v0+v1+v2"):
        divergences = [mean_apart(played, SEAT, "kl") for played in arms[group]]
        known_values = [value for value in divergences if value is not None]
        if not known_values:
            return None
        means.append(sum(known_values) / len(known_values))
    return _bare_sign(means[1] - means[0], sum(map(len, arms.values())))


def _over_order(arms: Arms, arm: str, name: str) -> Estimate | None:
    """Return the direction in which the slope or the correlation of offered on requested value
    changes, from seats that report values of order 0 to those that report up to order 2."""
    points = []
    for order, plays in enumerate(arms.values()):
        if not plays:
            return None
        value = getattr(exchange_of([(played, SEAT) for played in plays], seed=SEED, draws=2), name)
        if value is None:
            return None
        points.append((float(order), float(value)))
    change = trend(points)
    return None if change is None else _bare_sign(change, sum(map(len, arms.values())))


# --- figures that compare models --------------------------------------------------------------


def _apart_from_the_rest(games: Known, model: str, side: int) -> Estimate | None:
    """Return the direction 1 if a model's beliefs are less accurate (`side` 1) or more accurate
    (`side` -1) than those of every other model, and the direction -1 otherwise."""
    means = {}
    for name, arms in by_model_and_arm(games).items():
        plays = [played for group in arms.values() for played in group]
        divergences = [mean_apart(played, SEAT, "kl") for played in plays]
        if known_values := [value for value in divergences if value is not None]:
            means[short(name)] = known_values
    others = {name: values for name, values in means.items() if name != model}
    if model not in means or not others:
        return None
    nearest = max(others.values(), key=lambda values: side * sum(values) / len(values))
    return _sign(unpaired_difference(*((means[model], nearest)[::side])))


def _loss_aversion(games: Known, model: str) -> Estimate | None:
    """Return the trend of the loss coefficient from the weakest to the strongest model."""
    points = []
    for name, arms in by_model_and_arm(games).items():
        fit = fit_arm(arms["v0"], "v0") if arms["v0"] else None
        if fit is not None and short(name) in CAPABILITY:
            points.append((float(CAPABILITY.index(short(name))), fit.coefficients["L0"]))
    change = trend(points)
    return None if change is None else _bare_sign(change, len(points))


AMONG_MODELS: Mapping[str, Callable[[Known, str], Estimate | None]] = {
    "kl_lowest": partial(_apart_from_the_rest, side=-1),
    "kl_highest": partial(_apart_from_the_rest, side=1),
    "coefficient_l0_over_capability": _loss_aversion,
}

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
    "size_of_g1_against_l1": partial(_larger, first="G1", second="L1"),
    "coefficient_l1_second_order_against_first": partial(_coefficient_change, name="L1"),
}


def _bare_sign(value: float, n: int) -> Estimate:
    return exact((value > 0) - (value < 0), n, "sign")


def _sign(estimate: Estimate) -> Estimate | None:
    """Return the signs of a value and of its interval's bounds."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    ends = (estimate.low, estimate.value, estimate.high)
    low, value, high = (float((x > 0) - (x < 0)) for x in ends)
    return Estimate(value, low, high, estimate.n, "sign")


def _model(row: Conditions) -> str:
    name = str(row["model"])
    return "all models" if name == "all" else MODELS.get(name, name)


LAYOUTS = {
    "1": Layout(
        ("model",),
        (Stub("Model", _model),),
        tuple(Column(title, "macro_f1", {"arm": arm}, places=2) for arm, title in ORDERS.items()),
    ),
    "directions": Layout(
        ("model", "arm"),
        (Stub("Model", _model), Stub("Arm", lambda row: str(row.get("arm", "")))),
        (),
    ),
}

ENGINE = Engine(
    computes,
    {},
    SEAT,
    facts,
    of_setup=True,
    tabulates=tabulates,
    cannot=cannot,
    layouts=LAYOUTS,
    figures=PICTURES,
    brings=brings,
)
