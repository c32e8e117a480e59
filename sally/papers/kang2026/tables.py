"""Tables of kang2026, measured on episodes: all published figures are for language models.

The paper's scenarios are not public; ours are generated under the same rules, so a model's figures
may differ even if the model is the same. Totals over levels are means over scenarios. Runs of one
scenario are dependent, so intervals resample whole scenarios. The paper does not break ToM
accuracy down by strategy, so ours is computed over the probes of all strategies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from sally.analysis.episodes.paper_store import TOTAL, same_model
from sally.core.log.events import PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.clusters import table_clusters
from sally.games.toma.ag.game import Ambiguity
from sally.games.toma.mg.game import Minority
from sally.games.toma.po.game import PartlySeen
from sally.games.toma.sw.rules import SpeakOrWait
from sally.output.tables.reproduce import Conditions, Engine, Known
from sally.papers.kang2026.figures import FIGURES
from sally.papers.kang2026.layout import LAYOUTS
from sally.papers.kang2026.study import WORLDS
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate

PLAYER = Seat("player")
FIRST_SEATS = ("player", "guide", "speaker")  # seats of the tested model
STRATEGIES = {"self_consistency": "sc", "qa": "zero_shot"}  # our name -> the tables' name
METRICS = {"task_success": "task_success_published", "tom_accuracy": "tom_accuracy_published"}
GAIN = "gain_over_zero_shot"
UNTOLD = "nothing"


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why a table value can never be computed; None if it can."""
    if row.get("game") == "rectom":
        return "RecToM is a benchmark of recommendations, not a game of Sally's"
    if row.get("game") == "ipd":
        return "the paper does not say what success is in the prisoner's dilemma"
    return None


# --- what an episode is ---------------------------------------------------------------------------


def facts(played: Played) -> Conditions | None:
    """Return an episode's conditions in the tables' terms; None if they do not occur in the
    paper."""
    setup, game = played.episode.setup, played.replay.game
    if not _is_theirs(game, setup):
        return None
    player = next(setup.lineup[seat] for seat in FIRST_SEATS if seat in setup.lineup)
    conditions: dict[str, str | int] = {
        "game": setup.instance.game,
        "player": player.player,
        "told": _injection_error(setup),
    }
    if isinstance(game, PartlySeen | Minority):
        conditions["level"] = f"L{game.problem.level}"
    return conditions | _of_model(player) if player.player == "language" else conditions


def _of_model(player: PlayerSpec) -> dict[str, str | int]:
    strategy = str(player.params.get("strategy", "qa"))
    conditions: dict[str, str | int] = {
        "model": str(player.params.get("model", "embedded")),
        "strategy": STRATEGIES.get(strategy, strategy),
    }
    for param in ("pack", "settings", "with_"):
        if player.params.get(param):
            conditions[param] = msgspec.json.encode(player.params[param], order="sorted").decode()
    return conditions


def _injection_error(setup: Setup) -> str:
    """Return the probability with which an injected move of another player is wrong, in the form
    `e=0.1`, or `UNTOLD` if no moves are injected."""
    return f"e={setup.injections[0].error:g}" if setup.injections else UNTOLD


def _is_theirs(game: Any, setup: Setup) -> bool:
    """Return whether the paper uses the game with these parameters and this lineup."""
    match game:
        case PartlySeen():
            return isinstance(game.scenario, str) and game.matrix == "full"
        case Minority():
            return isinstance(game.scenario, str)
        case SpeakOrWait():
            team = setup.lineup["guide"] == setup.lineup["explorer"]
            return game.win == "after_open" and team and _is(setup, "eavesdropper", WORLDS)
        case Ambiguity():
            return True
    return False  # including the prisoner's dilemma, of which nothing can be compared


def _is(setup: Setup, seat: str, player: PlayerSpec) -> bool:
    seated = setup.lineup[seat]
    return (seated.player, seated.params) == (player.player, player.params)


def completes(row: Conditions) -> Conditions:
    """Return the conditions of a row with two defaults: the player is a language model, and it is
    given no injected information."""
    return {"player": "language", "told": UNTOLD, **row}


LEVELS = {"toma_po": ("L0", "L1", "L2", "L3", "L4"), "toma_mg": ("L1", "L2", "L3")}


def uneven(row: Conditions, games: Sequence[Conditions]) -> str | None:
    """Return a note if a total pools difficulty levels with different numbers of episodes, else
    None."""
    levels = LEVELS.get(str(row.get("game")), ())
    if row.get("level", TOTAL) != TOTAL:
        return None
    counts = [sum(facts["level"] == level for facts in games) for level in levels]
    if "strategy" not in row:  # ToM accuracy is about others; Level 0 has no such probe
        counts = [n for level, n in zip(levels, counts, strict=True) if level != "L0"]
    if len(set(counts)) <= 1:
        return None
    counts_text = ", ".join(f"{level}: {n}" for level, n in zip(levels, counts, strict=False))
    return f"levels were not met equally often ({counts_text})"


# --- gains ------------------------------------------------------------------------------------


def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
    """Return the gain of a strategy over zero-shot on the same scenarios and runs."""
    if metric != GAIN or cannot(row, metric):
        return None
    strategy_successes, plain = (
        _successes({**completes(row), "strategy": strategy}, games, model)
        for strategy in (row["strategy"], "zero_shot")
    )
    shared_keys = [key for key in strategy_successes if key in plain]
    if not shared_keys:
        return None
    scenarios = [str(key[0]) for key in shared_keys]
    gains = [strategy_successes[key] - plain[key] for key in shared_keys]
    return mean_by_rule(gains, table_clusters(scenarios, range(len(gains))), (-1, 1))


def _successes(row: Conditions, games: Known, model: str | None) -> dict[Any, float]:
    """Return success by scenario and run."""
    successes: dict[Any, float] = {}
    for facts, played in games:
        if not _meets(facts, row, model):
            continue
        measure = registry.metrics(played.spec.name)["task_success_published"].measure
        setup, success = played.episode.setup, measure(played, PLAYER)
        if success is not None:
            successes[setup.instance.id, setup.repeat] = success
    return successes


def _meets(facts: Conditions, row: Conditions, model: str | None) -> bool:
    if not same_model(str(facts.get("model")), str(model or row["model"])):
        return False
    return all(v == TOTAL or facts.get(k) == v for k, v in row.items() if k != "model")


ENGINE = Engine(
    None,
    METRICS,
    PLAYER,
    facts,
    tabulates=tabulates,
    exact={"task_success": "task_success"},
    completes=completes,
    cannot=cannot,
    uneven=uneven,
    of_setup=True,
    pools=frozenset({"level", "strategy"}),
    layouts=LAYOUTS,
    figures=FIGURES,
)
