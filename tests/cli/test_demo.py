"""`sally demo`: bots live, a real model from its record, a page at the end."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

import sally
from sally.cli import cli
from sally.cli.demo import what_it_shows


def test_the_demo_shows_a_record_and_writes_a_page(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    done = CliRunner().invoke(cli, ["demo", "--bots", "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "Qwen2.5-Coder 1.5B" in " ".join(done.output.split())
    page = tmp_path / "demo.html"
    assert page.read_text("utf-8").startswith("<!doctype html") and str(page) in done.output


def test_the_record_is_shown_beside_rules_and_habits_within_80_columns(tmp_path: Path) -> None:
    """No figure that a rule or a habit explains stands alone, and nothing wraps."""
    told = CliRunner().invoke(cli, ["demo", "--bots", "--out", str(tmp_path / "demo")]).output
    first = told.partition("rps against")[0]
    assert "a rule foresees" in first and "a habit fits" in first
    assert "always presses one key" in " ".join(first.split())
    assert "refuses the words 'knows' and 'acts on'" in " ".join(first.split())
    lines = told.partition("demo.html")[0].splitlines()
    assert max(map(len, lines)) <= 80


def test_who_knew_most_did_best_only_if_all_who_knew_most_did() -> None:
    rock = ("single_action", {"action": 0})
    told = {"agent": ["their_move_given_mine"]}
    played = [
        sally.play("rps", {"agent": who, "partner": rock}, 1, rounds=6, probes=told)
        for who in ("constant", "tabular")
    ]
    said = " ".join(what_it_shows(played).split())
    assert "constant and tabular predicted best (100 %) and tabular lost least" in said
    assert said.endswith("In 1 of 1 games, knowing most was not enough to do best.")
    alone = " ".join(what_it_shows(played[1:]).split())
    assert "tabular predicted best (100 %) and lost least" in alone
    assert alone.endswith("In every game, those that knew most also did best.")
