"""hanabi_bots: what can be had again of the published means, in a few deals."""

from __future__ import annotations

import pytest

from sally.analysis.compare.published_figures import load
from sally.output.tables.reproduce import Effort, Row, reproduce
from sally.papers.hanabi_bots.study import CROSSPLAY, STUDY
from sally.papers.hanabi_bots.tables import CROSSED, scores
from sally.stats.intervals import mean_interval

FEW = Effort(repeats=6, seed=3)


def cell(rows: list[Row], **conditions: object) -> Row:
    (found,) = [r for r in rows if conditions.items() <= r.row.items()]
    return found


def test_every_published_mean_is_computed_and_the_bot_built_from_a_sketch_is_flagged() -> None:
    rows = reproduce("hanabi_bots:means", effort=FEW)
    printed = [row for row in rows if row.published is not None]
    assert len(printed) == 20
    assert all(row.ours is not None for row in printed)
    flagged = {f.row["bot"] for f in load("hanabi_bots").tables["means"].rows if f.flag}
    assert flagged == {"info"}
    beside = {row.row["bot"] for row in rows if row.published is None}
    assert beside == {"legal_random", "iggi", "outer", "piers", "van_den_bergh"}


def test_means_of_three_bots_match_the_published_ones() -> None:
    """Within four standard errors; tests/games/hanabi tests every bot and number of players."""
    for bot, players, published in (("blind", 2, 1.25), ("simple", 2, 16.92), ("smart", 2, 23.09)):
        estimate = mean_interval(scores((bot,) * players, 40, 11))
        assert estimate.value is not None
        assert estimate.low is not None
        assert abs(estimate.value - published) < 2 * (estimate.value - estimate.low) + 0.005


def test_shared_convention_scores_more_than_unshared() -> None:
    """Smart beside itself scores far more than smart beside simple, on the same deals."""
    own_score, strangers = (
        scores(pair, 15, 1) for pair in (("smart", "smart"), ("smart", "simple"))
    )
    assert sum(own_score) > 1.5 * sum(strangers)


def test_crossplay_has_every_pair_in_both_orders() -> None:
    rows = reproduce("hanabi_bots:crossplay", effort=Effort(repeats=2))
    assert {(r.row["first"], r.row["second"]) for r in rows} == {
        (a, b) for a in CROSSED for b in CROSSED
    }
    assert all(row.published is None and row.ours is not None for row in rows)


def test_perfect_games_are_reported_in_percent() -> None:
    row = cell(reproduce("hanabi_bots:perfect", effort=FEW), bot="smart", players=2)
    assert row.published == 29.52
    played = scores(("smart", "smart"), FEW.repeats, FEW.seed)
    assert played.count(25) == 2
    assert row.ours == pytest.approx(100 * 2 / 6)


def test_studies_play_the_same_deals_in_every_lineup() -> None:
    for study in (STUDY, CROSSPLAY):
        for cell in study.cells:
            assert all("deal" in instance.params for instance in cell.instances)
    trials = list(CROSSPLAY.trials())
    assert len(trials) == 50 * 9 * 9
