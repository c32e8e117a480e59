"""Baseline players of Hanabi (its card), which do not reason about others.

One seat plays the audited rule while the bot `smart` plays the other seats, so that a rule of thumb
receives meaningful hints.
"""

from __future__ import annotations

from typing import Any

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import instance
from sally.core.rules.card import Card, Condition, Shortcut, both_ways

SHORTCUTS = (
    both_ways("hint_always"),
    both_ways("play_oldest"),
    both_ways("play_newest"),
    both_ways("discard_oldest"),
    both_ways("discard_newest"),
    Shortcut(PlayerSpec("play_hinted"), PlayerSpec("shun_hinted")),
)
DEALS = 200


def _condition(game: str, partner: str, **params: Any) -> Condition:
    return Condition(
        name=f"{game}, beside {partner}",
        instances=tuple(
            instance(game, f"{game}-{deal:03d}", deal=deal, **params) for deal in range(DEALS)
        ),
        seat="bob",
        others={"ann": PlayerSpec(partner)},
        shortcuts=SHORTCUTS,
        metrics=("score_kept", "score_zero", "lives_lost"),
    )


CARD = Card(
    family="hanabi",
    no_ideal="the ideal observer is computed from answers to `their_move` beside a bot of its pool "
    "in hanabi_mini, hanabi_small and hanabi_very_small, where all hands can be enumerated; "
    "Bayes-adaptive play is computed in no variant, because even in hanabi_very_small the exact "
    "search for one visible hand took 42 to 51 seconds with a pool of three bots",
    about="what two players score when one of them plays by a rule of thumb",
    unattacked="nothing is generated, as the deck is shuffled in play, and no single answer is "
    "right: what a play is worth depends on the hints given before, which the conditions measure",
    conditions=(
        _condition("hanabi", "smart"),
        _condition("hanabi_mini", "smart"),
        _condition("hanabi_small", "smart"),
        _condition("hanabi_very_small", "smart"),
    ),
)
