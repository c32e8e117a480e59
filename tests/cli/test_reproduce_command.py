"""`sally reproduce` as a user meets it: the paper's layout, what is missing, files and refusals."""

from __future__ import annotations

import json

import pytest

from tests.analysis.scripted_models import repeated_episode, scenario_episode, stored
from tests.cli.test_commands import sally

RIEMER = ("--repeats", "4")


def test_table_has_published_line_followed_by_our_line(tmp_path):
    done = sally("reproduce", "riemer2025:9", *RIEMER, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("riemer2025, Table 9: Mistral Large 2")
    index = next(n for n, line in enumerate(lines) if "0.181 ±0.013" in line)
    assert lines[index].split()[:6] == ["Mistral", "Large", "2", "QA", "RPS", "published"]
    assert lines[index + 1].split()[:3] == ["ours", "not", "run"]
    assert "not run: 45 of 45 values" in done.stdout
    assert "sally run riemer2025 --model PROVIDER/mistral-large-2 --out DIR" in done.stdout


def test_our_values_fill_their_cells_and_the_rest_is_listed_as_not_run(tmp_path):
    stored(tmp_path / "s", *(repeated_episode("rps", a, 1) for a in range(3)))
    done = sally("reproduce", "riemer2025:9", "--episodes", "s", *RIEMER, cwd=tmp_path)
    assert "1.000" in done.stdout and "±2.484" not in done.stdout  # three are too few
    assert "values from episodes have n = 3 each" in done.stdout
    assert "not run: 42 of 45 values" in done.stdout
    assert "censored, forfeited or not asked): 2 of 45 values" in done.stdout  # no ToM there


def test_json_holds_rows_and_figures(tmp_path):
    done = sally("reproduce", "riemer2025:figure20", *RIEMER, "--json", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert data["rows"] == []
    assert [f["name"] for f in data["figures"]] == ["figure20"]
    rows = json.loads(sally("reproduce", "kang2026:3", "--json", cwd=tmp_path).stdout)["rows"]
    assert len(rows) == 28
    assert all(row["missing"] for row in rows)


def test_tables_and_pictures_go_into_files(tmp_path):
    for name in ("t.tex", "t.csv"):
        assert sally("reproduce", "kang2026:1", "--out", name, cwd=tmp_path).returncode == 0
    assert r"\multicolumn{3}{c}{Baselines}" in (tmp_path / "t.tex").read_text()
    assert "1,Closed,GPT-5.1,published,0.604,0.301" in (tmp_path / "t.csv").read_text()
    process = sally("reproduce", "tang2024:figure6", *RIEMER, "--figure", "f.svg", cwd=tmp_path)
    assert process.returncode == 0
    assert (tmp_path / "f.svg").read_text().startswith("<svg")


def test_output_for_whole_paper_ends_with_count_of_missing(tmp_path):
    stored(tmp_path / "s", *(scenario_episode("toma_mg", 1, n, "solver") for n in range(3)))
    done = sally("reproduce", "kang2026", "--all", "--episodes", "s", cwd=tmp_path)
    assert done.returncode == 0
    assert "kang2026, figure7b: Success by level" in done.stdout
    assert "not run: figure1b" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].endswith("are missing.")


def test_paper_without_table_prints_one_screen_overview(tmp_path):
    done = sally("reproduce", "kang2026", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) <= 24
    assert "sally run kang2026 --model MODEL" in done.stdout
    assert "--all" in done.stdout and max(map(len, lines[:9])) <= 80
    assert "`--episodes DIR`" in done.stdout


def test_long_table_name_leaves_each_table_one_line_of_80_columns(tmp_path):
    done = sally("reproduce", "brockbank2024", cwd=tmp_path)
    lines = done.stdout.splitlines()[4:9]
    assert [line.split()[0] for line in lines] == [
        *("stable", "adaptive", "rules_stable", "rules_adaptive", "records")
    ]
    assert max(len(line.rstrip()) for line in lines) <= 80


REFUSED = {
    "a figure without a name": (["riemer2025", "--figure", "f.svg"], "riemer2025:FIGURE"),
    "a table that is none": (["riemer2025:99"], "no table or figure of riemer2025 named '99'"),
    "a figure as a table": (["tang2024:figure6", "--out", "t.csv"], "use --figure"),
    "a table as a picture": (["tang2024:rerun", "--figure", "f.svg"], "The figures are figure6."),
    "a file of another kind": (["tang2024:rerun", "--out", "t.doc"], ".csv or .tex"),
    "a picture of another kind": (["tang2024:figure6", "--figure", "f.gif"], ".svg, .pdf or .png"),
    "an empty figure": (["kang2026:figure5a", "--figure", "f.svg"], "no episode belongs to it"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_requests_are_refused_with_one_message(case, tmp_path):
    args, sentence = REFUSED[case]
    done = sally("reproduce", *args, *RIEMER, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_slow_bots_are_played_only_on_request(tmp_path):
    done = sally("reproduce", "hanabi_bots:means", cwd=tmp_path)
    assert "24.89" in done.stdout and "not run: 20 of 20" in done.stdout
    assert "`sally reproduce hanabi_bots --repeats 2000` plays them" in done.stdout


def test_value_not_printed_in_paper_is_labelled_reference(tmp_path):
    done = sally("reproduce", "brockbank2024:rules_stable", cwd=tmp_path)
    assert "reference" in done.stdout and "published" not in done.stdout
    assert "reference: not printed in the paper; computed from" in done.stdout
    assert "our wording" not in done.stdout  # people played, no model was prompted


def test_table_states_whose_wording_the_prompts_use(tmp_path):
    for asked_name in ("riemer2025:9", "riemer2025"):
        done = sally("reproduce", asked_name, *RIEMER, cwd=tmp_path)
        assert "our wording" in done.stdout and "sally paper packs riemer2025" in done.stdout
