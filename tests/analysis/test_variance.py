"""What a score hangs on, and what is lost in fresh words."""

from __future__ import annotations

import polars as pl
import pytest

import sally
from sally.analysis.design.variance import FACTORS, factor_scores, sources
from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.frames.frame import as_frame
from sally.models.stub import always

OWN = "the game's own words"


def told(value, wording=OWN, problem="p", model="m"):
    factors = dict.fromkeys(FACTORS, "x")
    factors |= {"model": model, "wording": wording, "problem": problem}
    row = {"game": "ipd", "measure": "reward", "value": value, "pair": f"{model}/{problem}"}
    return row | factors


def table_of(scores):
    return pl.DataFrame(scores).cast(dict.fromkeys(FACTORS, pl.Categorical))


def test_score_drop_in_fresh_wording_is_estimated():
    scores = [
        told(known - lost_value, wording, f"p{n}")
        for n, known in enumerate((1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
        for wording, lost_value in (
            (OWN, 0.0),
            ("a_story", 0.4),
            ("a_formal", 0.6),
            ("a_twin", 9.0),
        )
    ]
    (source,) = sources(table_of(scores))
    assert (
        source.fresh.value == pytest.approx(0.5) and source.fresh.n == 6
    )  # twins are no fresh words
    assert source.best_known == pytest.approx(3.5) and source.in_fresh == pytest.approx(3.0)


def test_wording_is_not_a_source_with_one_wording():
    (source,) = sources(table_of([told(1.0, problem=p) for p in "abcab"]))
    assert source.best_known is None and source.fresh.value is None
    assert "wording" not in source.shares.shares


def test_factor_scores_have_two_measures_and_both_wordings():
    registry.add("models", "wordy", lambda name: always("Option: J"))
    players = [
        PlayerSpec("language", {"model": "wordy", "strategy": "qa", "pack": pack})
        for pack in ("", "repeated_games_twin")
    ]
    asked_probes = {"agent": ("their_move",)}
    played = [
        sally.play(
            "ipd", {"agent": player, "partner": "tit_for_tat"}, probes=asked_probes, rounds=2
        )
        for player in players
    ]
    scores = factor_scores(as_frame(played))
    assert set(scores["measure"]) == {"reward_per_round", "knowing"}
    assert set(scores["wording"]) == {OWN, "repeated_games_twin"}
    assert scores["pair"].n_unique() == 1
    (only, *_) = sally.contrast(played, "twin")
    assert only["condition"] == "repeated_games_twin"
    assert len(sally.variance(played)) == 2
