"""The campaigns of benchmarks/hostile in their short, seeded forms; the long ones are published."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.hostile import clocks, disks, importers, lines, replies, requests


def test_every_strategy_at_every_game_survives_hostile_replies() -> None:
    frames = replies.tables(300, seed=18)
    assert frames["broken"] == {} and "ended the run" not in frames
    assert frames["pairs of game and strategy"] > 100 and frames["forfeit"] > 20


def test_mutated_files_are_imported_or_refused_with_one_message() -> None:
    import_result = importers.campaign(60, seed=18)
    assert import_result["caught at the boundary"] == {} and "traces" not in import_result
    assert import_result["wrong episodes"] == 0 and import_result["taken in"] > 0


def test_exception_in_an_importer_gives_one_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*arguments: Any) -> Any:
        raise ZeroDivisionError("in an importer")

    monkeypatch.setattr(importers.tables, "import_table", breaks)
    import_result = importers.campaign(11, seed=18)  # one file of each importer
    ((sentence, count),) = import_result["caught at the boundary"].items()
    assert count == 1 and sentence.startswith("table: ")
    assert "is not in the format of the importer" in sentence


def test_changes_in_lines_and_bundles_are_detected_or_harmless() -> None:
    outcome = lines.campaign(400, 20, seed=18)
    assert outcome["lines"]["sealed: detected"] > 100
    assert "sealed: changed unseen" not in outcome["lines"]
    assert not outcome["lines"].get("bare: a result changed unseen")
    assert set(outcome["bundles"]) <= {"detected", "harmless"}


def test_full_disks_lose_and_duplicate_no_episode() -> None:
    outcome = disks.campaign(most=4)
    assert outcome["full disks"] == 8 and outcome["said in a sentence"] >= 6
    assert [outcome[k] for k in ("lost", "doubled", "torn", "differing")] == [0, 0, 0, 0]


def test_no_request_breaks_the_server() -> None:
    outcome = requests.campaign(100, seed=18)
    assert outcome["broken"] == {} and outcome["4xx"] > 50


def test_clock_jumps_of_an_hour_lose_no_episode() -> None:
    outcome = clocks.campaign(1, 2, seed=18)
    runs, tables = outcome["runs"], outcome["tables"]
    assert [runs[k] for k in ("runs that failed", "lost", "doubled", "differing")] == [0, 0, 0, 0]
    assert tables["tables"] == 2 and tables["jumps"] > 2
    assert "tables that did not end" not in tables
