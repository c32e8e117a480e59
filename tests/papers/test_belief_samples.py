"""Figures of the three shipped samples with stated beliefs, from their bundles."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

import sally
from benchmarks import belief_figures
from sally.analysis.compare.published_figures import load
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.papers.belief_records import Figures, knowing_of_most, records_of_episodes
from sally.stats.intervals import Estimate
from tests.papers.belief_files import WRITERS

BUNDLES = Path(__file__).parents[2] / "docs/results/bundles"
SAMPLES = ("andreozzi2020", "mori2024", "vanbaar2022")


def bundle(name: str) -> Path:
    return BUNDLES / f"beliefs_{name}.sally.zip"


@cache
def figures(name: str) -> Figures:
    episodes = sally.load(bundle(name))
    actual_figures: Figures = import_module(f"sally.papers.{name}.figures").figures(
        records_of_episodes(episodes)
    )
    return actual_figures


# The figures of the samples that the protocol names: value, and rows.
@pytest.mark.parametrize(
    ("name", "figure", "value", "rows"),
    [
        ("andreozzi2020", "acts", 0.516, 440),
        ("andreozzi2020", "contest: best reply", 0.233, 215),
        ("mori2024", "main: acts", 0.587, 375),
        ("mori2024", "main: contest: best reply", 0.185, 146),
        ("mori2024", "additional: acts", 0.709, 182),
        ("vanbaar2022", "first price: acts", 0.673, 55),
    ],
)
def test_sample_has_the_figures_of_the_protocol(
    name: str, figure: str, value: float, rows: int
) -> None:
    ours = figures(name)[figure]
    assert ours.n == rows
    assert ours.value == pytest.approx(value, abs=5e-4)


def test_samples_have_their_rows_and_rules() -> None:
    counts = {
        ("andreozzi2020", "periods that replay"): 440,
        ("mori2024", "decisions that replay, main"): 384,
        ("mori2024", "decisions that replay, additional"): 183,
        ("vanbaar2022", "study 1: predictions"): 960,
        ("vanbaar2022", "study 4: predictions"): 1248,
        ("vanbaar2022", "beliefs about workers"): 78,
    }
    for (name, figure), count in counts.items():
        assert figures(name)[figure].value == count
    exact = figures("vanbaar2022")
    assert exact["study 1: last answer in the game type"].value == 0.875
    assert exact["doing, 15 always"].value == pytest.approx(0.5)
    assert figures("andreozzi2020")["Brier, first move: equal odds"].value == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", SAMPLES)
def test_bundle_names_its_licence_and_no_worker(name: str) -> None:
    episodes = sally.load(bundle(name))
    licences = {episode.used["source"]["licence"].split(";")[0] for episode in episodes}
    assert licences <= {"CC BY 4.0", "Apache-2.0", "MIT, (c) 2021 Jeroen van Baar"}
    text = b"".join(msgspec.json.encode(episode.used) for episode in episodes)
    assert not any(word in text for word in (b"worker", b"assignment", b"birth", b"faculty"))
    assert (BUNDLES / "licences" / f"beliefs_{name}.txt").is_file()


@pytest.mark.parametrize("name", SAMPLES)
def test_reproduce_shows_every_figure_beside_the_published_one(name: str) -> None:
    answer = CliRunner().invoke(cli, ["reproduce", name, "--episodes", str(bundle(name)), "--json"])
    assert answer.exit_code == 0, answer.output
    rows = json.loads(answer.stdout)["rows"]
    assert all(row["ours"] is not None or row["missing"] for row in rows)
    missing = [row for row in rows if row["ours"] is None]
    assert len(missing) <= 2


def test_atlas_has_people_with_knowing_beside_rules_in_a_panel_of_each_game() -> None:
    rows = sally.atlas(*map(bundle, SAMPLES))
    people = {(row["game"], row["setting"]): row for row in rows if row["player"] == "people"}
    assert len(people) == 9 and all(row["knowing"] is not None for row in people.values())
    values = {row["source"]: row["value"] for row in people.values()}
    assert values["andreozzi2020"] == figures("andreozzi2020")["doing, partner"].value
    inspected = people["inspection", "two players, one always works, one always shirks"]
    assert inspected["value"] == figures("vanbaar2022")["doing"].value
    studies = [row for row in rows if row["game"] == "predicting a scripted player"]
    for study in (1, 2, 3, 4):
        right = figures("vanbaar2022")[f"study {study}: knowing"].value or 0
        assert any(row["knowing"] == pytest.approx(2 * right - 1) for row in studies)
    # with mandatory participation, always D earns more than people do
    groups = [row for row in rows if "everybody" in row["setting"]]
    assert max(groups, key=lambda row: row["value"])["player"] == "always D"


def test_knowing_counts_the_option_that_is_stated_as_likeliest() -> None:
    nan = float("nan")
    true = np.array([[0.6, 0.4, nan], [0.2, 0.3, 0.5]])
    best = knowing_of_most(np.array([[0.9, 0.1, nan], [0.0, 0.1, 0.9]]), true)
    even = knowing_of_most(np.array([[0.5, 0.5, nan], [1, 1, 1]]) / 3, true)
    worst = knowing_of_most(np.array([[0.1, 0.9, nan], [0.9, 0.1, 0.0]]), true)
    assert (best, even) == pytest.approx((1, 0)) and worst < 0


def test_documented_share_of_full_figures_lies_in_the_intervals_of_the_samples() -> None:
    inside = {name: belief_figures.within_intervals(load(name), figures(name)) for name in SAMPLES}
    assert inside == {
        "andreozzi2020": (39, 44),
        "mori2024": (56, 66),
        "vanbaar2022": (41, 41),
    }


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_figures_and_tables_of_small_files_have_the_published_names(
    name: str, tmp_path: Path
) -> None:
    episodes = registry.importer(name).import_from(WRITERS[name](tmp_path)).episodes
    actual_figures: Figures = import_module(f"sally.papers.{name}.figures").figures(
        records_of_episodes(episodes)
    )
    names = {str(f.row["figure"]) for t in load(name).tables.values() for f in t.rows}
    # what three periods, two models and a few people do not have
    lacking = names - set(actual_figures)
    assert len(lacking) <= 12, lacking
    assert len(names & set(actual_figures)) > 20


# --- the script that compares full files ----------------------------------------------------------


@pytest.mark.parametrize("name", belief_figures.PAPERS)
def test_script_accepts_the_published_figures_and_nothing_farther_away(name: str) -> None:
    reference = load(name)
    same_estimates = {
        str(f.row["figure"]): Estimate(f.value, *(f.interval or (None, None)), 10, "")
        for table in reference.tables.values()
        for f in table.rows
    }
    compared = list(belief_figures.compare_figures(reference, same_estimates, {}))
    assert len(compared) == sum(len(table.rows) for table in reference.tables.values())
    assert [row for row in compared if row[2] is not None] == []
    for away, kind in ((0.0011, "value"), (1, "count"), (0.07, "null")):
        shifted = {
            label: msgspec.structs.replace(figure, value=(figure.value or 0) + away)
            for label, figure in same_estimates.items()
        }
        wrong = {
            label
            for _, label, reason in belief_figures.compare_figures(reference, shifted, {})
            if reason
        }
        kinds = {
            str(f.row["figure"])
            for table in reference.tables.values()
            for f in table.rows
            if f.metric == kind and (kind != "value" or len(repr(f.value).partition(".")[2]) == 3)
        }
        assert kinds <= wrong


def test_script_reports_missing_and_shifted_intervals() -> None:
    (figure,) = [f for f in load("andreozzi2020").tables["acting"].rows
                 if f.row["figure"] == "acts"]  # fmt: skip
    assert belief_figures.problem(figure, None) == "not computed"
    assert "interval" in str(belief_figures.problem(figure, Estimate(0.555, None, None, 9, "")))
    assert "interval" in str(belief_figures.problem(figure, Estimate(0.555, 0.5, 0.603, 9, "")))
    assert belief_figures.problem(figure, Estimate(0.5554, 0.509, 0.601, 9, "")) is None


def test_script_names_the_figures_that_are_left_out(tmp_path: Path) -> None:
    total, lines, _ = belief_figures.check_paper("mori2024", WRITERS["mori2024"](tmp_path))
    assert total == 88
    assert len([line for line in lines if "left out" in line]) == 2
    with pytest.raises(BadInput):
        belief_figures.check_paper("mori2024", tmp_path / "nothing")
