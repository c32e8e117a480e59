"""The card of Pick the Right Stuff: shortcuts and their inverses under every generator.

Games come from the generators and not from the frozen sets, which are chosen to be level: what
is audited is what the generator does, and more episodes bring more games.
"""

from __future__ import annotations

from typing import Any

from sally.audit.card import Card, Condition, Shortcut
from sally.core.study import instance, sitter

GAME = "pick_the_right_stuff"
USERS, GAMES, SEED = 5, 1000, 2025  # the frozen sets have another seed
RULES = (
    "start",
    "true",
    "last_seen",
    "most_frequent",
    "recency",
    "first_box",
    "start_or_true",
    "start_or_last_seen",
    "true_or_last_seen",
    "start_true_or_last_seen",
)


def guess(users: int) -> float:
    """What a uniform guess over the occupied boxes earns: with k items left it hits 1 in k."""
    return 100 * sum(1 / left for left in range(1, users + 1)) / users


def _condition(name: str, chance: float | None, **params: Any) -> Condition:
    return Condition(
        name=name,
        instances=tuple(
            instance(GAME, f"audit {name} {n:03d}", users=USERS, seed=SEED, number=n, **params)
            for n in range(GAMES)
        ),
        seat="manager",
        shortcuts=tuple(Shortcut(sitter(rule), sitter(f"but_{rule}")) for rule in RULES),
        metrics=("score",),
        chance={} if chance is None else {"score": chance},
    )


CARD = Card(
    family=GAME,
    about="what can be earned at the locker of five boxes without asking what the user has seen",
    conditions=(
        _condition("published, zero", None, mode="zero", generator="published"),
        _condition("published, finite", None, mode="finite", generator="published"),
        _condition("balanced, zero", guess(USERS), mode="zero", generator="balanced"),
        _condition("balanced, finite", guess(USERS), mode="finite", generator="balanced"),
        # here an empty box may be believed in, so a guess is over all boxes
        _condition("infinite", 100 / USERS, mode="infinite"),
    ),
)
