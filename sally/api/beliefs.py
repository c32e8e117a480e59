"""What players do with what they expect: best replies to stated beliefs, habits and contests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sally.analysis.beliefs.decisions import decisions_of
from sally.analysis.beliefs.table import BeliefSummary, belief_table
from sally.api.analyses import load
from sally.api.rows import Rows
from sally.core.errors import BadInput
from sally.frames.replays import replay_for_measures
from sally.stats.intervals import Estimate
from sally.store import Where

ESTIMATES = (
    *("acts", "acting", "constant", "constant_of_others", "usual", "last_move", "beyond_habits"),
    *("swap_person", "swap_person_gain", "swap_period", "swap_period_gain"),
    *("stakes", "doing", "doing_if_best_replied"),
)
CONTEST = (
    *("best", "best_null", "best_gain", "expected", "expected_null", "expected_gain", "usual"),
)


class BeliefRows(Rows):
    """The measures of stated beliefs: one row per source and player."""

    def __init__(self, summaries: Sequence[BeliefSummary]) -> None:
        self.summaries = tuple(summaries)
        super().__init__(map(_row, self.summaries))


def _row(summary: BeliefSummary) -> dict[str, Any]:
    row: dict[str, Any] = {
        "source": summary.source,
        "player": summary.player,
        "decisions": summary.rows,
        "people": summary.people,
        "random": summary.random,
        "habit": summary.habit,
    }
    for name in ESTIMATES:
        row |= _estimate(name, getattr(summary, name))
    row["contests"] = summary.contest.rows if summary.contest is not None else 0
    for name in CONTEST:
        estimate = None if summary.contest is None else getattr(summary.contest, name)
        row |= _estimate(f"contest_{name}", estimate)
    return {**row, "notes": list(summary.notes)}


def _estimate(name: str, estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return {name: None, f"{name}_interval": None}
    return {name: estimate.value, f"{name}_interval": estimate.interval}


def beliefs(*stores: Where) -> BeliefRows:
    """Return what players did with the beliefs that they had stated.

    The stores may hold imported decisions (`sally import beliefs`, and the importers of papers with
    stated beliefs) and episodes in which players of repeated games or public goods were asked for
    predictions before they moved.

    Args:
        *stores: Stores or bundles.

    Returns:
        One row per source and player: the share of moves that are best replies to the player's own
        beliefs (`acts`), the same for a random player and for habits, for beliefs of other people
        and of other periods, and contests, in which no best reply is the move that the player
        expects of most others.

    Raises:
        BadInput: If there is no store at a place, or no player stated a belief before a move.
    """
    decisions = [
        decision
        for place in stores
        for episode in load(place)
        for decision in decisions_of(replay_for_measures(episode))
    ]
    if not decisions:
        raise BadInput(
            "The stores hold no decision with a belief stated before it; `sally import beliefs` "
            "imports such decisions, and studies of rps, ibs or ipd with probes have them."
        )
    return BeliefRows(belief_table(decisions))
