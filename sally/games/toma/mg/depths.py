"""Reasoners of limited depth in the minority game, and the depth that an answer needs.

An agent of depth 0 acts on its own wishes only and ignores the agents that it follows or avoids. An
agent of depth k assumes that those agents have depth k - 1. A player of depth k predicts every
agent at depth k - 1 and takes the place predicted to be emptiest; a player of depth 0 makes no
predictions, so it is indifferent between all places. If an agent's predicted place is not unique,
the agent is split among the tied places, and relations to it are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

from sally.games.toma.mg.rules import PLACES, Profile, Scenario, best_places, profiles
from sally.games.toma.mg.shortcuts import smallest_counts, tally

DEEPEST = 3  # of an answer at the deepest level


def places_at(listed: Sequence[Profile], depth: int) -> list[tuple[int, ...]]:
    """Return the place, or the equally good places, to which each agent of this depth goes."""
    places = [best_places(profile, {}) for profile in listed]
    for _ in range(depth):
        gone = {agent: best[0] for agent, best in enumerate(places) if len(best) == 1}
        places = [best_places(profile, gone) for profile in listed]
    return places


def emptiest_at(listed: Sequence[Profile], depth: int) -> tuple[int, ...]:
    """Return the places that a player of this depth predicts to be emptiest.

    Raises:
        ValueError: The depth is below 0.
    """
    if depth < 0:
        raise ValueError(f"A depth of reasoning must be at least 0, not {depth}.")
    if depth == 0:
        return tuple(PLACES)
    return tuple(smallest_counts(tally(places_at(listed, depth - 1), split=True)))


def answers_by_depth(scenario: Scenario) -> tuple[tuple[int, ...], ...]:
    """Return the places that players of depth 0 to DEEPEST predict to be emptiest."""
    listed = profiles(scenario)
    return tuple(emptiest_at(listed, depth) for depth in range(DEEPEST + 1))
