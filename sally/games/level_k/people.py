"""Choices of people in published experiments, each checked against its source."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from sally.games.level_k.payoffs import Pays, Request
from sally.games.level_k.solvers import Odds


class Choices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often people chose each number, in percent, as printed in the source."""

    source: str
    verified: str  # where it was read
    game: dict[str, int]
    people: int
    percent: dict[str, float]

    @property
    def odds(self) -> Odds:
        """The choices as probabilities; printed percentages need not sum to 100."""
        total = sum(self.percent.values())
        numbers = sorted((int(n), p) for n, p in self.percent.items())
        return {n: p / total for n, p in numbers if p > 0}

    @property
    def counts(self) -> dict[int, int]:
        """The number of people who chose each number, computed from the percentages and rounded."""
        return {n: round(p * self.people) for n, p in self.odds.items()}


@cache
def read_published() -> dict[str, Choices]:
    """Return every shipped distribution, by kind of game."""
    data = (files(__package__) / "people.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Choices])


def people_at(pays: Pays) -> Choices | None:
    """Return people's choices in exactly this game; None if they are not known."""
    if not isinstance(pays, Request):
        return None
    choices = read_published()["request"]
    return choices if pays == Request(**choices.game) else None
