"""Reliability of play: who is told apart, by how many episodes, and what goes with what."""

from __future__ import annotations

import hashlib
import json

import polars as pl
import pytest

import sally
from benchmarks import validity
from sally.analysis.design.reliability import (
    DOING,
    KNOWING,
    OTHER_TRAIT_HERE,
    SAME_TRAIT,
    SCORE,
    matrix,
    reliability,
    scores_of,
    tabulate,
)
from sally.frames.frame import as_frame


def score(player, problem, value, game="ipd", trait=DOING, method="m", repeat=0):
    problem_hash = f"{problem}/{repeat}".encode()
    return (game, trait, method, player, problem_hash, problem, repeat, value)


def table_of(scores):
    return pl.DataFrame(scores, SCORE, orient="row")


def some(levels, noise, repeats=2, problems=4, **options):
    return [
        score(
            f"p{n}", f"q{q}", level + noise * ((7 * n + 3 * q + 5 * r) % 5 - 2), repeat=r, **options
        )
        for n, level in enumerate(levels)
        for q in range(problems)
        for r in range(repeats)
    ]


def test_distant_players_need_one_episode_and_equal_players_have_no_number():
    (separate_reliability,) = reliability(table_of(some([0, 5, 10, 20], 0.1)))
    assert (
        separate_reliability.episodes == 1
        and separate_reliability.consistency.value > 0.99
        and separate_reliability.retest.value > 0.99
    )
    assert (separate_reliability.players, separate_reliability.problems) == (4, 8)
    (equal,) = reliability(table_of(some([1, 1, 1, 1], 0.0)))
    assert equal.episodes is None and equal.why == "the players do not differ"


def test_more_noise_requires_more_episodes():
    quiet, loud = (reliability(table_of(some([0, 1, 2, 3], noise)))[0] for noise in (0.5, 2.0))
    assert loud.episodes > quiet.episodes and loud.error > quiet.error


def test_player_with_different_problems_is_excluded():
    table, players, problems = tabulate(
        table_of([*some([0, 1, 2], 0.1), score("stranger", "elsewhere", 9.0)])
    )
    assert players == ["p0", "p1", "p2"] and problems == 8 and len(table) == 3


def test_retest_is_blank_without_repeats():
    (actual_reliability,) = reliability(table_of(some([0, 1, 2, 3], 0.1, repeats=1)))
    assert actual_reliability.retest.value is None and actual_reliability.consistency.value > 0.9


def test_multitrait_matrix_separates_two_uncorrelated_traits():
    levels, other = [0, 1, 2, 3, 4, 5], [3, 0, 5, 1, 4, 2]
    scores = [
        *some(levels, 0.1, game="a"),
        *some(levels, 0.1, game="b"),
        *some(other, 0.1, game="a", trait=KNOWING),
        *some(other, 0.1, game="b", trait=KNOWING),
    ]
    actual_matrix = matrix(table_of(scores))
    assert (
        actual_matrix.means[SAME_TRAIT].value
        > 0.95
        > abs(actual_matrix.means[OTHER_TRAIT_HERE].value) + 0.5
    )
    assert actual_matrix.players == 6 and len(actual_matrix.pairs) == 6
    low, high = actual_matrix.means[SAME_TRAIT].interval
    assert low <= actual_matrix.means[SAME_TRAIT].value <= high


def test_scores_are_read_off_episodes_by_probe_and_by_metric():
    asked_probes = {"agent": ("their_move",)}
    lineup = {"agent": "tabular", "partner": "tit_for_tat"}
    episodes = [sally.play("ipd", lineup, seed, probes=asked_probes, rounds=6) for seed in (1, 2)]
    scores = scores_of(as_frame(episodes))
    assert set(scores.select("trait", "method").iter_rows()) == {
        (DOING, "reward_per_round"),
        (KNOWING, "their_move"),
    }
    knows = scores.filter(pl.col("trait") == KNOWING)["value"]
    rows = sally.episodes(episodes)
    percent = [row["tom_percent"] for row in rows if row["seat"] == "agent"]
    assert [100 * value for value in knows] == pytest.approx(percent)
    assert len(sally.reliability(episodes)) == 2


def test_sentences_on_the_shipped_bundles_are_generated():
    """`python -m benchmarks.validity shipped` computes the facts, in a minute of an idle core."""
    facts = json.loads(validity.FACTS.read_bytes())
    bundles = validity.ROOT / "docs" / "results" / "bundles"
    for name, digest in facts["bundles"].items():
        assert hashlib.sha256((bundles / name).read_bytes()).hexdigest() == digest, name
    page = (validity.ROOT / "docs" / "discussion" / "validity.md").read_text("utf-8")
    assert [sentence for sentence in validity.sentences(facts) if sentence not in page] == []
