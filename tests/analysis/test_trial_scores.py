"""Scores of trials kept between commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from sally.analysis.profile.trial_scores import TrialScores
from sally.core.log.events import Instance, PlayerSpec, Setup

SETUP = Setup(Instance("rps", "rps", {}), 1, {"agent": PlayerSpec("random")})


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Use a cache folder of the test's own, as in a process without registered objects."""
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path))
    monkeypatch.setattr("sally.core.registry.registry.added_in_memory", lambda folder="": set())


def play_and_count(counts: list[float], score: float | None) -> Callable[[], float | None]:
    def play() -> float | None:
        counts.append(1)
        return score

    return play


def test_score_is_played_once_and_read_by_the_next_process() -> None:
    counts: list[float] = []
    first = TrialScores("rps")
    for _ in range(2):
        assert first.find(SETUP, "agent", play_and_count(counts, 0.5)) == 0.5
    assert first.find(SETUP, "partner", play_and_count(counts, None)) is None
    first.save()
    second = TrialScores("rps")
    assert second.find(SETUP, "agent", play_and_count(counts, 0.9)) == 0.5
    assert second.find(SETUP, "partner", play_and_count(counts, 0.9)) is None
    other_seed = msgspec.structs.replace(SETUP, seed=2)
    assert second.find(other_seed, "agent", play_and_count(counts, 0.9)) == 0.9
    assert TrialScores("ipd").find(SETUP, "agent", play_and_count(counts, 0.1)) == 0.1
    assert len(counts) == 4


def test_scores_of_two_processes_are_both_kept() -> None:
    first, second = TrialScores("rps"), TrialScores("rps")
    for scores, seed in ((first, 3), (second, 4)):
        setup = msgspec.structs.replace(SETUP, seed=seed)
        scores.find(setup, "agent", play_and_count([], float(seed)))
        scores.save()
    for seed in (3, 4):
        setup = msgspec.structs.replace(SETUP, seed=seed)
        assert TrialScores("rps").find(setup, "agent", play_and_count([], None)) == seed


def test_damaged_file_is_played_again(tmp_path: Path) -> None:
    scores = TrialScores("rps")
    scores.find(SETUP, "agent", play_and_count([], 0.5))
    scores.save()
    (file,) = tmp_path.rglob("*.msgpack")
    file.write_bytes(file.read_bytes()[:-3])
    assert TrialScores("rps").find(SETUP, "agent", play_and_count([], 0.7)) == 0.7


def test_nothing_is_kept_while_objects_without_known_code_are_registered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sally.core.registry.registry.added_in_memory", lambda folder="": {"mine"})
    scores = TrialScores("rps")
    scores.find(SETUP, "agent", play_and_count([], 0.5))
    scores.save()
    assert list(tmp_path.rglob("*.msgpack")) == []
