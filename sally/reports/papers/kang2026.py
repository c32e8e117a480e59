"""kang2026 again: every figure of its tables is a model's, so ours are measured on episodes.

The paper's scenarios are not public; ours are generated anew under the same rules, so a model's
figures may differ even if the model is the same. Totals over levels are means over scenarios.
Not to be had: RecToM is no game of ours, the prisoner's dilemma has no definition of success,
and a gain is the difference of two figures that stand beside it.
"""

from __future__ import annotations

from sally.core.game import Seat
from sally.core.metric import Played
from sally.games.toma.mg import Minority
from sally.games.toma.po import PartlySeen
from sally.reports.reproduce import Conditions, Effort, Engine
from sally.stats.intervals import Estimate

PLAYER = Seat("player")
STRATEGIES = {"self_consistency": "sc", "qa": "zero_shot"}  # ours -> as the tables have it
METRICS = {"task_success": "task_success_published", "tom_accuracy": "tom_accuracy_published"}


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """No figure of these tables can be had without a language model."""
    return None


def facts(played: Played) -> Conditions | None:
    """What an episode is, in the words of the tables; None if it is not the paper's condition."""
    setup, game = played.episode.setup, played.replay.game
    if not isinstance(game, PartlySeen | Minority) or not isinstance(game.scenario, str):
        return None
    if setup.injections or (isinstance(game, PartlySeen) and game.matrix != "full"):
        return None
    who = setup.lineup[PLAYER]
    if who.player != "language":
        return None
    strategy = str(who.params.get("strategy", "qa"))
    return {
        "game": setup.instance.game,
        "model": str(who.params.get("model", "embedded")),
        "strategy": STRATEGIES.get(strategy, strategy),
        "level": f"L{game.problem.level}",
    }


ENGINE = Engine(computes, METRICS, PLAYER, facts)
