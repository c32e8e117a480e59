"""Figures of kang2026, drawn from our episodes; the paper publishes them only as images.

Where the paper averages over its models, our figure is the mean over the models in the store, each
weighted equally. Action consistency counts every prediction: reports to probes, and predictions
made inside a decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean

import msgspec

from sally.analysis.episodes.paper_store import pool_mean, short
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.toma.ag.game import SPEAKER
from sally.games.toma.metrics import beliefs
from sally.games.toma.sw.rules import EXPLORER, GUIDE, kind_of_act
from sally.output.figures.paper_figures import Picture, Point, Series, point
from sally.output.tables.layout import Conditions
from sally.output.tables.reproduce import Effort, Known
from sally.papers.kang2026.layout import MODELS, STRATEGIES
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate

PLAYER = Seat("player")
GAMES = {"toma_po": "Partially observable", "toma_mg": "Minority"}
TOLD_NOTHING = "nothing"
NO_FIGURE = "the episodes give no figure (censored or forfeited)"
Measure = Callable[[Played], float | None]


def _of(name: str, *seats: Seat) -> Measure:
    """Return a function that computes the mean of a metric over these seats, where it has a
    value."""

    def measure(played: Played) -> float | None:
        metric = registry.metrics(played.spec.name)[name]
        values = [metric.measure(played, seat) for seat in seats]
        known_values = [value for value in values if value is not None]
        return fmean(known_values) if known_values else None

    return measure


SUCCESS = _of("task_success_published", PLAYER)
CONSISTENT = _of("action_consistency", PLAYER)
TEAM_CONSISTENT = _of("action_consistency", GUIDE, EXPLORER)
RADIO = {
    "box opened": _of("radio_box_opened", GUIDE),
    "won": _of("radio_won", GUIDE),
}
CLUES = {
    "win": _of("clue_won", SPEAKER),
    "leak": _of("clue_leaked", SPEAKER),
    "loss": _of("clue_lost", SPEAKER),
    "miss": _of("clue_missed", SPEAKER),
}


# --- choosing and measuring -----------------------------------------------------------------------


def _select(games: Known, **conditions: str) -> Known:
    return [(f, p) for f, p in games if conditions.items() <= f.items()]


def _values(games: Known, name: str) -> list[str]:
    return list(dict.fromkeys(str(f[name]) for f, _ in games if name in f))


def _estimate(games: Known, measure: Measure) -> Estimate | None:
    """Return the mean of a measure with its interval; if instances were repeated, whole instances
    are resampled."""
    values = [(measure(p), p.episode.setup.instance.id) for _, p in games]
    known_values = [(value, id) for value, id in values if value is not None]
    return (
        pool_mean([v for v, _ in known_values], [id for _, id in known_values], (0, 1))
        if known_values
        else None
    )


def _over_models(games: Known, measure: Measure) -> Estimate | None:
    """Return the mean over models, weighted equally; for a single model, its mean and interval."""
    models = _values(games, "model")
    estimates = [_estimate(_select(games, model=model), measure) for model in models]
    known_estimates = [
        estimate for estimate in estimates if estimate is not None and estimate.value is not None
    ]
    if len(known_estimates) < 2:
        return known_estimates[0] if known_estimates else None
    return lone_by_rule(
        [estimate.value for estimate in known_estimates if estimate.value is not None], (0, 1)
    )


def _points(
    games: Known, by: str, order: Sequence[str], measure: Measure, mean: bool = False
) -> tuple[Point, ...]:
    """Return a point for each value of a condition that has episodes."""
    estimate = _over_models if mean else _estimate
    estimates = ((x, estimate(_select(games, **{by: x}), measure)) for x in order)
    return tuple(point(STRATEGIES.get(x, x), e) for x, e in estimates if e is not None)


def _series(all_series: Iterator[Series]) -> tuple[Series, ...]:
    return tuple(series for series in all_series if series.points)


def _finish_picture(picture: Picture, data: Known) -> Picture:
    """Return the picture with axis limits 0 and 1 or, if there are no data, with the reason why."""
    if picture.series:
        return msgspec.structs.replace(picture, limits=(0.0, 1.0))
    return msgspec.structs.replace(picture, missing=NO_FIGURE if data else "not run")


def _of_family(games: Known, family: str) -> Known:
    """Return the episodes of one family of models. If the family qwen has none, return those of
    models outside the paper instead."""
    family_games = [(f, p) for f, p in games if short(str(f.get("model", ""))).startswith(family)]
    others = [(f, p) for f, p in games if "model" in f and short(str(f["model"])) not in MODELS]
    return family_games or (others if family == "qwen" else [])


# --- figures ----------------------------------------------------------------------------------


def alignment(games: Known, effort: Effort) -> Picture:
    """Draw Figure 1b: the team's actions, by the action that it predicted for its ally."""
    radio = _select(games, game="toma_sw", player="language")
    counts: dict[tuple[str, str, str], int] = {}
    for facts, played in radio:
        for seat in (GUIDE, EXPLORER):
            for turn, belief in beliefs(played, seat):
                act = kind_of_act(played.replay.move(turn, seat))
                for foreseen in belief.values():
                    key = (short(str(facts["model"])), str(foreseen), str(act))
                    counts[key] = counts.get(key, 0) + 1
    panels = list(dict.fromkeys(model for model, _, _ in counts))
    acts = list(dict.fromkeys(act for _, _, act in counts))

    def draw_series() -> Iterator[Series]:
        for panel in panels:
            for act in acts:
                points = [
                    Point(f"foresaw {foreseen}", n / _all(counts, model, foreseen), None, n)
                    for (model, foreseen, done), n in counts.items()
                    if (model, done) == (panel, act)
                ]
                yield Series(panel, f"did {act}", tuple(sorted(points, key=lambda p: str(p.x))))

    return _finish_picture(
        Picture("figure1b", "Speak or wait: what was done given what was foreseen of the ally",
                "foreseen", "share of turns", "dots", _series(draw_series())), radio,
    )  # fmt: skip


