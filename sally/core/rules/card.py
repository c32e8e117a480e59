"""Cards: conditions that test a game with mindless players (players without theory of mind), and
the metrics that score them.

A card tests both directions. A rule of thumb that scores below chance is a shortcut too, because
its inverse scores above chance, so every rule is on the card together with its inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec


class Shortcut(msgspec.Struct, frozen=True):
    """A rule that ignores the other player's mind, together with the rule's inverse."""

    rule: PlayerSpec
    inverse: PlayerSpec
    partial: bool = False  # part of the required reasoning: on the card, but not mindless

    def __post_init__(self) -> None:
        if self.rule == self.inverse:
            raise BadInput(f"{self.rule.player} cannot be its own inverse.")


class Condition(msgspec.Struct, frozen=True):
    """One condition: the problems, the audited seat, and the players in the other seats."""

    name: str
    instances: tuple[Instance, ...]
    seat: str
    shortcuts: tuple[Shortcut, ...]
    metrics: tuple[str, ...]
    others: dict[str, PlayerSpec] = msgspec.field(default_factory=dict)
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    # the score expected without theory of mind
    chance: dict[str, float] = msgspec.field(default_factory=dict)
    once: bool = False  # a fixed set: each problem is played at most once

    def __post_init__(self) -> None:
        if not self.instances or not self.metrics:
            raise BadInput(f"Condition {self.name!r} needs at least one instance and one metric.")
        if self.seat in self.others:
            raise BadInput(
                f"Condition {self.name!r}: seat {self.seat!r} is audited and takes no fixed player."
            )
        for metric in set(self.chance) - set(self.metrics):
            raise BadInput(
                f"Condition {self.name!r}: {metric!r} has a chance level but is not among the "
                "metrics."
            )

    @property
    def players(self) -> tuple[PlayerSpec, ...]:
        """Return the players that take the audited seat, without duplicates: the random player, the
        rules of thumb and their inverses."""
        return _each_once(self.shortcuts)

    @property
    def mindless(self) -> tuple[PlayerSpec, ...]:
        """Return the players without theory of mind; partial solvers are left out."""
        return _each_once([pair for pair in self.shortcuts if not pair.partial])


class CardQuestion(msgspec.Struct, frozen=True):
    """One question for a shallow learner: the features of every option, and the index of the
    correct option."""

    options: tuple[tuple[float, ...], ...]  # NaN where an option lacks the feature
    right: int


class Attack(msgspec.Struct, frozen=True):
    """A test of whether shallow learners find the answer without modelling the other player."""

    name: str
    features: tuple[str, ...]  # what each feature is, in words: "cost to the player"
    fresh: Callable[[int, int], Sequence[CardQuestion]]  # (number of questions, seed)
    frozen: Callable[[], Sequence[CardQuestion]] | None = (
        None  # the questions of the set that is played
    )
    chance: float | None = None  # of the best constant answer; None: an even guess
    reasoning: str = ""  # features that hold required reasoning, so that they may beat chance
    known: str = ""  # why this one is expected to leak; kept for comparison
    # problems with the place of the right answer on the menu, how many and from which seed: their
    # rendered pages are attacked with generated features too
    pages: Callable[[int, int], Sequence[tuple[Any, int]]] | None = None
    page_reasoning: str = ""  # as `reasoning`, of the generated features
    joined: str = ""  # as `reasoning`, of features that follow relations between lines; "": not run


class Card(msgspec.Struct, frozen=True):
    """The conditions in which mindless players are tested in one family of games, and the attacks:
    tests of whether shallow learners find the right answers without modelling other players."""

    family: str
    about: str
    conditions: tuple[Condition, ...]
    attacks: tuple[Attack, ...] = ()
    unattacked: str = ""  # why there are no attacks
    no_ideal: str = ""  # why the game has no ideal observer or no Bayes-adaptive player
    episodes: int = 100  # per condition and player, unless an audit asks for another number

    def __post_init__(self) -> None:
        if self.attacks and self.unattacked:
            raise BadInput(
                f"The card of {self.family} declares attacks by learners, so `unattacked`, the "
                "reason for having none, must be empty."
            )
        names = [condition.name for condition in self.conditions]
        if not names or len(set(names)) < len(names):
            raise BadInput(f"The card of {self.family} needs conditions with distinct names.")

    def of(self, game: str) -> tuple[Condition, ...]:
        """Return the conditions of one game, or of the whole family if its name is given."""
        if game == self.family:
            return self.conditions
        return tuple(c for c in self.conditions if all(i.game == game for i in c.instances))


RANDOM = PlayerSpec("random")


def _each_once(pairs: Sequence[Shortcut]) -> tuple[PlayerSpec, ...]:
    players = [RANDOM, *(s for pair in pairs for s in (pair.rule, pair.inverse))]
    return tuple(player for n, player in enumerate(players) if player not in players[:n])


def both_ways(player: str, partial: bool = False, **params: Any) -> Shortcut:
    """Return a rule paired with its generic inverse: any move the rule would not make."""
    turned: dict[str, Any] = {"of": player, "params": params} if params else {"of": player}
    return Shortcut(PlayerSpec(player, params), PlayerSpec("inverse", turned), partial)
