"""The rules of the minority game: one choice among four places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import msgspec

from sally.core.rules.game import Seat
from sally.games.toma import frozen
from sally.games.toma.mg import rules
from sally.games.toma.mg.rules import PLACES, Agent, Place, Scenario
from sally.games.toma.one_shot import OneShot, State


class View(msgspec.Struct, frozen=True):
    """The player's information: places, descriptions, and its own choice once made."""

    places: tuple[Place, ...]
    agents: tuple[Agent, ...]
    chosen: int | None = None


@dataclass(frozen=True)
class Minority(OneShot[Scenario, View]):
    """The minority game: choose, of four places, the one that the fewest others choose."""

    scenario: str | Scenario = ""
    level: int | None = None
    story: str = ""

    name = "toma_mg"
    solver = rules
    default_level = 2

    def stored(self) -> Mapping[str, Scenario]:
        return all_scenarios()

    @property
    def agents(self) -> Mapping[str, int]:
        return {agent.name: number for number, agent in enumerate(self.problem.agents)}

    # --- the rules --------------------------------------------------------------------------------

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return tuple(PLACES)

    def observe(self, state: State, seat: Seat) -> View:
        return View(self.problem.places, self.problem.agents, state.chosen)

    def widest_menu(self) -> int:
        return len(PLACES)


@cache
def frozen_scenarios(version: int = 6) -> dict[str, Scenario]:
    """Return the stored scenarios of a version, 3 to 6, by id."""
    return {keyed.scenario.id: keyed.scenario for keyed in frozen.mg(version).scenarios}


def all_scenarios() -> dict[str, Scenario]:
    """Return every stored scenario by id, including those that only stored episodes use."""
    versions = (frozen_scenarios(version) for version in (6, 5, 4, 3))
    return {id: scenario for found in versions for id, scenario in found.items()}


@cache
def certified(version: int = 6) -> dict[str, frozen.CertifiedScenario[Scenario]]:
    """Return the scenarios of the fifth or sixth stored set of the minority game, by id, with the
    answers of reasoners of every depth."""
    return {one.scenario.id: one for one in frozen.mg_certified(version).scenarios}
