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
    subject: str = ""

    name = "toma_mg"
    solver = rules
    default_level = 2

    def stored_scenarios(self) -> Mapping[str, Scenario]:
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


def frozen_set(version: int = 6) -> frozen.Frozen[frozen.Keyed[Scenario]]:
    """Return the stored scenarios of a version, 3 to 6: 40 per level, 30 before version 5.

    Versions 3 and 4 are those of stored episodes and version 5 that of the suite Sally-1; shortcuts
    find some of their answers: counts of likes and dislikes in version 3, counts over the agents
    that relations name in version 4, the order in the prompt at level 1 of version 5. Version 6 has
    a new level 1; its levels 2 and 3 are those of version 5.
    """
    if version >= 5:
        return certified_set(version)
    text = frozen.stored_text(__package__, f"mg_{version}")
    return msgspec.json.decode(text, type=frozen.Frozen[frozen.Keyed[Scenario]])


def certified_set(version: int = 6) -> frozen.Frozen[frozen.CertifiedScenario[Scenario]]:
    """Return the fifth or sixth stored set, with the depth of each scenario. In these sets, the
    level of a scenario is its reasoner depth: no reasoner of a smaller depth scores above
    chance."""
    fifth, sixth = (
        msgspec.json.decode(
            frozen.stored_text(__package__, name),
            type=frozen.Frozen[frozen.CertifiedScenario[Scenario]],
        )
        for name in ("mg_5", "mg_6")
    )
    if version == 5:
        return fifth
    deeper = tuple(
        certified_scenario for certified_scenario in fifth.scenarios if certified_scenario.block > 1
    )
    return msgspec.structs.replace(sixth, scenarios=(*sixth.scenarios, *deeper))


@cache
def frozen_scenarios(version: int = 6) -> dict[str, Scenario]:
    """Return the stored scenarios of a version, 3 to 6, by id."""
    return {keyed.scenario.id: keyed.scenario for keyed in frozen_set(version).scenarios}


def all_scenarios() -> dict[str, Scenario]:
    """Return every stored scenario by id, including those that only stored episodes use."""
    versions = (frozen_scenarios(version) for version in (6, 5, 4, 3))
    return {
        id: scenario for version_scenarios in versions for id, scenario in version_scenarios.items()
    }


@cache
def certified_by_id(version: int = 6) -> dict[str, frozen.CertifiedScenario[Scenario]]:
    """Return the scenarios of the fifth or sixth stored set of the minority game, by id, with the
    answers of reasoners of every depth."""
    return {
        certified_scenario.scenario.id: certified_scenario
        for certified_scenario in certified_set(version).scenarios
    }
