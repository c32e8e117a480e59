"""What a score hangs on, and what is lost in fresh words."""

from __future__ import annotations

import pytest

import sally
from sally.analysis.design.variance import FACTORS, FactorScore, factor_scores, sources
from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.frames.frame import as_frame
from sally.models.stub import always

OWN = "the game's own words"


def told(value, wording=OWN, problem="p", model="m"):
    factors = dict.fromkeys(FACTORS, "x")
    factors |= {"model": model, "wording": wording, "problem": problem}
    return FactorScore("ipd", "reward", value, factors, f"{model}/{problem}")


def test_score_drop_in_fresh_wording_is_estimated():
    scores = [
        told(known - lost, wording, f"p{n}")
        for n, known in enumerate((1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
        for wording, lost in ((OWN, 0.0), ("a_story", 0.4), ("a_formal", 0.6), ("a_twin", 9.0))
    ]
    (found,) = sources(scores)
    assert (
        found.fresh.value == pytest.approx(0.5) and found.fresh.n == 6
    )  # twins are no fresh words
    assert found.best_known == pytest.approx(3.5) and found.in_fresh == pytest.approx(3.0)


def test_wording_is_not_a_source_with_one_wording():
    (found,) = sources([told(1.0, problem=p) for p in "abcab"])
    assert found.best_known is None and found.fresh.value is None
    assert "wording" not in found.shares.shares


def test_factor_scores_have_two_measures_and_both_wordings():
    registry.add("models", "wordy", lambda name: always("Option: J"))
    who = [
        PlayerSpec("language", {"model": "wordy", "strategy": "qa", "pack": pack})
        for pack in ("", "repeated_games_twin")
    ]
    asked = {"agent": ("their_move",)}
    played = [
        sally.play("ipd", {"agent": one, "partner": "tit_for_tat"}, probes=asked, rounds=2)
        for one in who
    ]
    scores = list(factor_scores(as_frame(played)))
    assert {s.measure for s in scores} == {"reward_per_round", "knowing"}
    assert {s.factors["wording"] for s in scores} == {OWN, "repeated_games_twin"}
    assert len({s.pair for s in scores}) == 1
    (only, *_) = sally.contrast(played, "twin")
    assert only["condition"] == "repeated_games_twin"
    assert len(sally.variance(played)) == 2
