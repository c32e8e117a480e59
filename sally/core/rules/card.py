"""A card: on which conditions of a game mindless players sit down, and what is measured.

A card looks both ways. A rule of thumb that scores below chance is a shortcut too, because its
inverse scores above; so every rule is on the card together with its inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import Cell, Study


class Shortcut(msgspec.Struct, frozen=True):
    """A way to play without a mind for the other, and the opposite way."""

    rule: PlayerSpec
    inverse: PlayerSpec
    partial: bool = False  # part of the reasoning that is asked for: on the card, not mindless

    def __post_init__(self) -> None:
        if self.rule == self.inverse:
            raise BadInput(f"{self.rule.player} cannot be its own inverse.")


class Condition(msgspec.Struct, frozen=True):
    """One condition: the problems, the seat that is audited, and who sits in the others."""

    name: str
    instances: tuple[Instance, ...]
    seat: str
    shortcuts: tuple[Shortcut, ...]
    metrics: tuple[str, ...]
    others: dict[str, PlayerSpec] = msgspec.field(default_factory=dict)
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    chance: dict[str, float] = msgspec.field(default_factory=dict)  # what no mind should score
    once: bool = False  # a fixed set: each problem at most once, so that none counts double

    def __post_init__(self) -> None:
        if not self.instances or not self.metrics:
            raise BadInput(f"Condition {self.name!r} needs an instance and a metric.")
        if self.seat in self.others:
            raise BadInput(f"Condition {self.name!r}: seat {self.seat!r} is the one audited.")
        for metric in set(self.chance) - set(self.metrics):
            raise BadInput(f"Condition {self.name!r}: {metric!r} has a chance but no column.")

    @property
    def players(self) -> tuple[PlayerSpec, ...]:
        """Everybody who is put into the audited seat: chance itself, rules, inverses; each once."""
        return _each_once(self.shortcuts)

    @property
    def mindless(self) -> tuple[PlayerSpec, ...]:
        """Those of them without a mind for the other; partial solvers are left out."""
        return _each_once([pair for pair in self.shortcuts if not pair.partial])


class Posed(msgspec.Struct, frozen=True):
    """One question as an attacker sees it: some numbers of every option, and which is right."""

    options: tuple[tuple[float, ...], ...]  # NaN where an option has no such number
    right: int


class Attack(msgspec.Struct, frozen=True):
    """Where shallow learners look for the right answer without asking what anybody thinks."""

    name: str
    features: tuple[str, ...]  # what each number is, in words: "cost to the player"
    fresh: Callable[[int, int], Sequence[Posed]]  # how many questions, from which seed
    frozen: Callable[[], Sequence[Posed]] | None = None  # those of the set that is played
    chance: float | None = None  # of the best constant answer; None: an even guess
    reasoning: str = ""  # what the numbers hold that the game asks for, so may beat chance
    known: str = ""  # why this one is expected to leak; kept for comparison


class Card(msgspec.Struct, frozen=True):
    """What mindless players are made to play in one family of games, and who attacks it."""

    family: str
    about: str
    conditions: tuple[Condition, ...]
    attacks: tuple[Attack, ...] = ()
    unattacked: str = ""  # why there are no attacks

    def __post_init__(self) -> None:
        if self.attacks and self.unattacked:
            raise BadInput(f"The card of {self.family} has attacks and says why it has none.")
        names = [condition.name for condition in self.conditions]
        if not names or len(set(names)) < len(names):
            raise BadInput(f"The card of {self.family} needs conditions, each with its own name.")

    def of(self, game: str) -> tuple[Condition, ...]:
        """The conditions of one game of the family, or of all of them by the family's name."""
        if game == self.family:
            return self.conditions
        return tuple(c for c in self.conditions if all(i.game == game for i in c.instances))


RANDOM = PlayerSpec("random")


def _each_once(pairs: Sequence[Shortcut]) -> tuple[PlayerSpec, ...]:
    wanted = [RANDOM, *(s for pair in pairs for s in (pair.rule, pair.inverse))]
    return tuple(who for n, who in enumerate(wanted) if who not in wanted[:n])


def both_ways(player: str, partial: bool = False, **params: Any) -> Shortcut:
    """A rule with the inverse that any rule has: whatever it would not do."""
    turned: dict[str, Any] = {"of": player, "params": params} if params else {"of": player}
    return Shortcut(PlayerSpec(player, params), PlayerSpec("inverse", turned), partial)


def study_of(name: str, conditions: Sequence[Condition], episodes: int, seed: int) -> Study:
    """The conditions as a study: every player on every instance, until there are `episodes`.

    A fixed set ends when all of it has been played.
    """
    return Study(
        name=name,
        about="mindless players",
        seed=seed,
        cells=tuple(
            Cell(
                name=c.name,
                instances=c.instances,
                lineups=tuple({**c.others, c.seat: who} for who in c.players),
                arms=c.arms,
                repeats=1 if c.once else ceil(episodes / len(c.instances)),
            )
            for c in conditions
        ),
    )
