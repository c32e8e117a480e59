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

from sally.analysis.episodes.paper_store import pooled, short
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
        found = [metric.measure(played, seat) for seat in seats]
        known = [value for value in found if value is not None]
        return fmean(known) if known else None

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


def _where(known: Known, **asked: str) -> Known:
    return [(f, p) for f, p in known if asked.items() <= f.items()]


def _values(known: Known, name: str) -> list[str]:
    return list(dict.fromkeys(str(f[name]) for f, _ in known if name in f))


def _estimate(known: Known, measure: Measure) -> Estimate | None:
    """Return the mean of a measure with its interval; if instances were repeated, whole instances
    are resampled."""
    found = [(measure(p), p.episode.setup.instance.id) for _, p in known]
    given = [(value, id) for value, id in found if value is not None]
    return pooled([v for v, _ in given], [id for _, id in given], (0, 1)) if given else None


def _over_models(known: Known, measure: Measure) -> Estimate | None:
    """Return the mean over models, weighted equally; for a single model, its mean and interval."""
    models = _values(known, "model")
    each = [_estimate(_where(known, model=model), measure) for model in models]
    there = [found for found in each if found is not None and found.value is not None]
    if len(there) < 2:
        return there[0] if there else None
    return lone_by_rule([found.value for found in there if found.value is not None], (0, 1))


def _points(
    known: Known, by: str, order: Sequence[str], measure: Measure, mean: bool = False
) -> tuple[Point, ...]:
    """Return a point for each value of a condition that has episodes."""
    estimate = _over_models if mean else _estimate
    found = ((x, estimate(_where(known, **{by: x}), measure)) for x in order)
    return tuple(point(STRATEGIES.get(x, x), e) for x, e in found if e is not None)


def _series(drawn: Iterator[Series]) -> tuple[Series, ...]:
    return tuple(series for series in drawn if series.points)


def _finished(picture: Picture, there: Known) -> Picture:
    """Return the picture with axis limits 0 and 1 or, if there are no data, with the reason why."""
    if picture.series:
        return msgspec.structs.replace(picture, limits=(0.0, 1.0))
    return msgspec.structs.replace(picture, missing=NO_FIGURE if there else "not run")


def _of_family(known: Known, family: str) -> Known:
    """Return the episodes of one family of models. If the family qwen has none, return those of
    models outside the paper instead."""
    theirs = [(f, p) for f, p in known if short(str(f.get("model", ""))).startswith(family)]
    others = [(f, p) for f, p in known if "model" in f and short(str(f["model"])) not in MODELS]
    return theirs or (others if family == "qwen" else [])


# --- figures ----------------------------------------------------------------------------------


def alignment(known: Known, effort: Effort) -> Picture:
    """Draw Figure 1b: the team's actions, by the action that it predicted for its ally."""
    radio = _where(known, game="toma_sw", player="language")
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

    def drawn() -> Iterator[Series]:
        for panel in panels:
            for act in acts:
                points = [
                    Point(f"foresaw {foreseen}", n / _all(counts, model, foreseen), None, n)
                    for (model, foreseen, done), n in counts.items()
                    if (model, done) == (panel, act)
                ]
                yield Series(panel, f"did {act}", tuple(sorted(points, key=lambda p: str(p.x))))

    return _finished(
        Picture("figure1b", "Speak or wait: what was done given what was foreseen of the ally",
                "foreseen", "share of turns", "dots", _series(drawn())), radio,
    )  # fmt: skip


def _all(counts: Mapping[tuple[str, str, str], int], model: str, foreseen: str) -> int:
    return sum(n for (m, f, _), n in counts.items() if (m, f) == (model, foreseen))


def consistency(name: str, family: str, known: Known, effort: Effort) -> Picture:
    """Draw Figures 5a and 8: how often models act on their predictions."""

    def drawn() -> Iterator[Series]:
        for game, panel in GAMES.items():
            there = _of_family(_where(known, game=game, told=TOLD_NOTHING), family)
            there = [(f, p) for f, p in there if f["level"] != "L0"]  # others do not matter there
            for model in _values(there, "model"):
                mine = _where(there, model=model)
                points = _points(mine, "strategy", list(STRATEGIES), CONSISTENT)
                yield Series(panel, short(model), points)

    return _finished(
        Picture(name, f"Action consistency, {family} series", "strategy",
                "moves that fit own predictions (share)", "dots", _series(drawn())),
        _of_family([pair for game in GAMES for pair in _where(known, game=game)], family),
    )  # fmt: skip


