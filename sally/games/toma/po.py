"""The partially observable game on the shelf: one seat, one choice, three other minds at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.game import Game, GameSpec, Seat
from sally.core.probe import At, Probe, Question
from sally.core.replay import Replay
from sally.games.toma import frozen
from sally.games.toma.po_rules import (
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
from sally.games.toma.po_words import TEXTS, PartlySeenWords

PLAYER = Seat("player")


class State(msgspec.Struct, frozen=True):
    """What the player did; `over` without a choice when it forfeited."""

    chosen: int | None = None
    over: bool = False


class View(msgspec.Struct, frozen=True):
    """What the player knows: the costs on its page, and its choice once made."""

    costs: tuple[Row | None, ...]  # None: a row that its role does not know (matrix=known)
    chosen: int | None = None


@dataclass(frozen=True)
class PartlySeen(Game[State, int, View]):
    """Pick one of four tasks that nobody else picks, or say that failure is inevitable.

    `scenario` is a whole scenario or the id of a frozen one; without it, the first frozen
    scenario of the `level` (and of the cover `story`, if one is named) is played.
    """

    scenario: str | Scenario = ""
    level: int | None = None
    story: str = ""
    matrix: Literal["full", "known"] = "full"

    seats = (PLAYER,)

    def __post_init__(self) -> None:
        problem = self.problem
        check(problem)
        answer(problem)  # refuses a tie
        for name, asked, given in (
            ("level", self.level, problem.level),
            ("story", self.story or None, problem.story),
        ):
            if asked is not None and asked != given:
                raise BadInput(f"{name} is {asked}, but scenario {problem.id} has {given}")

    @cached_property
    def problem(self) -> Scenario:
        """The scenario that is played."""
        if isinstance(self.scenario, Scenario):
            return self.scenario
        if self.scenario:
            known = frozen_scenarios()
            if self.scenario not in known:
                raise unknown("frozen scenario of toma_po", self.scenario, known)
            return known[self.scenario]
        level = 1 if self.level is None else self.level
        if level not in LEVELS:
            raise BadInput(f"level must be one of 0 to 4, not {level}")
        for scenario in frozen_scenarios().values():
            if scenario.level == level and self.story in ("", scenario.story):
                return scenario
        raise BadInput(f"no frozen scenario of level {level} tells the story {self.story!r}")

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.over else self.seats

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return (*TASKS, FAILURE)

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        return State(moves[PLAYER], True)

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """The one choice was not made; the scenario is over."""
        return State(None, True)

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
    numbers=numbers,
    reference="solver",
    words_version=2,
)
