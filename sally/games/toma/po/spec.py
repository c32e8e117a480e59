"""The partially observable game on the shelf: one seat, one choice, three other minds at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import msgspec

from sally.core.game import Doing, GameSpec, Seat
from sally.core.probe import At, Probe, Question
from sally.core.replay import Replay
from sally.games.toma import frozen
from sally.games.toma.one_shot import PLAYER, OneShot, State, agree, first, named
from sally.games.toma.po.rules import (
    AGENTS,
    FAILURE,
    LEVELS,
    TASKS,
    Row,
    Scenario,
    answer,
    check,
    known_costs,
    predictable,
    predictions,
    rational_actions,
)
from sally.games.toma.po.words import TEXTS, PartlySeenWords


class View(msgspec.Struct, frozen=True):
    """What the player knows: the costs on its page, and its choice once made."""

    costs: tuple[Row | None, ...]  # None: a row that its role does not know (matrix=known)
    chosen: int | None = None


@dataclass(frozen=True)
class PartlySeen(OneShot[View]):
    """Pick one of four tasks that nobody else picks, or say that failure is inevitable.

    `scenario` is a whole scenario or the id of a frozen one; without it, the first frozen
    scenario of the `level` (and of the cover `story`, if one is named) is played.
    """

    scenario: str | Scenario = ""
    level: int | None = None
    story: str = ""
    matrix: Literal["full", "known"] = "full"

    def __post_init__(self) -> None:
        problem = self.problem
        check(problem)
        answer(problem)  # refuses a tie
        agree(problem, self.level, self.story)

    @cached_property
    def problem(self) -> Scenario:
        """The scenario that is played."""
        if isinstance(self.scenario, Scenario):
            return self.scenario
        if self.scenario:
            return named("toma_po", self.scenario, frozen_scenarios())
        level = 1 if self.level is None else self.level
        return first(frozen_scenarios(), level, self.story, LEVELS)

    # --- the rules ------------------------------------------------------------------------------

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
        """The scenario with blank rows where the page has none, for players to reason about.

        No rule looks at a row that the player's role does not know.
        """
        rows = tuple(row or (0, 0, 0, 0) for row in view.costs)
        return msgspec.structs.replace(self.problem, costs=rows)


@cache
def frozen_scenarios() -> dict[str, Scenario]:
    """The 150 frozen scenarios by id."""
    return {keyed.scenario.id: keyed.scenario for keyed in frozen.po().scenarios}


# --- what the player thinks the others do ---------------------------------------------------------


def asks(game: PartlySeen, view: View, seat: Seat) -> tuple[Question, ...]:
    """The choice of every agent that the player can predict."""
    return tuple(
        Question("their_choice", "choice", tuple(TASKS), about=AGENTS[agent])
        for agent in predictable(game.problem)
    )


def truth(replay: Replay[State, int, View], at: At) -> int:
    """What the agent does by the stated rules."""
    assert isinstance(replay.game, PartlySeen)
    return predictions(replay.game.problem)[AGENTS.index(at.about)]


def best_replies(game: PartlySeen, view: View, belief: Mapping[str, int]) -> tuple[int, ...] | None:
    """The options that are right if each agent does what is believed; None if one is missing."""
    predicted = {AGENTS.index(name): task for name, task in belief.items()}
    if set(predicted) != set(predictable(game.problem)):
        return None
    return tuple(sorted(rational_actions(game.as_seen(view), predicted)))


def numbers(game: PartlySeen, view: View) -> tuple[float, ...]:
    """The sixteen costs in tenths, 0 where a row is hidden, and who the player is."""
    costs = [float(cost) for row in view.costs for cost in row or (0, 0, 0, 0)]
    return (*costs, *(float(agent == game.problem.player) for agent in range(4)))


GAME: GameSpec[State, int, View] = GameSpec(
    name="toma_po",
    about="four agents, four tasks, costs that not everybody knows: pick what nobody else picks "
    "(kang2026)",
    game=PartlySeen,
    words=PartlySeenWords,
    texts=TEXTS,
    probes=(
        Probe(
            "their_choice",
            "which task each agent takes that the player can predict",
            "before",
            "choice",
            (PLAYER,),
            asks,
            truth,
        ),
    ),
    best_replies=best_replies,
    doing=Doing("task_success", right=1.0),
    settings={"level": (0, 9), "scenario": None, "story": None},
    numbers=numbers,
    reference="solver",
    words_version=2,
)
