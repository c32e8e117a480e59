"""Registry entry of the partially observable game."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.replay import Trajectory
from sally.core.rules.game import Doing, GameSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.games.toma.one_shot import PLAYER, State
from sally.games.toma.po.game import PartlySeen, View, frozen_scenarios
from sally.games.toma.po.rules import (
    AGENTS,
    TASKS,
    predictable,
    predictions,
    rational_actions,
)
from sally.games.toma.po.words import PEOPLE, TEXTS, PartlySeenWords

# --- probes: what the others do ---------------------------------------------------------


def asks(game: PartlySeen, view: View, seat: Seat) -> tuple[Question, ...]:
    """Return the questions about the choice of every agent that the player can predict."""
    return tuple(
        Question("their_choice", "choice", tuple(TASKS), about=AGENTS[agent])
        for agent in predictable(game.problem)
    )


def truth(replay: Trajectory[State, int, View], at: At) -> int:
    """Return the agent's choice by the stated rules."""
    assert isinstance(replay.game, PartlySeen)
    return predictions(replay.game.problem)[AGENTS.index(at.about)]


def best_replies(game: PartlySeen, view: View, belief: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the right options given beliefs about all agents; None if a belief is missing."""
    predicted = {AGENTS.index(name): task for name, task in belief.items()}
    if set(predicted) != set(predictable(game.problem)):
        return None
    return tuple(sorted(rational_actions(game.as_seen(view), predicted)))


def numbers(game: PartlySeen, view: View) -> tuple[float, ...]:
    """Return the sixteen costs in tenths (0 if hidden) and the player's seat, one-hot."""
    costs = [float(cost) for row in view.costs for cost in row or (0, 0, 0, 0)]
    return (*costs, *(float(agent == game.problem.player) for agent in range(4)))


GAME: GameSpec[State, int, View] = GameSpec(
    name="toma_po",
    titles={"toma_po": "Four people, four tasks"},
    sentences={
        "toma_po": "Four people choose among four tasks, and not everybody knows what each task "
        "costs. Choose the task that nobody else chooses."
    },
    roles={"player": "one of the four"},
    about="four agents, four tasks, partly unknown costs: pick a task of your own (kang2026)",
    game=PartlySeen,
    words=PartlySeenWords,
    texts=TEXTS,
    people=PEOPLE,
    probes=(
        Probe(
            "their_choice",
            "which task each predictable agent takes",
            "before",
            "choice",
            (PLAYER,),
            asks,
            truth,
        ),
    ),
    best_replies=best_replies,
    doing=Doing("task_success", right=1.0),
    pays=lambda game, seat: (0.0, 1.0),
    fresh=lambda draws, name: {"scenario": draws.pick(list(frozen_scenarios()))},
    settings={"level": (0, 9), "scenario": None, "story": None},
    numbers=numbers,
    reference="solver",
    words_version=2,
)
