"""Baseline players of elicitation (its card): always the same place on the menu.

What pays most depends on what the others did, so each problem has another one in which the opposite
action pays most.
"""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance
from sally.core.registry.study import instance
from sally.core.rules.card import Card, Condition, both_ways

METRICS = ("earned", "earned_regret")
COST, WORKS, CAUGHT = 15, 40, 30


def _inspection(truth: str) -> Instance:
    question: dict[str, Any] = {
        "ask": "works",
        "options": ["work", "shirk"],
        "kind": "odds",
        "truth": truth,
        "about": "the other",
        "bears": "payoff",
    }
    return instance(
        "elicitation",
        f"elicitation: {truth}",
        menu=["inspect", "not inspect"],
        pays={"kind": "inspection", "cost": COST, "works": WORKS, "caught": CAUGHT},
        questions=[question],
    )


CARD = Card(
    family="elicitation",
    about="the first and the second action, where a worker and a shirker are equally frequent",
    unattacked="nothing is generated: what pays depends on the others alone, and one action is "
    "best for each of the two",
    no_ideal="a single decision leaves nothing to learn",
    conditions=(
        Condition(
            name="elicitation: inspection of a worker and a shirker",
            instances=(_inspection("work"), _inspection("shirk")),
            seat="player",
            shortcuts=(both_ways("constant", place=0),),
            metrics=METRICS,
        ),
    ),
)
