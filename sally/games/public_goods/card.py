"""Baseline players of public goods (its card): fixed contributions, with every kind of partner.

In a single round, giving nothing is best whatever the others do, so a mindless rule is right
against partners that give nothing, or everything, unconditionally. Partners that react repay
contributions. No fixed contribution is best in all conditions, and only past rounds reveal the
condition.
"""

from __future__ import annotations

from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut

METRICS = ("earned_per_round", "own_regret")
TOKENS = 20
SHORTCUTS = (
    Shortcut(player_spec("constant", place=0), player_spec("constant", place=TOKENS)),
    Shortcut(player_spec("constant", place=5), player_spec("constant", place=15)),
)
PARTNERS = {
    "free riders": player_spec("free_rider"),
    "givers": player_spec("giver"),
    "conditional cooperators": player_spec("conditional_cooperator"),
    "matchers": player_spec("matcher"),
    "thresholds": player_spec("threshold"),
}

CARD = Card(
    family="public_goods",
    about="fixed contributions against free riders, givers and conditional cooperators",
    unattacked="nothing is generated: what pays depends on the partners alone, which the "
    "conditions take in turn",
    conditions=tuple(
        Condition(
            name=f"public_goods: {name}",
            instances=(instance("public_goods"),),
            seat="player_1",
            others={f"player_{n}": player for n in (2, 3, 4)},
            shortcuts=SHORTCUTS,
            metrics=METRICS,
        )
        for name, player in PARTNERS.items()
    ),
)
