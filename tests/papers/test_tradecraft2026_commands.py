"""`sally rules check`: sound rulesets pass, faults are named, bad paths are one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.errors import BadInput

FAULTY = """
name = "faulty"
given = ["log"]
[tags]
empty = []
[recipes]
shapeless = ["log -> 4 plank", "2 plank -> log", "moon -> cheese", "#empty -> nothing"]
"""


def check(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["tradecraft2026", "rules", "check", *args])
    return done.exit_code, done.output


@pytest.mark.parametrize("name", ["minecraft_core", "alchemy"])
def test_shipped_rulesets_are_sound(name: str) -> None:
    code, said = check(name)
    assert code == 0
    assert "Nothing is wrong." in said


def test_faults_are_named_and_the_exit_code_says_so(tmp_path: Path) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(FAULTY)
    code, said = check(str(path), "--json")
    assert code == 1
    problems = " ".join(json.loads(said)["problems"])
    for fault in ("Goods from nothing", "moon cannot be reached", "Tag #empty has no members"):
        assert fault in problems
    code, said = check(str(path))
    assert code == 1
    assert "Problems found" in said


def test_a_path_that_is_no_ruleset_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("name = ")
    for path in (tmp_path / "none.toml", tmp_path / "bad.toml"):
        done = CliRunner().invoke(cli, ["tradecraft2026", "rules", "check", str(path)])
        assert isinstance(done.exception, BadInput)
        assert path.name in str(done.exception)


def test_a_name_that_is_no_shipped_ruleset_is_told_those_that_are() -> None:
    done = CliRunner().invoke(cli, ["tradecraft2026", "rules", "check", "alchemist"])
    assert "shipped: minecraft_core, alchemy." in str(done.exception)
