"""Files that others open: fixed columns, nothing lost, nothing a command."""

from __future__ import annotations

import builtins
import csv
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given

import sally
from sally.analysis.columns.measured import measured
from sally.analysis.columns.rows import decision_rows, episode_rows
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.profile import profile_of
from sally.core.errors import BadInput
from sally.output.files import export
from sally.output.files.export import Column, latex, write_table
from tests.fixtures.any_text import any_text

COLUMNS = (Column("name"), Column("n", "count"), Column("x", "number"), Column("odds", "numbers"))
ROWS = [
    {"name": 'a, "b"\nc', "n": 1, "x": 0.1 + 0.2, "odds": [0.25, 0.75]},
    {"name": None, "n": 2, "x": None},
]


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
    names = [column.name for column in export.episode_columns(["rps"])]
    assert "participant" in names


def test_parquet_has_types_and_nulls(tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    write_table(ROWS, COLUMNS, path)
    found = parquet.read_table(path)
    assert [str(t) for t in found.schema.types] == [
        "string",
        "int64",
        "double",
        "list<element: double>",
    ]
    assert found.to_pylist() == [ROWS[0], {**ROWS[1], "odds": None}]


def test_parquet_is_written_in_batches_without_loss(tmp_path: Path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(export, "BATCH", 3)
    path = tmp_path / "rows.parquet"
    assert write_table(({"n": n} for n in range(10)), (Column("n", "count"),), path) == 10
    assert parquet.read_table(path)["n"].to_pylist() == list(range(10))


def test_missing_pyarrow_error_states_the_install_command(tmp_path: Path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(BadInput, match=r"pip install .*\[frames\]'"):
        write_table(ROWS, COLUMNS, tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []  # no half file either


def test_store_of_two_games_has_the_columns_of_both(tmp_path: Path):
    episodes = [play(), sally.play("toma_po", {"player": "solver"})]
    path = tmp_path / "rows.csv"
    columns = export.episode_columns(["rps", "toma_po"])
    assert write_table(episode_rows(episodes), columns, path) == 3
    rows = list(csv.DictReader(path.open()))
    assert {"functional_regret", "task_success"} <= set(rows[0])
    assert rows[0]["task_success"] == "" and rows[2]["task_success"] == "1.0"
    for row in episode_rows(episodes):
        assert set(row) <= {c.name for c in columns}, "a column would be lost"


def test_all_decision_columns_are_exported(tmp_path: Path):
    rows = list(decision_rows([play()]))
    assert {name for row in rows for name in row} == {c.name for c in export.DECISION}
    assert write_table(rows, export.DECISION, tmp_path / "d.csv") == len(rows) == 12


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
        for who in ("random", "tabular")
        for m in measured(play(who, seed), ("agent",))
    ]
    return profile_of(studied, baselines(studied))


def test_profile_has_one_number_per_column(rows, tmp_path: Path):
    table = list(export.profile_table(rows))
    assert [set(row) for row in table] == [{c.name for c in export.PROFILE}] * 2
    assert table[0]["accuracy"] == rows[0].accuracy.value
    assert table[0]["doing_low"] == rows[0].doing.low
    assert table[0]["reference"] == "optimum" and table[0]["standing"] == "exact"
    assert "value_error: no values" in table[0]["blank"]
    assert write_table(table, export.PROFILE, tmp_path / "p.csv") == 2


def test_latex_profile_has_intervals_and_explains_its_scale(rows):
    text = export.profile_latex(rows)
    assert "rps & tabular & 6 &" in text and "% rps: 0 is " in text
    widths = {line.count(" & ") for line in text.splitlines() if line.endswith("\\\\")}
    assert widths == {len(export.PRINTED) + 2}


def test_latex_profile_separates_cells_of_a_study(rows):
    both = [msgspec.structs.replace(rows[0], cell=cell) for cell in ("one", "two")]
    lines = export.profile_latex(both).splitlines()
    assert lines[3].startswith("game & cell & player & ")
    assert [line.split(" & ")[1] for line in lines[5:7]] == ["one", "two"]
    assert "cell" not in export.profile_latex(both[:1]).splitlines()[3]


def test_unknown_file_suffix_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match=r"\.csv, \.tex or \.parquet"):
        write_table(ROWS, COLUMNS, tmp_path / "rows.xlsx")
