"""What does a question change before the move, after it, or if it is never asked there?

    python -m benchmarks.asked_after --model hf:qwen-0.5b --out out/asked_after [--pairs 20]

Positions of the suite Sally-2 in rock, paper, scissors, battle of the sexes and stag hunt, whose
prediction can be asked with the own move stated. *Never*: the prediction is asked in a conversation
of its own. *Before*: the model reads its prediction before it moves. *After*: it reads its move
before it predicts. Printed, pooled over the games: the share of moves that differ from those of
*never*, and the share of predictions after the move that differ from those asked without it. The
store is resumed if the run is interrupted.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import sally
from sally.core.log.events import Episode, Moved, Reported, Setup
from sally.core.registry.study import Study
from sally.core.rules.game import Seat
from sally.output.tables.console import estimate_cell
from sally.stats.cluster_interval import mean_by_rule
from sally.studies import sally_2

GAMES = ("rps", "ibs", "stag_hunt")
NEVER, BEFORE, AFTER = "never", "before", "after"
GIVEN_MOVE = "their_move_given_mine"
Answers = Mapping[str, Any]


def plan(pairs: int) -> Study:
    """Return the positions of some pairs of each game in the three arms."""
    cells = []
    for cell in sally_2.suite("L", GAMES).cells:
        arm = {sally_2.ASKED: NEVER, sally_2.TOGETHER: BEFORE}.get(cell.factors["arm"])
        if arm is None:
            continue
        first = msgspec.structs.replace(
            cell,
            name=f"{cell.name.partition(':')[0]}: {arm}",
            instances=cell.instances[: 2 * pairs],
            lineups=cell.lineups[: 2 * pairs],
            factors={"arm": arm},
        )
        cells.append(first)
        if arm == NEVER:
            seat = next(iter(first.arms))
            name = f"{cell.name.partition(':')[0]}: {AFTER}"
            seat_questions = {seat: (GIVEN_MOVE,)}
            cells.append(
                msgspec.structs.replace(
                    first, name=name, arms=seat_questions, factors={"arm": AFTER}
                )
            )
    about = "predictions asked before the move, after it, or in a conversation of their own"
    return Study(name="asked_after", about=about, cells=tuple(cells), seed=sally_2.SEED)


def arm_of(setup: Setup, seat: str) -> str:
    """Return when the question was asked."""
    if GIVEN_MOVE in setup.arms.get(Seat(seat), ()):
        return AFTER
    return BEFORE if setup.injections else NEVER


def answers_of(episodes: Sequence[Episode], arm: str) -> tuple[Answers, Answers]:
    """Return the moves and the predictions of an arm, by the id of the position; unreadable ones
    are left out."""
    moves, predictions = {}, {}
    for episode in episodes:
        instance = episode.setup.instance
        if not instance.position or arm_of(episode.setup, instance.position.seat) != arm:
            continue
        own_events = (event for event in episode.events if event.seat == instance.position.seat)
        for event in own_events:
            if isinstance(event, Moved):
                moves[instance.id] = event.action
            elif isinstance(event, Reported) and event.value is not None:
                predictions[instance.id] = event.value
    return moves, predictions


def format_changes(answers: Answers, base: Answers) -> str:
    """Return the share of positions with another answer, with its interval over pairs."""
    names = [name for name in answers if name in base]
    changes = [float(answers[name] != base[name]) for name in names]
    share = mean_by_rule(changes, [name.rpartition("-")[0] for name in names], (0.0, 1.0))
    if share.value is None:
        return "no answers in both"
    return f"{estimate_cell(share.value, share.interval, 2)} of {len(names)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=20, help="pairs of each game")
    options = parser.parse_args()
    episodes = list(sally.run(plan(options.pairs), options.out, model=options.model))
    moves, predictions = {}, {}
    for arm in (NEVER, BEFORE, AFTER):
        moves[arm], predictions[arm] = answers_of(episodes, arm)
    for arm in (BEFORE, AFTER):
        print(f"moves changed, question {arm}: {format_changes(moves[arm], moves[NEVER])}")
    print(
        f"predictions changed, asked after the move: "
        f"{format_changes(predictions[AFTER], predictions[NEVER])}"
    )


if __name__ == "__main__":
    main()
