"""Decisions with stated beliefs as columns: imported rows, and moves of models that were probed.

A decision has the actions of its menu with their expected payoffs by the stated belief, and what
the player expects of others who choose from the same menu. In repeated games and public goods the
payoff is that of the round. Beliefs that were asked after the move are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import nan

from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.frames.clusters import table_clusters
from sally.parts.beliefs import BeliefDecision
from sally.stats.belief_measures import BeliefColumns, columns


def decisions_of(played: Played) -> Iterator[BeliefDecision]:
    """Yield the decisions of an episode for which a belief was stated before the move.

    A game declares how they are read (`BELIEFS`); other games have none.
    """
    read = registry.part(played.spec.name, "stated_beliefs")
    return iter(()) if read is None else read(played)


def belief_columns(decisions: Iterable[BeliefDecision]) -> BeliefColumns:
    """Return decisions as columns; equal names of actions share a column.

    Clusters are people or, of models, instances and recorded games; with too few of these, episodes
    are the clusters.
    """
    rows = list(decisions)
    people = [row.person for row in rows]
    places = {
        name: n for n, name in enumerate(dict.fromkeys(name for d in rows for name in d.actions))
    }

    def spread_out(actions: Sequence[str], values: Sequence[float] | None) -> list[float]:
        line = [nan] * len(places)
        for name, value in zip(actions, values or [nan] * len(actions), strict=True):
            line[places[name]] = value
        return line

    return columns(
        person=people,
        cluster=list(table_clusters([row.cluster for row in rows], people)),
        cell=[row.cell for row in rows],
        game=[row.game for row in rows],
        period=[row.period for row in rows],
        move=[places[row.actions[row.move]] for row in rows],
        payoffs=[spread_out(row.actions, row.stated_worth) for row in rows],
        expected=[spread_out(row.actions, row.expected) for row in rows],
        true_worth=[spread_out(row.actions, row.true_worth) for row in rows],
        on_menu=[[name in row.actions for name in places] for row in rows],
    )
