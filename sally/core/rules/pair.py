"""Certified pairs: two positions that differ only in the fact that matters.

A player that does not use this fact answers the same in both members, or draws both answers from
the same distribution; its score is 0 by construction. A game declares `PAIRS`, a tuple of recipes,
in `pairs.py`; `sally audit GAME --pairs` checks their certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from sally.core.log.events import Instance, PlayerSpec, Position
from sally.core.rules.chance import Stream

QuestionKind = Literal["know", "do"]  # what the other will do or believe; the player's own move
QUESTIONS: tuple[QuestionKind, ...] = ("know", "do")


Rule = Callable[[Any, Any, QuestionKind], Any]
"""(game, view, question) -> an answer, or None if the rule has none."""


class Member(msgspec.Struct, frozen=True):
    """One position of a pair: the problem, its fixed past, and the players of the other seats."""

    params: dict[str, Any]
    past: tuple[dict[str, Any], ...] = ()
    others: dict[str, PlayerSpec] = msgspec.field(default_factory=dict)


class Pair(msgspec.Struct, frozen=True):
    """Two positions in which the right answers differ."""

    id: str
    game: str
    recipe: str
    order: int  # the order of reasoning that the pair needs
    seat: str  # the seat that is asked
    members: tuple[Member, Member]
    cluster: str = ""  # what several pairs share, such as a problem; "": the pair shares nothing

    def instance(self, member: int, asks: Literal["both", "know", "do"] = "both") -> Instance:
        """Return one member as a problem that can be played."""
        position = self.members[member]
        suffix = "" if asks == "both" else f"-{asks}"
        return Instance(
            f"{self.id}-{member}{suffix}",
            self.game,
            position.params,
            Position(
                self.seat,
                position.past,
                asks,
                self.id,
                member,
                self.recipe,
                self.order,
                self.cluster,
            ),
        )


@dataclass(frozen=True)
class PairRecipe:
    """The construction of pairs in one game, with what the certificate needs to check them.

    Rules, minds and reasoners see the game and the seat's view, never the state.
    """

    name: str
    title: str  # for people and tables
    game: str  # public name
    about: str  # what differs between the members, in one sentence
    seat: str
    probe: str  # asks what the other will do or believe
    subject: str  # the seat that the probe is about; "": another in each pair, or none
    orders: tuple[int, ...]
    draw: Callable[[Stream, int], tuple[Member, Member]]  # (chance, order)
    truth: Callable[[Any, Any, Mapping[str, PlayerSpec]], Any]  # (game, state, other players)
    best_moves: Callable[[Any, Any, Any], tuple[Any, ...]]  # (game, view, predicted answer)
    minds: Callable[[Any, Any, int], Iterable[Any]]
    """(game, view, order) -> the answer of every mind of the declared class that fits the view."""
    rules: Callable[[int], Mapping[str, Rule]]
    """(order) -> the mindless rules by name, which must answer both members alike."""
    reason: Callable[[Any, Any, int], Any]
    """(game, view, order) -> the answer to the probe of a reasoner of that order."""
    cluster: Callable[[Member], str] = field(default=lambda member: "")
    minds_about: str = ""  # the declared class of minds, in one sentence

    def asks_probe(self, probe: str, about: str) -> bool:
        """Return whether this is the question of the pair about the other's mind."""
        return probe == self.probe and self.subject in ("", about)


MOST_TRIES = 10_000  # draws of one pair


def draw_pair(recipe: PairRecipe, order: int, seed: int, number: int) -> Pair:
    """Return a pair of a recipe; which member comes first is drawn for each pair."""
    chance = Stream(seed, recipe.game, recipe.name, order, number)
    members = recipe.draw(chance, order)
    if Stream(seed, recipe.game, recipe.name, order, number, "first")() < 0.5:
        members = (members[1], members[0])
    return Pair(
        f"{recipe.game}-{recipe.name}-{order}-{seed}-{number:04d}",
        recipe.game,
        recipe.name,
        order,
        recipe.seat,
        members,
        recipe.cluster(members[0]),
    )
