"""Depths of reasoning: the answers of players that think k steps ahead about the others.

A reasoner of depth k assumes that every other player is a reasoner of depth k - 1 that knows only
what its own seat can know, and makes the best reply to these players. The depth of a decision is
the smallest k such that reasoners of depth k and deeper are all right. Some sets consist of blocks:
a reasoner of a block's depth answers every question in it correctly, and all shallower ones are
right as often as chance. Other rules than these reasoners may solve a block, too:
`benchmarks/rule_search.py` looks for short ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played


class Reasoned(msgspec.Struct, frozen=True):
    """One decision with the answers of reasoners of every depth."""

    by_depth: tuple[tuple[Any, ...], ...]  # by depth; several options where it finds them equal
    right: tuple[Any, ...]  # the options that are right
    chance: float  # accuracy over the set of the best answer without reasoning about the others
    block: int | None = None  # depth of its block; None: of no block
    group: str = ""  # set and level, for the table of an audit

    @property
    def depth(self) -> int | None:
        """The smallest depth such that it and all greater depths give only right answers; None if
        the greatest depth gives a wrong answer."""
        wrong = [
            k for k, answers in enumerate(self.by_depth) if not set(answers) <= set(self.right)
        ]
        if not wrong:
            return 0
        return wrong[-1] + 1 if wrong[-1] + 1 < len(self.by_depth) else None

    def hit(self, depth: int) -> float:
        """Return the chance that a reasoner of this depth is right if it draws among its equally
        good answers."""
        answers = self.by_depth[depth]
        return sum(option in self.right for option in answers) / len(answers)


class DepthDecision(msgspec.Struct, frozen=True):
    """One decision of an episode: the depth of reasoning that it requires, and whether it was
    right."""

    reasoned: Reasoned
    right: bool  # a forfeited decision is wrong


class Depths(msgspec.Struct, frozen=True):
    """A game's declaration of its depths of reasoning."""

    about: str  # what a reasoner of depth k does in this game
    questions: Callable[[], Iterable[Reasoned]]  # the decisions of the frozen sets
    answered: Callable[[Played, Seat], Iterable[DepthDecision]]  # the decisions of an episode
    notes: tuple[str, ...] = ()  # sentences printed below the table
