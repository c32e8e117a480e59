"""Card of TradeCraft: the success of players that ignore the other player's target.

There is no fixed chance score, because the value of a trade depends on the hands. Instead, mindless
players should differ from each other only by chance. The card shows both extremes: taking without
giving, and giving without taking.
"""

from __future__ import annotations

from sally.core.registry.study import player_spec
from sally.core.rules.card import Card, Condition, Shortcut
from sally.games.tradecraft.problems import problems

FAMILY = "tradecraft"
SETS = (
    ("minecraft_core", "minecraft_core_2p_2"),
    ("alchemy", "alchemy_2p"),
    ("invented", "invented_2p"),
)


def _condition(name: str, instances: str, partner: str) -> Condition:
    return Condition(
        name=name,
        instances=problems(instances),
        seat="p1",
        shortcuts=(Shortcut(player_spec("hoarder"), player_spec("generous")),),
        metrics=("reward", "win"),
        others={"p2": player_spec(partner)},
    )


CARD = Card(
    family=FAMILY,
    no_ideal="no optimum is known even against a known trader, because an offer depends on "
    "all later trades",
    about="earnings of traders that ignore what the other wants",
    unattacked="no single offer is right: what a trade earns depends on the other's plan and "
    "later turns",
    conditions=tuple(
        _condition(f"{rules}, against {partner}", name, partner)
        for rules, name in SETS
        for partner in ("zero_order", "first_order")
    ),
)