def _all(counts: Mapping[tuple[str, str, str], int], model: str, foreseen: str) -> int:
    return sum(n for (m, f, _), n in counts.items() if (m, f) == (model, foreseen))


def consistency(name: str, family: str, games: Known, effort: Effort) -> Picture:
    """Draw Figures 5a and 8: how often models act on their predictions."""

    def draw_series() -> Iterator[Series]:
        for game, panel in GAMES.items():
            family_games = _of_family(_select(games, game=game, told=TOLD_NOTHING), family)
            # others do not matter there
            family_games = [(f, p) for f, p in family_games if f["level"] != "L0"]
            for model in _values(family_games, "model"):
                model_games = _select(family_games, model=model)
                points = _points(model_games, "strategy", list(STRATEGIES), CONSISTENT)
                yield Series(panel, short(model), points)

    return _finish_picture(
        Picture(name, f"Action consistency, {family} series", "strategy",
                "moves that fit own predictions (share)", "dots", _series(draw_series())),
        _of_family([pair for game in GAMES for pair in _select(games, game=game)], family),
    )  # fmt: skip


def injection_figure(name: str, pooled_games: bool, all_games: Known, effort: Effort) -> Picture:
    """Draw Figures 5b and 9: the success of players that are told the others' moves before they
    choose. Each move they are told is wrong with probability e."""
    panels = {"both games": tuple(GAMES)} if pooled_games else {v: (k,) for k, v in GAMES.items()}

    def draw_series() -> Iterator[Series]:
        for panel, games in panels.items():
            panel_games = [(f, p) for f, p in all_games if f["game"] in games]
            told_games = [(f, p) for f, p in panel_games if f["told"] != TOLD_NOTHING]
            for name in dict.fromkeys(_player_name(f) for f, _ in told_games):
                own_games = [(f, p) for f, p in told_games if _player_name(f) == name]
                yield Series(panel, name, tuple(_by_error(own_games)))
            untold = [(f, p) for f, p in panel_games if _plain(f)]
            for model in _values(told_games, "model"):
                estimate = _estimate(_select(untold, model=model), SUCCESS)
                if estimate is not None:
                    ends = (point(0.0, estimate), point(1.0, estimate))
                    yield Series(panel, f"{short(model)}, not told", ends)

    return _finish_picture(
        Picture(name, "Success when others' choices are told with errors",
                "chance that what is told is wrong", "task success (share)", "lines",
                _series(draw_series()),
                "The believer is a script that acts on all it is told."),
        [(f, p) for f, p in all_games if f["told"] != TOLD_NOTHING],
    )  # fmt: skip


