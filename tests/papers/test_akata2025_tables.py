"""The authors' conventions, on play short enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally.analysis.compare.published_figures import load
from sally.output.tables.reproduce import Row, reproduce
from sally.papers.akata2025.importer import IMPORTER
from sally.papers.akata2025.tables import table_of, welch
from sally.stats.paired_differences import bayes_factor
from tests.papers.test_akata2025_importer import BOS, PD, episode, games, write_files
from tests.papers.test_brockbank2024_tables import store_episodes


def ours(rows: list[Row], metric: str, **row: str) -> float | None:
    (found,) = [r for r in rows if r.metric == metric and r.row == row]
    return found.ours


def test_every_row_maps_to_its_own_table() -> None:
    for name, table in load("akata2025").tables.items():
        for figure in table.rows:
            assert table_of(figure.row, figure.metric) == name, figure


def test_bayes_factor_follows_from_the_printed_t() -> None:
    """repeated_games.html prints t(193) = 3.485 and .469 with 80.66 and .2329; t is rounded."""
    assert bayes_factor(3.485, 98, 97) == pytest.approx(80.659, rel=0.01)
    assert bayes_factor(0.469, 98, 97) == pytest.approx(0.23288, rel=0.01)


def test_welchs_t_by_hand() -> None:
    t, degrees = welch([1.0, 2.0, 3.0], [4.0, 6.0])
    assert t == pytest.approx(-3 / (1 / 3 + 1) ** 0.5)
    assert degrees == pytest.approx((4 / 3) ** 2 / (1 / 18 + 1))


def test_authors_means_for_player_two_use_only_the_last_round(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_claude", ["JJ", "FJ", "FF"], PD)  # 8, 10, 5
    rows += episode("act_claude", "act_gpt4", ["JJ", "JJ", "FJ"], PD)  # the last pays gpt4 0
    out = store_episodes(
        IMPORTER.read(write_files(tmp_path / "experiment_pd.csv", rows)), tmp_path / "out"
    )
    actual_rows = reproduce("akata2025", "models", out)
    assert ours(actual_rows, "n", game="PD", player="gpt4") == 4
    assert ours(actual_rows, "points", game="PD", player="gpt4") == pytest.approx(23 / 4)
    assert ours(actual_rows, "points", game="PD", player="all others") == pytest.approx(31 / 4)


def test_grudge_counts_from_the_round_after_the_first_defection(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_f", ["JF", "FF", "FF", "JF"], PD)
    rows += episode("act_claude", "act_gpt4", ["JJ", "JJ", "JJ", "FJ"], PD)  # too late to answer
    rows += episode("act_gpt4", "act_j", ["JJ"] * 4, PD)
    out = store_episodes(
        IMPORTER.read(write_files(tmp_path / "experiment_pd.csv", rows)), tmp_path / "out"
    )
    actual_ours = {r.metric: r.ours for r in reproduce("akata2025", "grudge", out)}
    assert (actual_ours["defections_after_first"], actual_ours["rounds_after_first"]) == (2, 3)
    assert (actual_ours["defected_upon"], actual_ours["all_defections"]) == (1, 0)
    assert (actual_ours["never_defected_upon"], actual_ours["all_cooperations"]) == (1, 1)


def test_totals_meetings_and_points_of_battle_of_sexes(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_jf", ["JJ", "JF", "JJ"], BOS)
    out = store_episodes(
        IMPORTER.read(write_files(tmp_path / "experiment_bos.csv", rows)), tmp_path / "out"
    )
    actual_rows = reproduce("akata2025", "totals", out)
    row = {"game": "BoS", "player": "gpt4", "against": "jf"}
    assert ours(actual_rows, "total", **row) == 20 and ours(actual_rows, "other_total", **row) == 14
    assert ours(actual_rows, "met", **row) == 2
    both_rows = reproduce("akata2025", "models", out)
    assert ours(both_rows, "points_both_seats", game="BoS", player="gpt4") == pytest.approx(20 / 3)


def test_all_games_table_gives_shares_of_the_maximum(tmp_path: Path) -> None:
    out = store_episodes(IMPORTER.read(games(tmp_path, "31124423")), tmp_path / "out")
    rows = reproduce("akata2025", "all_games", out)
    # 1,2 and 4,4 in both pairings: claude2 gets 5 twice
    assert ours(rows, "share_of_maximum", player="claude2", family="all") == pytest.approx(5 / 40)
