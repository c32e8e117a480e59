"""Baseline players of the partially observable game (its card): simple rules and their inverses.

Some rules cannot be balanced by any generator (see `sally.games.toma.po.shortcuts`): at level 1 the
player's most expensive task is never right, and `spare_task` is the required reasoning applied to
one agent too many; at level 4 `worst_placed` stays below chance. At level 0, taking the cheapest
task *is* the stated rule.
"""

from __future__ import annotations

from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut, both_ways
from sally.games.toma.po.game import frozen_scenarios
from sally.games.toma.po.surface import attacks

PAIRS = (
    ("own_min", "own_max"),
    ("own_second", "own_third"),
    ("middle_cost", "extreme_cost"),
    ("smallest_cost", "largest_cost"),
    ("most_popular", "least_popular"),
    ("most_popular_known", "least_popular_known"),
    ("stranger_min", "stranger_max"),
    ("best_placed", "worst_placed"),
)
# what a shortcut should score: the share of one kind of right answer
CHANCE = {1: 0.25, 2: 0.2, 3: 0.25, 4: 0.25}


def _condition(level: int) -> Condition:
    return Condition(
        name=f"level {level}",
        instances=tuple(
            instance("toma_po", scenario.id, scenario=scenario.id, level=level)
            for scenario in frozen_scenarios().values()
            if scenario.level == level
        ),
        seat="player",
        shortcuts=(
            *(Shortcut(player_spec(rule), player_spec(inverse)) for rule, inverse in PAIRS),
            both_ways("spare_task", partial=True),  # the reasoning asked for, one agent too far
            both_ways("mission_failure"),
        ),
        metrics=("task_success",),
        chance={"task_success": CHANCE[level]} if level in CHANCE else {},
    )


CARD = Card(
    family="toma_po",
    no_ideal="no partner plays: the scenario determines what the agents do",
    about="scores on the frozen scenarios of kang2026's first game without predicting anyone",
    conditions=tuple(_condition(level) for level in range(5)),
    attacks=tuple(attacks()),
)