def injected(name: str, pooled_games: bool, known: Known, effort: Effort) -> Picture:
    """Draw Figures 5b and 9: the success of players that are told the others' moves before they
    choose. Each move they are told is wrong with probability e."""
    panels = {"both games": tuple(GAMES)} if pooled_games else {v: (k,) for k, v in GAMES.items()}

    def drawn() -> Iterator[Series]:
        for panel, games in panels.items():
            there = [(f, p) for f, p in known if f["game"] in games]
            told = [(f, p) for f, p in there if f["told"] != TOLD_NOTHING]
            for who in dict.fromkeys(_who(f) for f, _ in told):
                mine = [(f, p) for f, p in told if _who(f) == who]
                yield Series(panel, who, tuple(_by_error(mine)))
            untold = [(f, p) for f, p in there if _plain(f)]
            for model in _values(told, "model"):
                found = _estimate(_where(untold, model=model), SUCCESS)
                if found is not None:
                    ends = (point(0.0, found), point(1.0, found))
                    yield Series(panel, f"{short(model)}, not told", ends)

    return _finished(
        Picture(name, "Success when others' choices are told with errors",
                "chance that what is told is wrong", "task success (share)", "lines",
                _series(drawn()),
                "The believer is a script that acts on all it is told."),
        [(f, p) for f, p in known if f["told"] != TOLD_NOTHING],
    )  # fmt: skip


def _who(facts: Conditions) -> str:
    return short(str(facts["model"])) if "model" in facts else str(facts["player"])


def _plain(facts: Conditions) -> bool:
    """Return whether a player is zero-shot, without injection, at Level 1 or above."""
    asked = {"told": TOLD_NOTHING, "strategy": "zero_shot"}
    return asked.items() <= facts.items() and facts.get("level") != "L0"


def _by_error(known: Known) -> Iterator[Point]:
    for told in sorted(_values(known, "told"), key=lambda t: float(t.removeprefix("e="))):
        found = _estimate(_where(known, told=told), SUCCESS)
        if found is not None:
            yield point(float(told.removeprefix("e=")), found)


def by_strategy(
    name: str, title: str, y: str, game: str, measures: Mapping[str, Measure], mean: bool,
    known: Known, effort: Effort,
) -> Picture:  # fmt: skip
    """Draw Figures 6, 7a, 10 and 11: outcomes by strategy, over all models or model by model."""
    there = _where(known, game=game, player="language")
    models = _values(there, "model")

    def drawn() -> Iterator[Series]:
        for panel, mine in (
            [("mean over models" if len(models) > 1 else short("".join(models)), there)]
            if mean
            else [(short(model), _where(there, model=model)) for model in models]
        ):
            for label, measure in measures.items():
                points = _points(mine, "strategy", list(STRATEGIES), measure, mean)
                yield Series(panel, label, points)

    return _finished(Picture(name, title, "strategy", y, "dots", _series(drawn())), there)


def by_level(known: Known, effort: Effort) -> Picture:
    """Draw Figure 7b: success by level of reasoning, one series per strategy."""

    def drawn() -> Iterator[Series]:
        for game, panel in GAMES.items():
            there = _where(known, game=game, told=TOLD_NOTHING, player="language")
            for strategy, shown in STRATEGIES.items():
                mine = _where(there, strategy=strategy)
                levels = sorted(_values(mine, "level"))
                yield Series(panel, shown, _points(mine, "level", levels, SUCCESS, mean=True))

    return _finished(
        Picture("figure7b", "Success by level, mean over models", "level",
                "task success (share)", "dots", _series(drawn())),
        [pair for game in GAMES for pair in _where(known, game=game, player="language")],
    )  # fmt: skip


RATES, CLUE_SHARES = "share of games", "share of clues"
FIGURES: Mapping[str, Callable[[Known, Effort], Picture]] = {
    "figure1b": alignment,
    "figure5a": partial(consistency, "figure5a", "qwen"),
    "figure5b": partial(injected, "figure5b", True),
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
    "figure9": partial(injected, "figure9", False),
    "figure10": partial(
        by_strategy, "figure10", "Speak or wait, model by model", RATES, "toma_sw", RADIO, False,
    ),
    "figure11": partial(
        by_strategy, "figure11", "Ambiguity game, model by model", CLUE_SHARES,
        "toma_ag", CLUES, False,
    ),
}  # fmt: skip
