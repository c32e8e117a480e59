"""Training problems and depths of reasoning of the minority game."""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.toma.metrics import did
from sally.games.toma.mg.depths import answers_by_depth
from sally.games.toma.mg.game import Minority, certified_by_id, frozen_scenarios
from sally.games.toma.mg.rules import Scenario, answer
from sally.games.toma.one_shot import training

TRAINING = training(frozen_scenarios)

ABOUT = (
    "depth 0 predicts nobody and takes any place; depth k predicts every agent at depth k - 1, "
    "where an agent of depth 0 goes by its own wishes alone, and takes the emptiest place"
)


CHANCE = 0.25  # of four places
LEARNT = 0.29  # what learners on the page reach at level 1 of the fifth set, which is not even


def reason_about(scenario: Scenario, group: str = "") -> Reasoned:
    """Return a scenario with the answers of reasoners of every depth."""
    is_certified = scenario.id in certified_by_id() or scenario.id in certified_by_id(5)
    block = scenario.level if is_certified else None
    name = group or (f"level {scenario.level}" if block is None else f"block {block}")
    uneven = is_certified and scenario.id not in certified_by_id()
    chance = LEARNT if uneven else CHANCE
    return Reasoned(answers_by_depth(scenario), (answer(scenario),), chance, block, name)


def _questions() -> Iterator[Reasoned]:
    for scenario in frozen_scenarios(4).values():
        yield reason_about(scenario, f"fourth set, level {scenario.level}")
    yield from (reason_about(problem.scenario) for problem in certified_by_id().values())


def _judge_choice(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    game = played.replay.rules(Minority)
    if played.episode.payoffs is not None:
        yield DepthDecision(reason_about(game.problem), did(played, seat) is True)


NOTES = (
    f"Level 1 of the fifth set (`mg5-L1`, in the suite Sally-1) is compared with {LEARNT}, which "
    "learners reach on features of the page, instead of one in four.",
)
DEPTHS = Depths(ABOUT, _questions, _judge_choice, NOTES)
