"""The rules of the partially observable game: one choice among four tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec

from sally.core.rules.game import Seat
from sally.games.toma import frozen
from sally.games.toma.one_shot import OneShot, State
from sally.games.toma.po import rules
from sally.games.toma.po.rules import (
    AGENTS,
    FAILURE,
    TASKS,
    Row,
    Scenario,
    known_costs,
    predictable,
)


class View(msgspec.Struct, frozen=True):
    """The player's information: the costs in its prompt, and its own choice once made."""

    costs: tuple[Row | None, ...]  # None: hidden from the player (matrix=known)
    chosen: int | None = None


@dataclass(frozen=True)
class PartlySeen(OneShot[Scenario, View]):
    """The partially observable game: pick a task that no other agent picks, or declare failure
    inevitable."""

    scenario: str | Scenario = ""
    level: int | None = None
    story: str = ""
    matrix: Literal["full", "known"] = "full"
    subject: str = ""

    name = "toma_po"
    solver = rules
    default_level = 1

    def stored_scenarios(self) -> Mapping[str, Scenario]:
        return all_scenarios()

    @property
    def agents(self) -> Mapping[str, int]:
        return {AGENTS[agent]: agent for agent in predictable(self.problem)}

    # --- the rules --------------------------------------------------------------------------------

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return (*TASKS, FAILURE)

    def observe(self, state: State, seat: Seat) -> View:
        costs_shown = self.problem.costs if self.matrix == "full" else known_costs(self.problem)
        return View(costs_shown, state.chosen)

    def widest_menu(self) -> int:
        return len(TASKS) + 1

    def as_seen(self, view: View) -> Scenario:
        """Return the scenario as scripted players receive it, with zeros for rows that the view
        does not contain.

        The solver uses only rows that the player's role knows.
        """
        rows = tuple(row or (0, 0, 0, 0) for row in view.costs)
        return msgspec.structs.replace(self.problem, costs=rows)


def frozen_set() -> frozen.Frozen[frozen.Keyed[Scenario]]:
    """Return the 150 stored scenarios, 30 per level."""
    text = frozen.stored_text(__package__, "po_2")
    return msgspec.json.decode(text, type=frozen.Frozen[frozen.Keyed[Scenario]])


def certified_set() -> frozen.Frozen[frozen.CertifiedScenario[Scenario]]:
    """Return the 240 certified scenarios, 60 per depth 0 to 3."""
    text = frozen.stored_text(__package__, "po_certified")
    return msgspec.json.decode(text, type=frozen.Frozen[frozen.CertifiedScenario[Scenario]])


@cache
def frozen_scenarios() -> dict[str, Scenario]:
    """Return the 150 stored scenarios by id."""
    return {keyed.scenario.id: keyed.scenario for keyed in frozen_set().scenarios}


def all_scenarios() -> dict[str, Scenario]:
    """Return every stored scenario by id, certified ones included."""
    return {
        **frozen_scenarios(),
        **{id: certified_scenario.scenario for id, certified_scenario in certified_by_id().items()},
    }


@cache
def certified_by_id() -> dict[str, frozen.CertifiedScenario[Scenario]]:
    """Return the certified scenarios by id, each with its depth and the answers of reasoners of
    every depth."""
    return {
        certified_scenario.scenario.id: certified_scenario
        for certified_scenario in certified_set().scenarios
    }
