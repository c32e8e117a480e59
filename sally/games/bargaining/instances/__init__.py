"""Certified problems: package data that may be superseded but is never edited.

Each problem fixes value, cost, seat and a declared partner, and states how deep a model of the
partner has to be, by exact play:

- depth 0: one fixed quote earns at least `ENOUGH` of the optimum;
- depth 1: no fixed quote does, but meeting each profitable quote of the partner exactly does: the
  partner has to be predicted, not its reaction;
- depth 2: only play that uses how the partner reacts to the player's own quotes does.

Problems between the two shares are left out, so that the depth does not depend on a threshold.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Instance, PlayerSpec

SETS = ("certified",)
ENOUGH, TOO_LITTLE = 0.95, 0.85


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A certified problem, with the earnings at each depth of modelling."""

    id: str
    seat: str
    value: int
    cost: int
    rounds: int
    partner: str
    params: dict[str, Any]
    depth: int
    held: float
    followed: float
    optimum: float
    random: float

    def instance(self, talk: str = "none") -> Instance:
        """Return the problem as an instance of the game."""
        params = {"value": self.value, "cost": self.cost, "rounds": self.rounds, "talk": talk}
        return Instance(f"bargaining-{self.id}", "bargaining", params)

    @property
    def across(self) -> dict[str, PlayerSpec]:
        """The player in the other seat."""
        seat = "seller" if self.seat == "buyer" else "buyer"
        return {seat: PlayerSpec(self.partner, dict(self.params))}


class Frozen(msgspec.Struct, frozen=True):
    """A set with the version and the seed that made it."""

    set: str
    version: int
    seed: int
    problems: tuple[Problem, ...]


@cache
def frozen(name: str = "certified") -> Frozen:
    """Return a frozen set by name."""
    if name not in SETS:
        raise unknown("set of bargaining", name, SETS)
    text = files(__package__).joinpath(f"{name}.json").read_bytes()
    return msgspec.json.decode(text, type=Frozen)


def problem(number: int, name: str = "certified") -> Problem:
    """Return one problem of a frozen set."""
    found = frozen(name).problems
    if not 0 <= number < len(found):
        raise BadInput(f"number must be from 0 to {len(found) - 1}, not {number}")
    return found[number]
