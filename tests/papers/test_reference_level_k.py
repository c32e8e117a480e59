"""The figures of level_k that need no model: theory, the public package, and fits to people."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.games.level_k.people import read_published
from sally.output.tables.reproduce import Effort, Row, reproduce
from sally.papers.level_k.study import STUDY
from sally.papers.level_k.tables import duel, floor
from sally.runner.local import play
from sally.runner.models import with_model
from sally.runner.seating import resolve_setup
from sally.store import Writer
from tests.strategies.talk import Listener

EFFORT = Effort(repeats=40)


def rows(table: str) -> list[Row]:
    return reproduce("level_k", table, effort=EFFORT)


def test_every_printed_probability_of_the_public_package_is_reproduced() -> None:
    actual_rows = rows("k_tom_chances")
    assert len(actual_rows) == 8
    for row in actual_rows:
        assert row.ours == pytest.approx(row.published, abs=1e-9)
        assert row.verdict != "different"


def test_winnings_of_k_tom_agree_with_the_public_package() -> None:
    for row in rows("k_tom"):
        assert row.ours is not None and row.published is not None
        assert row.computed and row.n == 40
        assert abs(row.ours - row.published) < 0.12  # four standard errors of both together


def test_deeper_k_tom_beats_the_next_lower_one() -> None:
    for deeper in (1, 2):
        won = duel(deeper, deeper - 1, 60, 1)
        assert won.value is not None and won.value > 0


def test_whole_number_contest_has_equilibria_zero_and_one() -> None:
    actual_rows = {str(row.row["what"]): row for row in rows("theory")}
    agreed = [row for what, row in actual_rows.items() if what.startswith("contest of whole")]
    assert [row.ours for row in agreed] == [0, 1]
    assert all(row.verdict != "different" for row in agreed)


def test_cognitive_hierarchy_predicts_the_winning_newspaper_number() -> None:
    row = next(r for r in rows("theory") if str(r.row["what"]).startswith("newspaper"))
    assert row.ours == pytest.approx(21.6, abs=1.5)


def test_best_reply_to_people_is_seventeen_not_the_equilibrium() -> None:
    ours = {str(row.row["what"]): row.ours for row in rows("theory")}
    assert ours["best reply to people"] == 17
    assert ours["what it pays"] == pytest.approx(23.0)
    equilibrium = ours["what an equilibrium player earns from people"]
    assert equilibrium is not None and equilibrium < 21


def test_distance_of_two_human_samples_has_a_noise_floor() -> None:
    separate_estimate = floor(1)
    assert separate_estimate.value is not None and 0.08 < separate_estimate.value < 0.2


def test_shares_of_each_line_sum_to_100() -> None:
    totals: dict[str, float] = {}
    for row in rows("people"):
        share = row.published if row.ours is None else row.ours
        totals[str(row.row["model"])] = totals.get(str(row.row["model"]), 0.0) + (share or 0.0)
    assert len(totals) == 4
    assert list(totals.values()) == pytest.approx([100.0] * 4)


def test_table_equals_the_odds_of_the_people_partner() -> None:
    printed = {int(r.row["number"]): r.published for r in rows("people") if r.published is not None}
    assert printed == {int(n): p for n, p in read_published()["request"].percent.items()}


@pytest.fixture
def filled() -> Study:
    model = Listener(
        lambda page, call: (
            "Odds: none 0, one 100, two 0, three or more 0" if "Odds" in page else "Number: 17"
        )
    )
    registry.add("models", "listener", lambda name: model)
    return with_model(STUDY, "listener", {})


def test_every_cell_can_be_played_by_a_model(filled: Study) -> None:
    for cell in filled.cells:
        for lineup in cell.lineups:
            resolve_setup(Setup(cell.instances[0], 1, lineup, arms=cell.arms))


def test_model_has_its_own_line_beside_people(filled: Study, tmp_path: Path) -> None:
    """One that always asks for 17 and always expects 17 of the other."""
    trials = [setup for name, setup in filled.trials() if name == "eleven_twenty: people"]
    episodes = [play(resolve_setup(setup)) for setup in trials[:6]]
    assert all(episode.payoffs for episode in episodes)
    with Writer(tmp_path) as writer:
        for episode in episodes:
            writer.add(episode)
    actual_rows = reproduce("level_k", "people", episodes=tmp_path, effort=EFFORT)
    mine = {int(r.row["number"]): r for r in actual_rows if r.row["model"] == "listener"}
    assert (mine[17].ours, mine[18].ours) == (100, 0)
    assert mine[17].n == 6


def test_study_has_every_game() -> None:
    games = {i.game for cell in STUDY.cells for i in cell.instances}
    assert games == {"eleven_twenty", "beauty_contest", "hide_and_seek", "matching_pennies"}
