"""Files that others open: fixed columns, nothing lost, nothing a command."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import polars as pl
import pytest
from hypothesis import given

import sally
from sally.analysis.profile.columns import COLUMNS as PROFILE_COLUMNS
from sally.analysis.profile.profile import flat_columns, flat_row
from sally.core.errors import BadInput
from sally.frames.build import frame_of
from sally.frames.frame import as_frame
from sally.frames.measured_seat import measure_episode
from sally.frames.schema import COUNT, TEXT, Column
from sally.output.files import export
from sally.output.files.export import ExportedTable, latex
from tests.analysis.profiles import baselines, profile_of
from tests.fixtures.any_text import any_text

COLUMNS = (
    Column("name", type=TEXT),
    Column("n", type=COUNT),
    Column("x"),
    Column("odds", type=pl.List(pl.Float64())),
)
ROWS = [
    {"name": 'a, "b"\nc', "n": 1, "x": 0.1 + 0.2, "odds": [0.25, 0.75]},
    {"name": None, "n": 2, "x": None},
]


def write_table(rows, columns: Sequence[Column], path: Path) -> int:
    """Write rows as a table."""
    return export.write_table(ExportedTable(columns, [frame_of(list(rows), columns)]), path)


def play(agent: str = "random", seed: int = 1):
    lineup = {"agent": agent, "partner": "tit_for_tat"}
    return sally.play("rps", lineup, seed, probes={"agent": ["their_odds"]}, rounds=4)


def test_csv_preserves_digits_and_quotes(tmp_path: Path):
    path = tmp_path / "made" / "rows.csv"
    assert write_table(iter(ROWS), COLUMNS, path) == 2
    first, second = csv.DictReader(path.open(newline=""))
    assert first["name"] == ROWS[0]["name"] and float(first["x"]) == 0.1 + 0.2
    assert json.loads(first["odds"]) == [0.25, 0.75]
    assert second == {"name": "", "n": "2", "x": "", "odds": ""}


@pytest.mark.parametrize("said", ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "\t=1", "\r=1"])
def test_csv_cells_are_never_formulas_and_numbers_are_unquoted(said: str, tmp_path: Path):
    path = tmp_path / "rows.csv"
    write_table([{"name": said, "n": -1, "x": -0.5}, {"name": "-0.5"}], COLUMNS, path)
    first, second = csv.DictReader(path.open(newline=""))
    assert first["name"] == f"'{said}"
    assert (first["n"], first["x"], second["name"]) == ("-1", "-0.5", "-0.5")


def test_participant_column_is_exported(tmp_path: Path):
    assert "participant" in export.episode_table(as_frame(play())).names


def test_parquet_has_types_and_nulls(tmp_path: Path):
    path = tmp_path / "rows.parquet"
    write_table(ROWS, COLUMNS, path)
    frame = pl.read_parquet(path)
    assert frame.dtypes == [pl.String, pl.Int64, pl.Float64, pl.List(pl.Float64)]
    assert frame.to_dicts() == [ROWS[0], {**ROWS[1], "odds": None}]


def test_store_of_two_games_has_the_columns_of_both(tmp_path: Path):
    episodes = [play(), sally.play("toma_po", {"player": "solver"})]
    path = tmp_path / "rows.csv"
    assert export.write_table(export.episode_table(as_frame(episodes)), path) == 3
    rows = list(csv.DictReader(path.open()))
    assert {"functional_regret", "task_success"} <= set(rows[0])
    assert rows[0]["task_success"] == "" and rows[2]["task_success"] == "1.0"
    assert set(sally.episodes(episodes).columns) == set(rows[0]), "a column would be lost"


def test_all_decision_columns_are_exported(tmp_path: Path):
    rows = sally.decisions([play()])
    table = export.decision_table(as_frame(play()))
    assert set(rows.columns) == set(table.names)
    assert export.write_table(table, tmp_path / "d.csv") == len(rows) == 12


# --- LaTeX ----------------------------------------------------------------------------------------


def test_latex_special_characters_are_escaped():
    assert latex(r"50% of {a_b} & $c$ #1 ~x^2 \input") == (
        r"50\% of \{a\_b\} \& \$c\$ \#1 \textasciitilde{}x\textasciicircum{}2 "
        r"\textbackslash{}input"
    )


def test_control_characters_are_replaced_by_blanks_in_latex():
    assert latex("a\x00b\nc\rd\u202ee é") == "a b c d e é"


@given(any_text())
def test_any_model_name_is_escaped_for_latex(name):
    said = latex(name)
    bare = said
    for code in export.ESCAPED.values():
        bare = bare.replace(code, "")
    assert not set(bare) & set("\\&%$#_{}~^\n")


def test_longtable_right_aligns_numbers_and_omits_empty_columns(tmp_path: Path):
    path = tmp_path / "rows.tex"
    write_table([{"name": "a_b", "n": -3, "x": None}], COLUMNS, path)
    text = path.read_text()
    assert "\\begin{longtable}{lr}" in text and "a\\_b & $-3$ \\\\" in text
    assert text.count("\\toprule") == text.count("\\bottomrule") == 1


# --- the profile ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    studied = [
        m
        for seed in range(6)
        for player_name in ("random", "tabular")
        for m in measure_episode(play(player_name, seed), ("agent",))
    ]
    return profile_of(studied, baselines(studied))


def test_profile_has_one_number_per_column(rows, tmp_path: Path):
    table = [flat_row(row) for row in rows]
    assert [set(row) for row in table] == [{c.field for c in flat_columns()}] * 2
    assert table[0]["accuracy"] == rows[0].accuracy.value
    assert table[0]["doing_low"] == rows[0].doing.low
    assert table[0]["reference"] == "optimum" and table[0]["standing"] == "exact"
    assert "value_error: no values" in table[0]["blank"]
    assert export.write_table(export.profile_table(rows), tmp_path / "p.csv") == 2


def test_latex_profile_has_intervals_and_explains_its_scale(rows):
    text = export.profile_latex(rows)
    assert "rps & tabular & 6 &" in text and "% rps: 0 is " in text
    widths = {line.count(" & ") for line in text.splitlines() if line.endswith("\\\\")}
    filled = [
        c for c in PROFILE_COLUMNS if any(row.estimates[c.field].value is not None for row in rows)
    ]
    assert widths == {len(filled) + 2} and len(PROFILE_COLUMNS) > len(filled) > 15


def test_latex_profile_separates_cells_of_a_study(rows):
    both_rows = [msgspec.structs.replace(rows[0], cell=cell) for cell in ("one", "two")]
    lines = export.profile_latex(both_rows).splitlines()
    assert lines[3].startswith("game & cell & player & ")
    assert [line.split(" & ")[1] for line in lines[5:7]] == ["one", "two"]
    assert "cell" not in export.profile_latex(both_rows[:1]).splitlines()[3]


def test_unknown_file_suffix_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match=r"\.csv, \.tex or \.parquet"):
        write_table(ROWS, COLUMNS, tmp_path / "rows.xlsx")
