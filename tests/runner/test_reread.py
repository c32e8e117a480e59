"""Stored replies under other rules: differences, how figures move, and what a replay says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.core.reply.reader import VERSION
from sally.models.stub import reply_in_order
from sally.runner.reread import STORED, readings, sensitivity
from sally.runner.run import run_study

REPLIES = ["Option: F", "J loses.\nOption: F", "Option: J"]


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three rounds of a model that names another option before the one it picks."""
    monkeypatch.setitem(registry._added["models"], "scripted", lambda name: reply_in_order(REPLIES))
    monkeypatch.setattr(registry, "_results", {})  # lists made before it was added
    agent = player_spec("language", model="scripted", strategy="qa")
    lineup = {"agent": agent, "partner": player_spec("tit_for_tat")}
    study = Study("s", "", (Cell("c", (instance("ipd", rounds=3),), (lineup,)),))
    run_study(study, tmp_path / "out")
    return tmp_path / "out"


def test_first_option_rule_changes_the_value(played: Path) -> None:
    (episode,) = store.load(played).episodes.values()
    reread_replies = list(readings(episode))
    assert [reread_reply.by_rule[STORED] for reread_reply in reread_replies] == [1, 1, 0]
    rows = {row["rule"]: row for row in sensitivity(reread_replies)}
    assert rows[STORED]["figure"] == rows[f"rule {VERSION}"]["figure"] == pytest.approx(1 / 3)
    assert rows["first option named"]["figure"] == pytest.approx(2 / 3)
    assert rows["first option named"]["differ"] == 1 and rows[f"rule {VERSION}"]["differ"] == 0


def test_commands_state_the_reply_rule_version(played: Path) -> None:
    output = CliRunner().invoke(cli, ["replay", str(played)]).output
    assert f"Replies of 1 episodes were read by reply rule {VERSION} (installed)." in output
    output = CliRunner().invoke(cli, ["replay", "--reread", str(played)]).output
    assert (
        "first option named" in output and f"3 replies read by rule {VERSION}; 0 differ." in output
    )
