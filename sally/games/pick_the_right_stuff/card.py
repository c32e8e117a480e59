"""Baseline players of Pick the Right Stuff (its card): simple rules and their inverses.

The conditions with generated games audit the generators; a larger number of episodes draws more
games. With so many comparisons, some scores differ from the guess level by chance alone. The stored
sets of games are audited separately: they were selected to be balanced on most of these rules, so
their balance says nothing about the generators.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut
from sally.games.pick_the_right_stuff.surface import attacks

GAME = "pick_the_right_stuff"
USERS, GAMES, FROZEN = 5, 1000, 60
SEED = 2025  # fixed before any result was seen; not fitted to a result
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
    """Return the expected score of a uniform guess over the occupied boxes: 1/k with k items
    left."""
    return 100 * sum(1 / items_left for items_left in range(1, users + 1)) / users


def _condition(name: str, chance: float | None, frozen: bool = False, **params: Any) -> Condition:
    source = {} if frozen else {"generator_seed": SEED}
    return Condition(
        name=name,
        instances=tuple(
            instance(GAME, f"{name} {n:03d}", users=USERS, number=n, **source, **params)
            for n in range(FROZEN if frozen else GAMES)
        ),
        seat="manager",
        shortcuts=tuple(Shortcut(player_spec(rule), player_spec(f"but_{rule}")) for rule in RULES),
        metrics=("score",),
        chance={} if chance is None else {"score": chance},
        once=frozen,
    )


def _balanced_conditions(frozen: bool) -> Iterator[Condition]:
    """Yield the conditions with games that should be balanced, either generated or stored."""
    prefix = "frozen: " if frozen else ""
    for generator, mode in product(("balanced", "balanced_2"), ("zero", "finite")):
        name = f"{prefix}{generator.replace('_', ' ')}, {mode}"
        yield _condition(name, guess(USERS), frozen, mode=mode, generator=generator)
    any_box = 100 / USERS  # a user may believe in an empty box, so a guess is over all boxes
    yield _condition(f"{prefix}infinite", any_box, frozen, mode="infinite", generator="even")


CARD = Card(
    family=GAME,
    no_ideal="no partner plays: what the users believe is determined by what the manager sees",
    about="scores at the locker of five boxes without considering what the user has seen",
    conditions=(
        _condition("published, zero", None, mode="zero", generator="published"),
        _condition("published, finite", None, mode="finite", generator="published"),
        *_balanced_conditions(frozen=False),
        *_balanced_conditions(frozen=True),
    ),
    attacks=tuple(attacks()),
)
