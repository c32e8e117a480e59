"""Baseline players of bargaining (its card): fixed quotes, simple habits, and their inverses.

Messages are off, because players with fixed habits do not use them. Values are drawn anew in every
episode. A fixed quote may do well against a partner that does not react; that is a property of the
partner and not a shortcut that the set of problems allows. Against partners that react
(`responsive`, `splitter`) it must not do well.
"""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut, both_ways

METRICS = ("doing_optimum", "optimum_regret", "doing_hindsight", "surplus_share")
SHORTCUTS = (
    Shortcut(player_spec("truthful"), player_spec("beyond_limit")),
    Shortcut(player_spec("one_quarter"), player_spec("three_quarters")),
    both_ways("half"),
    both_ways("fifty_capped"),
    Shortcut(player_spec("copy_last_capped"), player_spec("away_from_last")),
    both_ways("zero_then_last"),
    both_ways("split_own_and_last"),
    Shortcut(player_spec("concede_1"), player_spec("harden_1")),
)
ACROSS = {
    "truthful": player_spec("truthful"),
    "clock": player_spec("clock"),
    "responsive": player_spec("responsive"),
    "splitter": player_spec("splitter"),
    "liar": player_spec("liar"),
}
SILENT = instance("bargaining", "bargaining-silent", talk="none")


def _condition(seat: str, across: str, name: str, partner: PlayerSpec) -> Condition:
    shortcuts = tuple(pair for pair in SHORTCUTS if partner not in (pair.rule, pair.inverse))
    return Condition(
        name=f"{seat} against {name}",
        instances=(SILENT,),
        seat=seat,
        shortcuts=shortcuts,
        metrics=METRICS,
        others={across: partner},
    )


CARD = Card(
    family="bargaining",
    about="fixed quotes and habits against partners that declare how they quote",
    unattacked="values are dealt from a stated lottery and nothing else is generated; which quote "
    "is right depends on the partner across the table, which the conditions take in turn",
    conditions=tuple(
        _condition(seat, across, name, player)
        for seat, across in (("buyer", "seller"), ("seller", "buyer"))
        for name, player in ACROSS.items()
    ),
)
