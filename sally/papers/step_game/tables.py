"""Tables of step_game: our published figures of the full record, and the same figures recomputed
from imported games."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sally.analysis.episodes.paper_store import Conditions, Known
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.step_race.rules import SEATS
from sally.output.tables.layout import Column, Layout, Stub
from sally.output.tables.reproduce import Engine
from sally.papers.step_game import figures
from sally.papers.step_game.figures import SeatGame
from sally.papers.step_game.importer import SOURCE
from sally.papers.step_game.names import rewritten
from sally.stats.intervals import Estimate

DOING = {"win_doing": "doing_win", "steps_doing": "doing_steps"}
"""Published names of our metrics. With its registered name, a metric's range would be the unit of
the equality test, and doing ranges far below 0."""
HEADINGS = {
    "win_doing": "win doing",
    "steps_doing": "steps doing",
    "promise_kept": "kept",
    "broken_upwards": "broken upwards",
    "free_taken": "free taken",
    "collides_with_truthful": "hits truthful",
}


def facts(played: Played) -> Conditions | None:
    """Return the conditions of an imported game; None if it was not imported."""
    source = played.episode.used.get("source")
    if not isinstance(source, Mapping) or source.get("source") != SOURCE:
        return None
    return {"source": "step_game"}


@lru_cache(maxsize=1)
def _seats(games: Known) -> list[SeatGame]:
    return figures.seat_games(played for _, played in games)


@lru_cache(maxsize=1)
def _findings(games: Known) -> dict[str, Estimate | None]:
    return figures.findings(_seats(games))


@lru_cache(maxsize=1)
def _ratings(games: Known) -> dict[str, Estimate]:
    return figures.rating(_seats(games)).ratings


@lru_cache(maxsize=1)
def _models(games: Known) -> dict[str, list[SeatGame]]:
    return figures.models(_seats(games))


def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
    """Return a table value computed from the imported games; a published model is matched by its
    raw name."""
    if "rule" in row:
        rule = figures.rules()[str(row["rule"])]
        return figures.mindless(_seats(games), rule, DOING[metric])
    if "figure" in row:
        return _findings(games).get(str(row["figure"]))
    raw = model or str(row["model"])
    model_seats = _models(games).get(raw)
    if model_seats is None:
        return None
    if metric == "n":
        return Estimate(float(len(model_seats)), None, None, len(model_seats), "count")
    if metric == "rating":
        return _ratings(games)[raw]
    if metric == "win_share":
        return figures.win_share(model_seats)
    return figures.measure(model_seats, DOING.get(metric, metric))


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why a model is left out of our measures of talk; None if it is not."""
    if metric in figures.TALK and rewritten(str(row.get("model", ""))):
        return "its messages were rewritten by another model, so measures of talk leave it out"
    return None


MODELS = Layout(
    ("model",),
    (Stub("Model (raw name)", lambda row: str(row["model"])),),
    (
        Column("games", "n", places=0),
        Column("win share", "win_share"),
        *(Column(heading, metric) for metric, heading in HEADINGS.items()),
        Column("rating", "rating"),
    ),
)
MINDLESS = Layout(
    ("rule",),
    (Stub("Rule", lambda row: str(row["rule"])),),
    tuple(Column(HEADINGS[metric], metric) for metric in DOING),
)
FINDINGS = Layout(
    ("figure",), (Stub("Figure", lambda row: str(row["figure"])),), (Column("value", "value"),)
)

ENGINE = Engine(
    None,
    {},
    Seat(SEATS[0]),
    facts,
    tabulates,
    cannot=cannot,
    brings=lambda table, row: "sally import step_game CHECKOUT",
    of_setup=True,
    layouts={"mindless": MINDLESS, "findings": FINDINGS, "models": MODELS},
)
