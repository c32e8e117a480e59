"""The rules of the partially observable game: one choice among four tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import msgspec

from sally.core.rules.game import Seat
from sally.games.toma import frozen
from sally.games.toma.one_shot import (
    PLAYER,
    OneShot,
    State,
    check_agreement,
    first_scenario,
    frozen_scenario,
)
from sally.games.toma.po.rules import (
    FAILURE,
    LEVELS,
    TASKS,
    Row,
    Scenario,
    answer,
    check,
    known_costs,
)


class View(msgspec.Struct, frozen=True):
    """The player's information: the costs in its prompt, and its own choice once made."""

    costs: tuple[Row | None, ...]  # None: hidden from the player (matrix=known)
    chosen: int | None = None


@dataclass(frozen=True)
class PartlySeen(OneShot[View]):
    """The partially observable game: pick a task that no other agent picks, or declare failure
    inevitable.

    `scenario` is a complete scenario or the id of a stored one; without it, the first stored
    scenario of the `level` (and of the cover `story`, if given) is played.
    """

    scenario: str | Scenario = ""
    level: int | None = None
    story: str = ""
    matrix: Literal["full", "known"] = "full"

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
            return frozen_scenario("toma_po", self.scenario, all_scenarios())
        level = 1 if self.level is None else self.level
        # from the first set, so that episodes logged without a scenario still replay
        return first_scenario(frozen_scenarios(1), level, self.story, LEVELS)

    # --- the rules --------------------------------------------------------------------------------

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return (*TASKS, FAILURE)

    def observe(self, state: State, seat: Seat) -> View:
        shown = self.problem.costs if self.matrix == "full" else known_costs(self.problem)
        return View(shown, state.chosen)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        return {PLAYER: float(state.chosen == answer(self.problem))}

    def widest_menu(self) -> int:
        return len(TASKS) + 1

    def as_seen(self, view: View) -> Scenario:
        """Return the scenario as scripted players receive it, with zeros for rows that the view
        does not contain.

        The solver uses only rows that the player's role knows.
        """
        rows = tuple(row or (0, 0, 0, 0) for row in view.costs)
        return msgspec.structs.replace(self.problem, costs=rows)


@cache
def frozen_scenarios(version: int = 2) -> dict[str, Scenario]:
    """Return the 150 stored scenarios of a version by id; version 2 supersedes version 1."""
    return {keyed.scenario.id: keyed.scenario for keyed in frozen.po(version).scenarios}


def all_scenarios() -> dict[str, Scenario]:
    """Return every stored scenario by id, superseded and certified ones included."""
    return {**frozen_scenarios(1), **frozen_scenarios(2), **certified_scenarios()}


@cache
def certified() -> dict[str, frozen.Certified[Scenario]]:
    """Return the certified scenarios by id, each with its depth and the answers of reasoners of
    every depth."""
    return {one.scenario.id: one for one in frozen.po_certified().scenarios}


def certified_scenarios(block: int | None = None) -> dict[str, Scenario]:
    """Return the certified scenarios by id: all of them, or those of one depth."""
    kept = {id: one for id, one in certified().items() if block in (None, one.block)}
    return {id: one.scenario for id, one in kept.items()}
