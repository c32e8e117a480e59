"""Curves of riemer2025's appendix: regret and predictions by round, for each set of action names.

The paper publishes them only as images. Our curves show the regret per round so far, relative to
the exact optimum of that many rounds, and the share of right predictions so far. The curves of the
tabular learner are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from sally.analysis.episodes.paper_store import same_model, select_episodes, short
from sally.core.rules.metric import Played
from sally.games.repeated_games.optimum import Floats
from sally.games.repeated_games.regret import running_regret, running_tom_percent
from sally.games.repeated_games.rules import AGENT
from sally.output.figures.paper_figures import Picture, Point, Series, point
from sally.output.tables.layout import Conditions
from sally.output.tables.reproduce import Effort, Known
from sally.papers.riemer2025.layout import GAMES, MODELS, PARTNERS
from sally.papers.riemer2025.study import name_sets
from sally.papers.riemer2025.tabular import tabular_curves
from sally.stats.cluster_interval import Bounds, lone_by_rule

Curve = Callable[[Played], Sequence[float] | None]
MEASURES = ("regret", "ToM %")
SHOWN = (1, 2, 5, 10, 20, 50, 100)  # the rounds of a figure's table
FIRST = {"llama-3-70b-instruct": 20, "mistral-large-2": 32}  # the first figure of each model


def figures() -> Mapping[str, Callable[[Known, Effort], Picture]]:
    """Return the figures by the paper's numbers; Figure 19 repeats Figure 42."""
    figures_found: dict[str, Callable[[Known, Effort], Picture]] = {}
    for model, number in FIRST.items():
        order = product(PARTNERS, GAMES, MEASURES)
        for number_of_figure, (partner, game, measure) in enumerate(order, number):
            name = f"figure{number_of_figure}"
            figures_found[name] = partial(_picture, name, model, game, partner, measure)
    last = partial(_picture, "figure19", "mistral-large-2", "ipd", "tit_for_tat", "regret")
    return {"figure19": last, **figures_found}


def _picture(
    name: str, model: str, game: str, partner: str, measure: str, games: Known, effort: Effort
) -> Picture:
    model_games = list(_of_model(games, model, game, partner))
    kinds = {names: kind for kind, names in name_sets(game).items()}
    panel = f"{GAMES[game]}, {PARTNERS[partner]} partner"
    groups: dict[str, list[Played]] = {}
    for facts, played in model_games:
        kind = kinds.get(str(facts["names"]), str(facts["names"]))
        whose = "" if same_model(str(facts["model"]), model) else f"{short(str(facts['model']))}, "
        groups.setdefault(f"{whose}{kind}", []).append(played)
    curve = _regret if measure == "regret" else _right
    ends = None if curve is _regret else (0.0, 100.0)
    series = [
        Series(panel, label, tuple(_points([curve(p) for p in plays], ends)))
        for label, plays in groups.items()
    ]
    learner = tabular_curves(game, partner, effort)[measure]
    series.append(Series(panel, "tabular", tuple(_means(learner, ends))))
    unit = "regret per round so far" if measure == "regret" else "right predictions so far (%)"
    return Picture(
        name=name,
        title=f"{measure[0].upper()}{measure[1:]} by action names (the paper: {MODELS[model]})",
        x="round",
        y=unit,
        kind="lines",
        series=tuple(series),
        note="Regret against the exact optimum of that many rounds." if curve is _regret else "",
        shown=SHOWN,
        limits=ends,
        missing=None if model_games else "not run",
        study="riemer2025_names",
    )


def _of_model(
    games: Known, model: str, game: str, partner: str
) -> Iterator[tuple[Conditions, Played]]:
    """Yield the episodes of one model with the strategy `qa`. For the first model of the paper's
    figures, if it has no episodes, yield those of models outside the paper instead."""
    conditions = {"game": game, "partner": partner, "player": "language", "strategy": "qa"}
    plain = select_episodes(games, lambda f: conditions.items() <= f.items() and _plain(f))
    model_games = [(f, p) for f, p in plain if same_model(str(f["model"]), model)]
    others = [(f, p) for f, p in plain if short(str(f["model"])) not in MODELS]
    yield from model_games or (others if model == next(iter(FIRST)) else [])


def _plain(facts: Conditions) -> bool:
    return facts.get("history") == facts.get("payoffs") == "on" and "pack" not in facts


def _regret(played: Played) -> Sequence[float] | None:
    return None if played.episode.payoffs is None else running_regret(played, AGENT)


def _right(played: Played) -> Sequence[float] | None:
    return None if played.episode.payoffs is None else running_tom_percent(played, AGENT)


def _points(curves: Sequence[Sequence[float] | None], ends: Bounds | None) -> Iterator[Point]:
    """Yield a point for every round: the mean over the episodes that reached it."""
    known_curves = [curve for curve in curves if curve]
    for round_index in range(max(map(len, known_curves), default=0)):
        yield point(
            float(round_index + 1),
            lone_by_rule([c[round_index] for c in known_curves if len(c) > round_index], ends),
        )


def _means(curves: Floats, ends: Bounds | None) -> Iterator[Point]:
    for round_index in range(curves.shape[1]):
        yield point(float(round_index + 1), lone_by_rule(np.asarray(curves[:, round_index]), ends))
