"""The path of CONTRIBUTING.md: a column of the profile is one entry, and appears everywhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.profile import columns
from sally.cli import cli
from sally.cli import profile as console  # noqa: F401 - loads all that prints profiles
from sally.output.files import export  # noqa: F401
from sally.output.page import profile as page  # noqa: F401

NEW = columns.ProfileColumn(
    "moves_made", "moves made", "moves", 1, "", "moves of an episode that were not forfeited",
    estimate=lambda group: group.means.mean(group.of("moves")),
    why=lambda group: "no episode has ended",
)  # fmt: skip


def command(*arguments: str) -> str:
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_one_entry_is_a_column_on_every_surface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = columns.COLUMNS
    for name, module in list(sys.modules.items()):
        if name.startswith("sally.") and getattr(module, "COLUMNS", None) is declared:
            monkeypatch.setattr(module, "COLUMNS", (*declared, NEW))
    (out := tmp_path / "store").mkdir()
    lineup = {"agent": "random", "partner": "tit_for_tat"}
    with store.Writer(out) as writer:
        for seed in range(5):
            writer.add(sally.play("ibs", lineup, seed, probes={"agent": ["their_move"]}, rounds=3))
    monkeypatch.setenv("COLUMNS", "300")
    console_text = command("profile", str(out), "--all")
    assert "moves made" in console_text and NEW.about in " ".join(console_text.split())
    rows = json.loads(command("profile", str(out), "--json"))
    assert [row["moves_made"]["value"] for row in rows] == [3.0]
    for suffix, text in (("csv", "moves_made"), ("tex", "moves made")):
        file = tmp_path / f"profile.{suffix}"
        command("export", str(out), "--what", "profile", "--out", str(file))
        assert text in file.read_text("utf-8")
    command("report", str(out), "--out", str(tmp_path / "page.html"))
    html = (tmp_path / "page.html").read_text("utf-8")
    assert "moves made" in html and NEW.about in html
