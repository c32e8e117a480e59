"""Registry entry of the partially observable game."""

from __future__ import annotations

from sally.core.rules.game import Doing, GameSpec, LearnerSpec, MeasureSpec, PeopleSpec
from sally.games.toma.one_shot import State, best_replies, probe
from sally.games.toma.po.game import PartlySeen, View, frozen_scenarios
from sally.games.toma.po.rules import TASKS
from sally.games.toma.po.words import TEXTS, PartlySeenWords


def numbers(game: PartlySeen, view: View) -> tuple[float, ...]:
    """Return the sixteen costs in tenths (0 if hidden) and the player's seat, one-hot."""
    costs = [float(cost) for row in view.costs for cost in row or (0, 0, 0, 0)]
    return (*costs, *(float(agent == game.problem.player) for agent in range(4)))


GAME: GameSpec[State, int, View] = GameSpec(
    name="toma_po",
    about="four agents, four tasks, partly unknown costs: pick a task of your own (kang2026)",
    game=PartlySeen,
    words=PartlySeenWords,
    texts=TEXTS,
    probes=(probe("their_choice", "which task each predictable agent takes", TASKS),),
    words_version=2,
    people=PeopleSpec.read(
        __package__,
        fresh=lambda draws, name: {"scenario": draws.pick(list(frozen_scenarios()))},
        settings={"level": (0, 9), "scenario": None, "story": None},
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        doing=Doing("task_success", right=1.0),
        pays=lambda game, seat: (0.0, 1.0),
        reference="solver",
    ),
    learners=LearnerSpec(numbers=numbers),
)
