"""Certified pairs of positions in a study with people: which ones, and in which order."""

from __future__ import annotations

import msgspec

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.recipes import find_recipe
from sally.core.rules.chance import Stream
from sally.core.rules.pair import Pair
from sally.studies.sally_2 import frozen_pairs, row_named
from sally.web.study.items import StudySection


class PairSource(StudySection, frozen=True):
    """Certified pairs of the suite Sally-2: equally many of each game, games in turn."""

    games: tuple[str, ...]
    count: int = 24  # pairs in all; a participant plays twice as many positions

    def __post_init__(self) -> None:
        if not self.games or len(set(self.games)) < len(self.games):
            raise ValueError("pairs.games must name at least one game, and none twice")
        largest = min(row_named(game).count("L") for game in self.games) * len(self.games)
        if self.count % len(self.games) or not 1 <= self.count <= largest:
            raise ValueError(
                f"pairs.count must be a multiple of the {len(self.games)} games, at most "
                f"{largest}, "
                f"not {self.count}"
            )

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs: the first ones of each game of the suite."""
        games = len(self.games)
        return tuple(
            frozen_pairs(self.games[number % games])[number // games]
            for number in range(self.count)
        )


class PairPosition(msgspec.Struct, frozen=True):
    """One position of a pair: the problem, the participant's seat and probe, the other players."""

    instance: Instance
    seat: str
    probe: str
    others: dict[str, PlayerSpec]


def position_of(pair: Pair, member: int) -> PairPosition:
    """Return one position of a pair; it asks for a prediction, then for a move."""
    probe = find_recipe(pair.game, pair.recipe).probe
    return PairPosition(pair.instance(member), pair.seat, probe, pair.members[member].others)


def first_members(count: int, row: int, is_swapped: bool, seed: int) -> list[int]:
    """Return which position of each pair comes first for participants with this order.

    Every other position comes in the second half, so that the positions of a pair are `count`
    positions apart. Participants of the swapped order begin with the other position of each pair.
    """
    return [
        Stream(seed, "first position", row, number).below(2) ^ is_swapped for number in range(count)
    ]
