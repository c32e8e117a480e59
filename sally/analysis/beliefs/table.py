"""One table of players who stated beliefs: best replies, habits, and contests between a best reply
and what the player expects of others."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from sally.analysis.beliefs.decisions import belief_columns
from sally.parts.beliefs import BeliefDecision
from sally.stats import belief_measures as measures
from sally.stats.belief_measures import BeliefColumns, Contest, share
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.columns import Floats
from sally.stats.intervals import Estimate, without_interval

LEAST = 0.05  # of 1: if a habit leaves less than this to explain, there is no scale
SAME_REPLY = "the best reply is the same whatever is believed"
NO_CONTEST = (
    "every best reply is a move expected of others, so best replies and matching others are not "
    "separable"
)
HABIT_FITS = "a habit fits the stated beliefs nearly always, so acting and habit are not separable"
NOT_ASKED = "no belief about others' choice from the same menu"


class BeliefSummary(msgspec.Struct, frozen=True):
    """The measures of one player in one source."""

    source: str
    player: str
    rows: int  # decisions with a defined best reply
    people: int  # people, or episodes of a model
    acts: Estimate
    random: float | None
    acting: Estimate
    constant: Estimate  # always the best single action of the game
    constant_of_others: Estimate  # the best single action by the beliefs of the other players
    usual: Estimate  # the mode of the player's other moves
    last_move: Estimate
    habit: str  # the habit that fits the stated beliefs best
    beyond_habits: Estimate  # acts from 0 (that habit) to 1
    swap_person: Estimate
    swap_person_gain: Estimate
    swap_period: Estimate
    swap_period_gain: Estimate
    contest: Contest | None
    stakes: Estimate
    doing: Estimate
    doing_if_best_replied: Estimate
    notes: tuple[str, ...] = ()


def belief_table(decisions: Iterable[BeliefDecision]) -> list[BeliefSummary]:
    """Return one summary per source and player."""
    groups: dict[tuple[str, str], list[BeliefDecision]] = {}
    for decision in decisions:
        groups.setdefault((decision.source, decision.player), []).append(decision)
    return [summary(source, player, rows) for (source, player), rows in sorted(groups.items())]


def summary(source: str, player: str, decisions: list[BeliefDecision]) -> BeliefSummary:
    """Return the measures of one player's decisions."""
    table = measures.keep_judged(belief_columns(decisions))
    depends = any(decision.decides for decision in decisions)
    blank = without_interval(None, 0, "t", SAME_REPLY if len(table) else measures.NO_ROWS)
    habits = {
        "constant": measures.constant(table),
        "usual": measures.usual(table),
        "last move": measures.last_move(table),
    }
    fits = {name: share(values, table.cluster) for name, values in habits.items()}
    complete = {name: fit for name, fit in fits.items() if fit.n == len(table) and fit.n}
    habit = max(complete, key=lambda name: complete[name].value or 0.0, default="")
    acts, swapped = measures.acts(table), measures.swap_person(table)
    other_periods = measures.swap_period(table)
    has_peers = bool(len(table)) and bool(measures.largest(table.expected).any())
    is_contested = has_peers and bool(measures.find_contests(table).any())
    notes = [] if depends or not len(table) else [SAME_REPLY]
    if len(table) and not is_contested:
        notes.append(NO_CONTEST if has_peers else NOT_ASKED)
    judged = depends and len(table) > 0
    if judged and habit and 1 - (complete[habit].value or 0.0) < LEAST:
        notes.append(HABIT_FITS)
    return BeliefSummary(
        source,
        player,
        len(table),
        len(np.unique(table.person)),
        share(acts, table.cluster) if judged else blank,
        float(measures.chance(table).mean()) if judged else None,
        measures.acting(table) if judged else blank,
        fits["constant"] if judged else blank,
        share(measures.constant_of_others(table), table.cluster) if judged else blank,
        fits["usual"] if judged else blank,
        fits["last move"] if judged else blank,
        habit if judged else "",
        beyond(table, acts, habits[habit]) if judged and habit else blank,
        share(swapped, table.cluster) if judged else blank,
        measures.difference(acts, swapped, table.cluster) if judged else blank,
        share(other_periods, table.cluster) if judged else blank,
        measures.difference(acts, other_periods, table.cluster) if judged else blank,
        measures.contest(table) if is_contested else None,
        measures.stakes(table) if judged else blank,
        measures.doing(table),
        measures.doing_if_best_replied(table) if judged else blank,
        tuple(notes),
    )


def beyond(table: BeliefColumns, acts: Floats, habit: Floats) -> Estimate:
    """Return acts on a scale from 0 (the habit) to 1 (always a best reply)."""
    unexplained = 1 - float(habit.mean())
    if unexplained < LEAST:
        return without_interval(None, len(table), "t", "the habit leaves nothing to explain")
    return ratio_by_rule(acts - habit, 1 - habit, table.cluster)
