"""Tables of tang2024: figures of models come from stored episodes, those of mindless managers are
computed.

The authors' sixty games are not published; ours come from the same generator with another seed, so
the scores of one model on both sets differ by the sampling error of sixty games.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

from sally.analysis.compare.published_figures import load, select_figures, table
from sally.analysis.episodes.paper_store import pool_mean, same_model, short
from sally.core.registry import registry
from sally.core.rules.metric import ENDS, Played
from sally.games.pick_the_right_stuff.generate_published import published_games
from sally.games.pick_the_right_stuff.rules import MANAGER, LockerGame
from sally.games.pick_the_right_stuff.rules_of_thumb import RULES_OF_THUMB, game_score
from sally.output.figures.paper_figures import Picture, Point, Series, point
from sally.output.tables.layout import Column, Layout, Stub
from sally.output.tables.reproduce import Conditions, Effort, Engine, Known
from sally.papers.tang2024.study import GAMES, TEMPERATURE, USERS
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate, exact
from sally.stats.paired_differences import paired_difference

Mode = Literal["zero", "finite"]
SETTINGS = {"games": GAMES, "users": USERS, "temperature": TEMPERATURE}
MODES: tuple[Mode, Mode] = ("zero", "finite")
MINDLESS = ("start", "true", "last_seen", "random")
EVERY = "all"  # the mean over the models of a run
GAP = "zero minus finite"

PERCENT = ENDS["%"]

# --- what needs no model --------------------------------------------------------------------------


def mindless(rule: str, mode: Mode, effort: Effort) -> Estimate:
    """Return the mean score of a rule of thumb over games of the published generator."""
    together = MINDLESS if rule in MINDLESS else (rule,)
    return lone_by_rule(list(_scores(together, mode, effort)[rule]), PERCENT)


@lru_cache(maxsize=16)
def _scores(rules: tuple[str, ...], mode: Mode, effort: Effort) -> dict[str, tuple[float, ...]]:
    """Return the scores of several rules on the same games; all rules share the games, because
    drawing a game takes longer than scoring it."""
    played = published_games(mode, USERS, effort.repeats, effort.seed)
    by_game = [[game_score(game, RULES_OF_THUMB[rule]) for rule in rules] for game in played]
    return dict(zip(rules, zip(*by_game, strict=True), strict=True))


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a table value that needs no language model; None for all other values."""
    if metric in SETTINGS:
        return exact(SETTINGS[metric])
    rule, mode = str(row.get("player")), row.get("belief_history")
    if metric != "score" or rule not in RULES_OF_THUMB:
        return None
    return mindless(rule, "zero" if mode == "zero" else "finite", effort)


# --- episodes -------------------------------------------------------------------------------------


def facts(played: Played) -> Conditions | None:
    """Return an episode's conditions in the tables' terms; None if they do not occur in the
    paper."""
    setup, game = played.episode.setup, played.replay.game
    manager = setup.lineup.get(MANAGER)
    if not isinstance(game, LockerGame) or manager is None or not _is_theirs(game):
        return None
    if manager.player != "language" or manager.params.get("strategy") != "chat":
        return None
    settings = msgspec.json.encode(manager.params.get("settings") or {}, order="sorted").decode()
    return {
        "model": str(manager.params.get("model")),
        "belief_history": game.mode,
        "settings": settings,
    }


def _is_theirs(game: LockerGame) -> bool:
    """Return whether a game is from the stored published set: five users, in the authors'
    wording."""
    frozen = game.problem is None and game.generator_seed is None
    settings = (game.generator, game.users, game.wording)
    return frozen and game.mode != "infinite" and settings == ("published", USERS, "published")


def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
    """Return a value that summarises all models; None for other rows, or if a model has no episodes
    yet."""
    if row.get("model") != EVERY:
        return None
    names = {str(f.row["model"]) for f in table(load("tang2024"), "first_run").rows} - {EVERY}
    means = {name: [_mean(games, name, mode) for mode in MODES] for name in names}
    if any(None in pair for pair in means.values()):
        return None
    zero, finite = ([pair[index] or 0.0 for pair in means.values()] for index in (0, 1))
    if metric == "score_difference":
        return paired_difference(zero, finite)
    return lone_by_rule(zero if row["belief_history"] == "zero" else finite, PERCENT)


def _mean(games: Known, model: str, mode: Mode) -> float | None:
    score = _score(games, model, mode)
    return None if score is None else score.value


def _score(games: Known, model: str, mode: Mode) -> Estimate | None:
    """Return the mean score of one model in one of the paper's conditions, which are called zero
    and finite belief history."""
    model_games = [
        p for f, p in games if f["belief_history"] == mode and same_model(str(f["model"]), model)
    ]
    measure = registry.metrics("pick_the_right_stuff")["score_published"].measure
    scores = [(measure(p, MANAGER), p.episode.setup.instance.id) for p in model_games]
    known_scores = [(score, id) for score, id in scores if score is not None]
    return (
        pool_mean([s for s, _ in known_scores], [id for _, id in known_scores], PERCENT)
        if known_scores
        else None
    )


# --- layout ---------------------------------------------------------------------------------------


def _model(row: Conditions) -> str:
    if "player" in row:
        return f"no mind: {row['player']}"
    return "all models" if row["model"] == EVERY else str(row["model"])


def _layout(extra: tuple[Column, ...] = ()) -> Layout:
    columns = tuple(
        Column(mode.capitalize(), "score", {"belief_history": mode}, "Belief history", 2)
        for mode in MODES
    )
    return Layout(("model", "player"), (Stub("Model", _model),), (*columns, *extra))


LAYOUTS = {
    "first_run": _layout((Column("Difference", "score_difference", places=2),)),
    "rerun": _layout(),
}


def figure6(games: Known, effort: Effort) -> Picture:
    """Draw the paper's bars, whose heights the authors released, next to ours."""
    published = select_figures(table(load("tang2024"), "first_run"), "score")
    heights: dict[str, list[Point]] = {}
    for figure in published:
        if figure.row["model"] != EVERY:
            name, mode = f"{figure.row['model']}, published", str(figure.row["belief_history"])
            heights.setdefault(name, []).append(Point(mode, figure.value, None, GAMES))
    for model in dict.fromkeys(str(f["model"]) for f, _ in games):
        scores = [(mode, _score(games, model, mode)) for mode in MODES]
        heights[short(model)] = [point(mode, score) for mode, score in scores if score is not None]
    for rule in MINDLESS[:2]:
        heights[f"no mind: {rule}"] = [point(m, mindless(rule, m, effort)) for m in MODES]
    return Picture(
        name="figure6",
        title="Mean score by model and belief history",
        x="belief history",
        y="mean score (%)",
        kind="dots",
        series=tuple(Series("Pick the Right Stuff", k, tuple(v)) for k, v in heights.items()),
        places=2,
        limits=(0.0, 100.0),
        missing=None if games else "not run",
    )


ENGINE = Engine(
    computes,
    {"score": "score_published"},
    MANAGER,
    facts,
    tabulates=tabulates,
    of_setup=True,
    exact={"score": "score"},
    layouts=LAYOUTS,
    figures={"figure6": figure6},
    beside={
        "first_run": tuple(
            ({"player": rule, "belief_history": mode}, "score")
            for rule in MINDLESS
            for mode in MODES
        )
    },
)
