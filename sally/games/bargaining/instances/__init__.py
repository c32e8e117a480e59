"""Problems by depth: package data that may be superseded but is never edited.

Each problem fixes value, cost, seat and a declared partner, and has a depth: how deeply the player
must model the partner, as exact play shows:

- depth 0: one fixed quote earns at least `ENOUGH` of the optimum;
- depth 1: no fixed quote does, but matching each profitable quote of the partner exactly does, so
  the partner's quotes have to be predicted but not its reactions;
- depth 2: only play that takes the partner's reactions to the player's own quotes into account
  does.

Problems with earnings between `TOO_LITTLE` and `ENOUGH` of the optimum are left out, so that small
changes of a threshold do not change the depth.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from sally.core.log.events import Instance, PlayerSpec

ENOUGH, TOO_LITTLE = 0.95, 0.85


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stored problem, with the earnings at each depth of modelling."""

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
        """The lineup of the other seat: the scripted partner that belongs to the problem."""
        seat = "seller" if self.seat == "buyer" else "buyer"
        return {seat: PlayerSpec(self.partner, dict(self.params))}


class Frozen(msgspec.Struct, frozen=True):
    """A stored set of problems with its version and the seed that generated it."""

    set: str
    version: int
    seed: int
    problems: tuple[Problem, ...]


@cache
def frozen() -> Frozen:
    """Return the stored set of problems."""
    return msgspec.json.decode((files(__package__) / "certified.json").read_bytes(), type=Frozen)
