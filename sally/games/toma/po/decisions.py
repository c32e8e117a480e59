"""Training problems and depths of reasoning of the partially observable game."""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.toma.metrics import did
from sally.games.toma.one_shot import training
from sally.games.toma.po.depths import answers_by_depth
from sally.games.toma.po.game import PartlySeen, certified_by_id, frozen_scenarios
from sally.games.toma.po.rules import Scenario, answer

TRAINING = training(frozen_scenarios)

# Accuracy of the best constant answer by level: at level 2 failure is right in a fifth.
CHANCE = {0: 1.0, 1: 0.25, 2: 0.2, 3: 0.25}
ABOUT = (
    "depth 0 takes its own cheapest task; depth k predicts every agent it knows as a reasoner of "
    "depth k - 1 with that agent's knowledge, and applies the stated rule"
)
NOTES = (
    "At level 3 of kang2026's generator depth 2 is nearly always right: its scores do not show a "
    "third step; read them beside block 3.",
    "Block 2 and 3: predictions of depth d - 1 always collide, so that reasoner answers failure. A "
    "player that ignores the collision has two or three tasks left and guesses among them.",
    "A short rule solves .80 of block 2 and all of block 3 (benchmarks/rule_search.py): a score "
    "there does not show this depth; certified pairs do (sally audit toma_po --pairs).",
)


def reason_about(scenario: Scenario, block: int | None = None) -> Reasoned:
    """Return a scenario with the answers of reasoners of every depth."""
    level = scenario.level
    return Reasoned(
        tuple((answer_at_depth,) for answer_at_depth in answers_by_depth(scenario)),
        (answer(scenario),),
        CHANCE[level],
        block,
        f"level {level}" if block is None else f"block {block}",
    )


def _questions() -> Iterator[Reasoned]:
    yield from (reason_about(s) for s in frozen_scenarios().values() if s.level in CHANCE)
    yield from (
        reason_about(problem.scenario, problem.block) for problem in certified_by_id().values()
    )


def _judge_choice(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    game = played.replay.rules(PartlySeen)
    if game.problem.level in CHANCE and played.episode.payoffs is not None:
        certified_scenario = certified_by_id().get(game.problem.id)
        block = certified_scenario.block if certified_scenario is not None else None
        yield DepthDecision(reason_about(game.problem, block), did(played, seat) is True)


DEPTHS = Depths(ABOUT, _questions, _judge_choice, NOTES)
