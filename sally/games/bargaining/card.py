"""The card of bargaining: fixed quotes and habits against declared partners, both ways round.

Nothing is said here: talk cannot help a habit. Values are dealt anew in every episode. What is
fixed may do well against a partner that does not react, which is a fact about that partner and no
shortcut of the set; against partners that react (`responsive`, `splitter`) it must not.
"""

from __future__ import annotations

from sally.core.card import Card, Condition, Shortcut, both_ways
from sally.core.log import Sitter
from sally.core.study import instance, sitter

METRICS = ("doing_optimum", "optimum_regret", "doing_hindsight", "surplus_share")
SHORTCUTS = (
    Shortcut(sitter("truthful"), sitter("beyond_limit")),
    Shortcut(sitter("one_quarter"), sitter("three_quarters")),
    both_ways("half"),
    both_ways("fifty_capped"),
    Shortcut(sitter("copy_last_capped"), sitter("away_from_last")),
    both_ways("split_own_and_last"),
    Shortcut(sitter("concede_1"), sitter("harden_1")),
)
ACROSS = {
    "truthful": sitter("truthful"),
    "clock": sitter("clock"),
    "responsive": sitter("responsive"),
    "splitter": sitter("splitter"),
    "liar": sitter("liar"),
}
SILENT = instance("bargaining", "bargaining-silent", talk="none")


def _condition(seat: str, across: str, name: str, who: Sitter) -> Condition:
    shortcuts = tuple(pair for pair in SHORTCUTS if who not in (pair.rule, pair.inverse))
    return Condition(
        name=f"{seat} against {name}",
        instances=(SILENT,),
        seat=seat,
        shortcuts=shortcuts,
        metrics=METRICS,
        others={across: who},
    )


CARD = Card(
    family="bargaining",
    about="fixed quotes and habits against partners that declare how they quote",
    unattacked="values are dealt from a stated lottery and nothing else is generated; which quote "
    "is right depends on the partner across the table, which the conditions take in turn",
    conditions=tuple(
        _condition(seat, across, name, who)
        for seat, across in (("buyer", "seller"), ("seller", "buyer"))
        for name, who in ACROSS.items()
    ),
)
