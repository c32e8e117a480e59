"""`sally audit --logs` on real Inspect logs, with failures that are planted in the replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState

from sally.adapters.game_logs import read_game_logs
from sally.adapters.inspect.tasks import game_task
from sally.analysis.game_logs import audit_games
from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, Moved
from tests.adapters.inspect.tables import mock, stored

EPISODES, ROUNDS = 8, 3


def log_of_games(folder: Path, planted: int) -> tuple[Path, Path]:
    """Play rock paper scissors with a mock that is unreadable in its first `planted` decisions;
    return the log and the store."""
    decisions = 0

    def reply(messages: list[Any]) -> str:
        nonlocal decisions
        is_again = "could not be used" in str(messages[-1].text)
        decisions += not is_again
        return "I will not say." if decisions <= planted else f"Option: {'RPS'[decisions % 3]}"

    (log,) = inspect_eval(
        game_task("rps", "rps"),
        task_args={"out": str(folder / "out"), "partner": "tit_for_tat", "probes": "none",
                   "episodes": EPISODES, "rounds": ROUNDS},
        log_dir=str(folder / "logs"),
        display="none",
        model=mock(reply),
        max_samples=1,
    )  # fmt: skip
    assert log.status == "success", log.error
    return Path(log.location), folder / "out"


def test_forfeits_in_a_log_of_our_task_are_found_by_seat(tmp_path: Path) -> None:
    log, out = log_of_games(tmp_path, planted=2)
    games, episodes = read_game_logs([log]), stored(out)
    forfeits = [e.seat for ep in episodes for e in ep.events if isinstance(e, Forfeited)]
    assert forfeits == ["agent"] * 2
    audit = audit_games(games)
    failing = [(row.seat, row.failures) for row in audit.players if row.failures]
    assert audit.games == EPISODES and failing == [(0, {"unreadable": 2})]
    scores = {game.id: game.scores for game in games}
    assert scores == {ep.id: tuple((ep.payoffs or {}).values()) for ep in episodes}
    moves = sum(isinstance(e, Moved) for ep in episodes for e in ep.events)
    assert sum(len(game.moves) for game in games) == moves


def test_nothing_is_found_in_a_clean_log_and_a_copy_is(tmp_path: Path) -> None:
    log, _ = log_of_games(tmp_path, planted=0)
    audit = audit_games(read_game_logs([log]))
    assert not any(row.failures or row.games_cut for row in audit.players)
    assert audit.same_id == 0
    assert audit_games(read_game_logs([log, log])).same_id == EPISODES


@scorer(metrics=[mean()])
def reads_number() -> Scorer:
    """A scorer of somebody else, which names a reason for an answer without a number."""

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        if not text.isdigit():
            return Score(value=0, reason="invalid_response_format")
        return Score(value=int(text == target.text))

    return score


@pytest.mark.parametrize("planted", [0, 3])
def test_log_of_another_task_gives_its_reasons(planted: int, tmp_path: Path) -> None:
    calls = 0

    def reply(messages: list[Any]) -> str:
        nonlocal calls
        calls += 1
        return "perhaps" if calls <= planted else "4"

    (log,) = inspect_eval(
        Task(dataset=[Sample(id=str(n), input="2 + 2", target="4") for n in range(6)],
             scorer=reads_number(), name="sums"),
        log_dir=str(tmp_path), display="none", model=mock(reply), max_samples=1,
    )  # fmt: skip
    games = read_game_logs([Path(log.location)])
    failures = [failure.kind for game in games for failure in game.failures]
    assert failures == ["invalid_response_format"] * planted
    assert sum(game.scores[0] or 0 for game in games) == 6 - planted
    assert audit_games(games).games == 6


def test_broken_log_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(b"PK nothing")
    with pytest.raises(BadInput, match="is not an Inspect log"):
        read_game_logs([tmp_path / "a.eval"])
