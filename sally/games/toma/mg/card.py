"""Baseline players of the minority game (its card): counting rules and their inverses, by level.

The rules `anchors` and `no_leaves` are not shortcuts: each carries out half of the solution. They
are therefore tested in separate conditions, for which no chance level is stated (see
`sally.games.toma.mg.shortcuts`).
"""

from __future__ import annotations

from collections.abc import Iterable

from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut
from sally.games.toma.mg.game import frozen_scenarios
from sally.games.toma.mg.shortcuts import EVEN, PARTIAL, counters
from sally.games.toma.mg.surface import attacks

SOLVING = (*PARTIAL, "one_step")  # part of the reasoning that the level asks for


def _condition(name: str, level: int, rules: Iterable[str], chance: dict[str, float]) -> Condition:
    return Condition(
        name=name,
        instances=tuple(
            instance("toma_mg", scenario.id, scenario=scenario.id, level=level)
            for scenario in frozen_scenarios().values()
            if scenario.level == level
        ),
        seat="player",
        shortcuts=tuple(
            Shortcut(player_spec(f"least_{r}"), player_spec(f"most_{r}"), r in SOLVING)
            for r in rules
        ),
        metrics=("task_success",),
        chance=chance,
    )


CARD = Card(
    family="toma_mg",
    no_ideal="no partner plays: the scenario determines what the agents do",
    about="scores of counting rules on the frozen scenarios of kang2026's second game",
    conditions=(
        *(
            _condition(f"level {n}", n, (*EVEN, *counters(n)), {"task_success": 0.25})
            for n in (1, 2, 3)
        ),
        *(_condition(f"level {n}, half of the solution", n, PARTIAL, {}) for n in (2, 3)),
    ),
    attacks=tuple(attacks()),
)
