"""`sally demo`: bots live, a real model from its record, a page at the end."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

import sally
from sally.cli import cli
from sally.cli.demo import gap_sentence, what_it_shows


def test_the_demo_shows_a_record_and_writes_a_page(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    done = CliRunner().invoke(cli, ["demo", "--bots", "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "Qwen2.5-Coder 1.5B" in " ".join(done.output.split())
    page = tmp_path / "demo.html"
    assert page.read_text("utf-8").startswith("<!doctype html") and str(page) in done.output


def test_the_closing_sentence_follows_from_the_numbers() -> None:
    lines = [
        {"game": "rps", "strategy": "lm", "foresaw": 50.0, "acted on it": 0.5, "a round": 0.0},
        {"game": "ipd", "strategy": "qa", "foresaw": 90.0, "acted on it": 0.2, "a round": 4.0},
    ]
    said = " ".join(gap_sentence(lines).split())
    assert "In ipd under qa it predicted 90%" in said and "in 20% of the rounds" in said


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
