"""The pages hold the tables of the full records that `benchmarks.full_record_tables` prints."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import msgspec
import pytest

from benchmarks import full_records
from benchmarks.full_record_tables import LEAST_GAMES, cell, lines_of, number
from benchmarks.full_records import MeasuredRecord, measured_records
from sally import store
from sally.papers.alsobay2025.importer import IMPORTER
from tests.papers import test_alsobay2025 as alsobay

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs/results/full_records"
PAGES = {"hcss2025": "atlas", "step_game": "step_race", "pact": "bargaining"}


@cache
def records() -> dict[str, MeasuredRecord]:
    return {record.name: record for record in measured_records(FIGURES)}


def page(name: str) -> str:
    """Return the text of a page and of its appendix."""
    places = (f"docs/results/{name}.md", f"docs/results/appendix/{name}.md")
    return "\n".join((ROOT / place).read_text("utf-8") for place in places)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_tables_of_a_full_record_are_on_its_page(name: str) -> None:
    text = page(PAGES[name])
    rows = [line for line in lines_of(records()[name]) if line.startswith("|")]
    assert len(rows) > 5
    for line in rows:
        assert line in text


def test_figures_in_the_text_of_the_atlas_are_those_of_the_full_records() -> None:
    text = page("atlas")
    zhu, eger = records()["zhu2024"].figures, records()["eger2017"].figures
    for name in ("doing, pooled", "doing of level 1"):
        assert cell(zhu["summary"][name]) in text
    assert f"({number(zhu['summary']['doing of equilibrium']['value'])})" in text
    for ai in ("full", "intentional", "outer"):
        assert cell(eger[f"people with {ai}: sure but idle"]) in text
        assert cell(eger[f"AI {ai}: sure but idle"]) in text
    scored = records()["hcss2025"].figures["scored"].values()
    as_scored = sum(row["cooperation as scored"] for row in scored)
    unread = as_scored - sum(row["readable cooperation"] for row in scored)
    assert f"Of {as_scored:,} moves" in text and f"{unread:,} (35 %)" in text
    (goods,) = (d for d in records()["alsobay2025"].dots if "0.15 to 0.25" in d.column.setting)
    assert f"people give {cell(msgspec.to_builtins(goods), 2)} of theirs" in text


def test_models_below_always_5_in_the_text_of_the_step_race_are_those_of_the_full_record() -> None:
    text, printed = page("step_race"), "\n".join(lines_of(records()["step_game"]))
    games = f"of 68 models with at least {LEAST_GAMES} games are below"
    assert f"48 {games} always_5 (doing_win), 40 with" in printed
    assert "than 48 of 68 models did (40 of them clearly)" in text
    assert f"0 {games} always_5 (doing_steps)" in printed and "fewer steps than all 68" in text
    assert f"47 {games} free_of_announced" in printed and "in steps than 47 of 68 models" in text


def test_ratings_in_the_text_of_bargaining_are_those_of_the_full_record() -> None:
    text, figures = page("bargaining"), records()["pact"].figures
    for era in ("sequential", "simultaneous"):
        best = next(row for row in figures[f"rating, {era}"]["models"] if row["games"] >= 60)
        estimate = {"value": best["rating"], "low": best["low"], "high": best["high"]}
        assert f"{best['model']} {cell(estimate, 2, True)}" in text
        assert f"the {figures['games by era'][era]:,} games with {era} talk" in text
    assert f"{figures['of these below copy_last_capped over all']} of the 66 models" in text


def test_figures_hold_aggregates_only() -> None:
    names = {
        *("akata2025", "alsobay2025", "brockbank2024", "eger2017", "gamabench"),
        *("hcss2025", "pact", "step_game", "zhu2024"),
    }
    assert set(records()) == names
    for path in FIGURES.glob("*.json"):
        assert path.stat().st_size < 300_000


def test_script_measures_a_store_and_draws_its_atlas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bundles").mkdir()
    shutil.copy(full_records.BUNDLES / "beliefs_mori2024.sally.zip", tmp_path / "bundles")
    monkeypatch.setattr(full_records, "BUNDLES", tmp_path / "bundles")
    (tmp_path / "file").mkdir()
    episodes = IMPORTER.import_from(
        alsobay.write_files(tmp_path / "file", alsobay.people())
    ).episodes
    (tmp_path / "stores/alsobay2025").mkdir(parents=True)
    with store.Writer(tmp_path / "stores/alsobay2025") as writer:
        for episode in episodes:
            writer.add(episode)
    full_records.measure(tmp_path / "stores", tmp_path / "out", ["alsobay2025", "pact"])
    (record,) = measured_records(tmp_path / "out")
    assert (record.name, record.episodes) == ("alsobay2025", len(episodes))
    assert record.dots and lines_of(record) == []
    full_records.draw(tmp_path / "out", tmp_path)
    figure = (tmp_path / "atlas.svg").read_text("utf-8")
    assert "sequential transfers" not in figure  # of a sample that is not in the folder
    assert "public goods" in figure and "a sample of the record" in figure


def test_numbers_have_no_zero_before_the_point() -> None:
    assert (number(0.5), number(-0.25, 2), number(1.5, 2)) == (".500", "-.25", "1.50")
    assert (number(0.2, 2, is_signed=True), number(0.0)) == ("+.20", "0")
    assert cell(msgspec.to_builtins({"value": 0.1, "low": None, "high": None})) == ".100"
