"""Contextual calibration takes off what a name is worth on a page without content."""

from __future__ import annotations

import pytest

import sally
from sally.core.errors import BadInput
from sally.core.log.events import Moved, Reported
from sally.core.match.playback import mismatch
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.strategies.lm import CONTENT_FREE

PRIOR = {"R": -5.0, "P": -5.0, "S": -2.0}


def _scorer(context, name: str) -> float:
    """Prefers S whatever is asked; the rules and the past speak for P, less loudly."""
    has_content = "score of" in str(context)
    return PRIOR[name] + (1.0 if has_content and name == "P" else 0.0)


def _played(model, **with_):
    who = {"model": model, "strategy": "lm", "with_": with_}
    lineup = {"agent": ("language", who), "partner": "tit_for_tat"}
    return sally.play("rps", lineup, 1, probes={"agent": ["their_move"]}, rounds=3)


@pytest.fixture
def model(monkeypatch):
    result = Scripted(lambda messages, settings: "", _scorer)
    monkeypatch.setattr(registry, "model", lambda name: result)
    return "stub/scripted"


def _moves(episode):
    return [e.action for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]


def test_letter_prior_decides_only_without_calibration(model):
    assert _moves(_played(model)) == [2, 2, 2]
    assert _moves(_played(model, calibrated=1)) == [1, 1, 1]


def test_odds_are_divided_by_the_prior(model):
    episode = _played(model, calibrated=1)
    report = next(e for e in episode.events if isinstance(e, Reported))
    even, liked = 1 / (2 + 2.718281828459045), 2.718281828459045 / (2 + 2.718281828459045)
    assert report.odds == pytest.approx((even, liked, even))


def test_each_content_free_page_is_one_more_call(model):
    episode = _played(model, calibrated=1)
    first = next(e for e in episode.events if isinstance(e, Moved) and e.seat == "agent")
    assert [c.purpose for c in first.calls] == ["move", *["prior"] * len(CONTENT_FREE)]


def test_calibrated_episode_replays(model):
    episode = _played(model, calibrated=1)
    assert mismatch(registry.game("rps"), episode) is None


def test_unknown_version_is_refused(model):
    with pytest.raises(BadInput, match="calibrated must be 0"):
        _played(model, calibrated=7)
