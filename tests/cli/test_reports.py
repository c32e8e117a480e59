"""`sally profile`, `compare`, `export` and `plan --detect` as a user meets them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.test_commands import sally

STUDY = """
name = "small"
about = "rps against a copier"

[[cells]]
name = "rps"
repeats = 6
instances = [{ id = "rps-6", game = "rps", params = { rounds = 6 } }]
lineups = [
  { agent = { player = "random" }, partner = { player = "tit_for_tat" } },
  { agent = { player = "tabular" }, partner = { player = "tit_for_tat" } },
]
[cells.arms]
agent = ["their_odds"]
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(STUDY)
    assert sally("run", "small.toml", "--out", "held", cwd=folder).returncode == 0
    return folder


def test_profile_explains_its_scale_and_missing_values(here: Path):
    done = sally("profile", "held", "--all", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "rps, seat agent" in done.stdout
    assert "1 = optimum (exact), 1 (doing 1.00), computed" in done.stdout
    assert "best mindless = " in done.stdout and "a guess is right in 33 %" in done.stdout
    assert "no move was forfeited" in done.stdout


def test_profile_as_json_has_estimates_with_intervals(here: Path):
    rows = json.loads(sally("profile", "held", "--json", cwd=here).stdout)
    assert [row["player"] for row in rows] == ["random", "tabular"]
    low, high = rows[1]["accuracy"]["interval"]
    assert low <= rows[1]["accuracy"]["value"] <= high
    assert rows[0]["why"]["value_error"] and rows[0]["reference"]["standing"] == "exact"


def test_figure_format_follows_suffix_and_unknown_suffix_is_refused(here: Path):
    pytest.importorskip("matplotlib")
    done = sally("profile", "held", "--figure", "a.svg", "--calibration", "c.png", cwd=here)
    assert done.returncode == 0 and (here / "a.svg").read_text().startswith("<svg")
    assert (here / "c.png").read_bytes().startswith(b"\x89PNG")
    refused = sally("profile", "held", "--figure", "a.jpg", cwd=here)
    assert refused.returncode == 2 and ".svg, .pdf or .png" in refused.stderr


@pytest.mark.parametrize(
    "args, said",
    [
        (("profile", "nowhere"), "There is no store at nowhere"),
        (("profile", "held", "--player", "tabula"), "did you mean tabular"),
        (("profile", "held", "--game", "rpss"), "did you mean rps"),
        (("profile", "held", "--seat", "agnt"), "did you mean agent"),
        (("compare", "held", "random", "tabula"), "did you mean tabular"),
        (("compare", "held", "random", "tabular", "--metric", "tom"), "no metric named 'tom'"),
        (("compare", "held", "random", "tabular", "--margin", "0"), "must be above 0"),
        (("export", "held", "--out", "rows.xls"), ".csv, .tex or .parquet"),
        (("export", "held", "--out", "a.svg", "--what", "decisions"), "decisions cannot be drawn"),
        (("plan", "small.toml", "--detect", "0.1"), "give a pilot"),
        (("plan", "small.toml", "--sd", "0.1"), "need --detect"),
    ],
)
def test_bad_input_gives_one_message(here: Path, args, said):
    done = sally(*args, cwd=here)
    assert done.returncode == 2 and said in done.stderr and not done.stdout


def test_report_refuses_a_folder_before_it_reads_the_store(here: Path):
    (here / "pages").mkdir()
    done = sally("report", "nowhere", "--out", "pages", cwd=here)
    assert done.returncode == 2 and "'pages' is a directory" in done.stderr


def test_two_players_are_compared_in_a_table_and_in_words(here: Path):
    done = sally("compare", "held", "random", "tabular", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "Doing (reward_per_round): random is" in done.stdout
    assert "adjusted by Holm over 3 comparisons" in done.stdout
    data = json.loads(sally("compare", "held", "random", "tabular", "--json", cwd=here).stdout)
    assert {c["metric"] for c in data["comparisons"]} == {
        "tom_percent",
        "brier",
        "reward_per_round",
    }
    assert data["conclusion"].startswith("Doing")


def test_rows_of_two_kinds_and_the_profile_are_exported(here: Path):
    for what, rows in (("episodes", 24), ("decisions", 12 * 18), ("profile", 2)):
        done = sally("export", "held", "--what", what, "--out", f"{what}.csv", "--json", cwd=here)
        assert json.loads(done.stdout) == {"file": f"{what}.csv", "what": what, "rows": rows}
        assert len(list(csv.DictReader((here / f"{what}.csv").open()))) == rows


def test_same_store_twice_counts_once(here: Path):
    sally("export", "held", "held", "--out", "twice.csv", cwd=here)
    assert len((here / "twice.csv").read_text().splitlines()) == 25
    data, two = (json.loads(sally("profile", *stores, "--json", cwd=here).stdout)
                for stores in (["held"], ["held", "held"]))  # fmt: skip
    assert data == two


def test_plan_reports_episodes_needed_for_a_difference(here: Path):
    command = ("plan", "small.toml", "--out", "held", "--detect", "0.1", "--pilot", "held")
    done = sally(*command, cwd=here)
    assert done.returncode == 0, done.stderr
    assert "to detect a difference of 0.1 reward_per_round" in done.stdout
    (need,) = json.loads(sally(*command, "--json", cwd=here).stdout)["needs"]
    assert need["pairs"] == 6 and need["episodes"][0] < need["episodes"][1]
    assert "rough estimate, from fewer than 20 pilot pairs: rps" in done.stdout
