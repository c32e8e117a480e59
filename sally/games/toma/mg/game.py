"""The rules of the minority game: one choice among four places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import msgspec

from sally.core.rules.game import Seat
from sally.games.toma import frozen
from sally.games.toma.mg.rules import (
    LEVELS,
    PLACES,
    Agent,
    Place,
    Scenario,
    answer,
    check,
)
from sally.games.toma.one_shot import (
    PLAYER,
    OneShot,
    State,
    check_agreement,
    first_scenario,
    frozen_scenario,
)


class View(msgspec.Struct, frozen=True):
    """The player's information: places, descriptions, and its own choice once made."""

    places: tuple[Place, ...]
    agents: tuple[Agent, ...]
    chosen: int | None = None


@dataclass(frozen=True)
class Minority(OneShot[View]):
    """The minority game: choose, of four places, the one that the fewest others choose.

    `scenario` is a complete scenario or the id of a stored one; without it, the first stored
    scenario of the `level` (and of the cover `story`, if given) is played.
    """

    scenario: str | Scenario = ""
    level: int | None = None
    story: str = ""

    def __post_init__(self) -> None:
        problem = self.problem
        check(problem)
        answer(problem)  # raises on a tie
        check_agreement(problem, self.level, self.story)

    @cached_property
    def problem(self) -> Scenario:
        """The scenario being played."""
        if isinstance(self.scenario, Scenario):
            return self.scenario
        if self.scenario:
            return frozen_scenario("toma_mg", self.scenario, all_scenarios())
        level = 2 if self.level is None else self.level
        # from the first set, so that episodes logged without a scenario still replay
        return first_scenario(frozen_scenarios(1), level, self.story, LEVELS)

    # --- the rules --------------------------------------------------------------------------------

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return tuple(PLACES)

    def observe(self, state: State, seat: Seat) -> View:
        return View(self.problem.places, self.problem.agents, state.chosen)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        return {PLAYER: float(state.chosen == answer(self.problem))}

    def widest_menu(self) -> int:
        return len(PLACES)


@cache
def frozen_scenarios(version: int = 6) -> dict[str, Scenario]:
    """Return the stored scenarios of a version by id; version 6 supersedes all others."""
    return {keyed.scenario.id: keyed.scenario for keyed in frozen.mg(version).scenarios}


def all_scenarios() -> dict[str, Scenario]:
    """Return every stored scenario by id, superseded ones included."""
    versions = (frozen_scenarios(version) for version in range(1, 7))
    return {id: scenario for found in versions for id, scenario in found.items()}


@cache
def certified(version: int = 6) -> dict[str, frozen.Certified[Scenario]]:
    """Return the scenarios of the fifth or sixth stored set of the minority game, by id, with the
    answers of reasoners of every depth."""
    return {one.scenario.id: one for one in frozen.mg_certified(version).scenarios}