def _player_name(facts: Conditions) -> str:
    return short(str(facts["model"])) if "model" in facts else str(facts["player"])


def _plain(facts: Conditions) -> bool:
    """Return whether a player is zero-shot, without injection, at Level 1 or above."""
    conditions = {"told": TOLD_NOTHING, "strategy": "zero_shot"}
    return conditions.items() <= facts.items() and facts.get("level") != "L0"


def _by_error(games: Known) -> Iterator[Point]:
    for error_name in sorted(_values(games, "told"), key=lambda t: float(t.removeprefix("e="))):
        estimate = _estimate(_select(games, told=error_name), SUCCESS)
        if estimate is not None:
            yield point(float(error_name.removeprefix("e=")), estimate)


def by_strategy(
    name: str, title: str, y: str, game: str, measures: Mapping[str, Measure], mean: bool,
    games: Known, effort: Effort,
) -> Picture:  # fmt: skip
    """Draw Figures 6, 7a, 10 and 11: outcomes by strategy, over all models or model by model."""
    language_games = _select(games, game=game, player="language")
    models = _values(language_games, "model")

    def draw_series() -> Iterator[Series]:
        for panel, panel_games in (
            [("mean over models" if len(models) > 1 else short("".join(models)), language_games)]
            if mean
            else [(short(model), _select(language_games, model=model)) for model in models]
        ):
            for label, measure in measures.items():
                points = _points(panel_games, "strategy", list(STRATEGIES), measure, mean)
                yield Series(panel, label, points)

    return _finish_picture(
        Picture(name, title, "strategy", y, "dots", _series(draw_series())), language_games
    )


def by_level(games: Known, effort: Effort) -> Picture:
    """Draw Figure 7b: success by level of reasoning, one series per strategy."""

    def draw_series() -> Iterator[Series]:
        for game, panel in GAMES.items():
            level_games = _select(games, game=game, told=TOLD_NOTHING, player="language")
            for strategy, strategy_name in STRATEGIES.items():
                strategy_games = _select(level_games, strategy=strategy)
                levels = sorted(_values(strategy_games, "level"))
                yield Series(
                    panel,
                    strategy_name,
                    _points(strategy_games, "level", levels, SUCCESS, mean=True),
                )

    return _finish_picture(
        Picture("figure7b", "Success by level, mean over models", "level",
                "task success (share)", "dots", _series(draw_series())),
        [pair for game in GAMES for pair in _select(games, game=game, player="language")],
    )  # fmt: skip


RATES, CLUE_SHARES = "share of games", "share of clues"
FIGURES: Mapping[str, Callable[[Known, Effort], Picture]] = {
    "figure1b": alignment,
    "figure5a": partial(consistency, "figure5a", "qwen"),
    "figure5b": partial(injection_figure, "figure5b", True),
    "figure6a": partial(
        by_strategy, "figure6a", "Speak or wait: action consistency",
        "acts that fit own predictions (share)", "toma_sw", {"consistent": TEAM_CONSISTENT}, True,
    ),
    "figure6b": partial(
        by_strategy, "figure6b", "Speak or wait: boxes opened and games won", RATES,
        "toma_sw", RADIO, True,
    ),
    "figure7a": partial(
        by_strategy, "figure7a", "Ambiguity game: what became of clues", CLUE_SHARES,
        "toma_ag", CLUES, True,
    ),
    "figure7b": by_level,
    "figure8": partial(consistency, "figure8", "gemma"),
    "figure9": partial(injection_figure, "figure9", False),
    "figure10": partial(
        by_strategy, "figure10", "Speak or wait, model by model", RATES, "toma_sw", RADIO, False,
    ),
    "figure11": partial(
        by_strategy, "figure11", "Ambiguity game, model by model", CLUE_SHARES,
        "toma_ag", CLUES, False,
    ),
}  # fmt: skip
