"""The script that changes the sources and counts which changes the tests notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import mutants

SOURCE = """
def is_first(turn: int, first: bool = True) -> bool:
    return turn < 1 and not is_late(turn)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sally/core").mkdir(parents=True)
    (tmp_path / "sally/core/turns.py").write_text(SOURCE, "utf-8")
    return tmp_path


def test_every_operator_and_constant_of_a_function_has_a_mutant(root: Path) -> None:
    sources = {
        mutants.mutated_source(SOURCE.encode(), mutant).decode().splitlines()[-1].strip()
        for mutant in mutants.mutants_of(root, "sally/core")
    }
    assert sources == {
        "return (turn < 1 or not is_late(turn))",
        "return (turn <= 1) and not is_late(turn)",
        "return turn < (2) and not is_late(turn)",
        "return turn < 1 and (is_late(turn))",
    }


def test_sample_does_not_depend_on_the_rest_of_the_file(root: Path) -> None:
    first = mutants.sample_mutants(root, 2, ["sally/core"])
    (root / "sally/core/turns.py").write_text(f"import this\n{SOURCE}", "utf-8")
    second = mutants.sample_mutants(root, 2, ["sally/core"])
    assert [mutant.key for mutant in first] == [mutant.key for mutant in second]
    assert [mutant.line + 1 for mutant in first] == [mutant.line for mutant in second]


def test_comparison_names_what_only_one_run_noticed(tmp_path: Path) -> None:
    lines = '{{"key": "a", "result": "killed"}}\n{{"key": "b", "result": "{}"}}\n'
    for name, result in (("old", "killed by time"), ("new", "survived")):
        (tmp_path / name).write_text(lines.format(result), "utf-8")
    assert mutants.compare(tmp_path / "old", tmp_path / "new").splitlines() == [
        "2 mutants in both; killed before 2, after 1",
        "killed only before: b",
    ]
