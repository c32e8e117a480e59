"""Asking before the move, in its conversation: the share of moves that change."""

from __future__ import annotations

import sally
from benchmarks import asked_after
from sally.analysis.pairs.evaluation import PairRecord, summarize_records
from sally.analysis.pairs.score import AnsweredPair
from sally.core.log.events import Moved
from sally.models.stub import always


def record(arm: str, game: str, number: int, moves: tuple[str, ...]) -> PairRecord:
    pair = AnsweredPair("model", game, game, 1, f"{game} {number}", "", None, None, None)
    return PairRecord(arm, game, 2, pair, (), tuple(enumerate(moves)))


def test_share_of_changed_moves_is_the_mean_of_games() -> None:
    """One of two moves changes in every pair of the first game, none in the second."""
    records = []
    for number in range(20):
        records += [record("asked", game, number, ("0", "1")) for game in ("rps", "ibs")]
        records.append(record("together", "rps", number, ("0", "2")))
        records.append(record("together", "ibs", number, ("0", "1")))
    effects = {effect.measure: effect for effect in summarize_records(records, ()).arms}
    changed = effects["changed moves"].difference
    assert changed is not None and changed.value == 0.25
    assert changed.low <= 0.25 < changed.high and effects["changed moves"].pairs == 40


def test_forfeited_moves_are_not_counted_as_changed() -> None:
    records = [record("asked", "rps", number, ("0", "1")) for number in range(10)]
    for number in range(10):
        records.append(record("together", "rps", number, ("0",)))
    effects = {effect.measure: effect for effect in summarize_records(records, ()).arms}
    assert effects["changed moves"].difference.value == 0


def test_a_question_after_the_move_leaves_its_page_as_it_is() -> None:
    """The page of the move differs only where the model reads its own prediction first."""
    pages: dict[str, dict[str, str]] = {}
    for episode in sally.run(asked_after.plan(3), model=always("J")):
        position = episode.setup.instance.position
        arm = asked_after.arm_of(episode.setup, position.seat)
        for event in episode.events:
            if isinstance(event, Moved) and event.seat == position.seat:
                pages.setdefault(arm, {})[episode.setup.instance.id] = event.calls[0].prompt
    assert pages["never"] == pages["after"]
    assert len(pages["before"]) > 2
    assert not set(pages["before"].values()) & set(pages["never"].values())
