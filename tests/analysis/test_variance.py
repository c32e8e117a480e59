"""What a score hangs on, and what is lost in fresh words."""

from __future__ import annotations

import pytest

import sally
from sally.analysis.design.variance import FACTORS, FactorScore, factor_scores, sources
from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.models.stub import always

OWN = "the game's own words"


def told(value, wording=OWN, problem="p", model="m"):
    factors = dict.fromkeys(FACTORS, "x")
    factors |= {"model": model, "wording": wording, "problem": problem}
    return FactorScore("ipd", "reward", value, factors, f"{model}/{problem}")


def test_a_score_that_falls_in_fresh_words_shows_by_how_much():
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


def test_without_another_wording_nothing_is_said_of_it():
    (found,) = sources([told(1.0, problem=p) for p in "abcab"])
    assert found.best_known is None and found.fresh.value is None
    assert "wording" not in found.shares.shares


def test_scores_know_model_strategy_words_problem_partner_and_chance():
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
    scores = list(factor_scores(played))
    assert {s.measure for s in scores} == {"reward_per_round", "knowing"}
    assert {s.factors["wording"] for s in scores} == {OWN, "repeated_games_twin"}
    assert len({s.pair for s in scores}) == 1
    (only, *_) = sally.contrast(played, "twin")
    assert only["condition"] == "repeated_games_twin"
    assert len(sally.variance(played)) == 2
