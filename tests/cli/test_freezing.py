"""`sally plan --freeze`, and the report that names deviations from it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from sally.cli import cli
from sally.runner.run import run_study
from tests.analysis.test_registration import INTENT, STUDY

TOML = """
name = "small"
about = "two games"
[[cells]]
name = "ipd"
repeats = 2
[[cells.instances]]
id = "ipd(rounds=3)"
game = "ipd"
params = { rounds = 3 }
[[cells.lineups]]
agent = { player = "tit_for_tat" }
partner = { player = "random" }
"""


def test_study_is_frozen_once_and_report_lists_deviations(tmp_path: Path) -> None:
    study, intent, out = (tmp_path / n for n in ("study.toml", "intent.toml", "frozen.json"))
    study.write_text(TOML)
    intent.write_text(INTENT)
    command = ["plan", str(study), "--freeze", str(out), "--registration", str(intent)]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    assert "Stopping rule" in out.with_suffix(".md").read_text()
    repeated_result = CliRunner().invoke(cli, command)
    assert repeated_result.exit_code != 0  # what is frozen is not written again
    dotted = [*command[:3], str(tmp_path / "model-0.5b"), *command[4:]]
    assert CliRunner().invoke(cli, dotted).exit_code == 0
    assert (tmp_path / "model-0.5b.json").exists() and (tmp_path / "model-0.5b.md").exists()
    run_study(STUDY, tmp_path / "store", limit=1)
    page = tmp_path / "page.html"
    told_result = CliRunner().invoke(
        cli, ["report", str(tmp_path / "store"), "--out", str(page), "--registration", str(out),
              "--no-profile"]
    )  # fmt: skip
    assert told_result.exit_code == 0, told_result.output
    assert "2 were registered" in page.read_text()
