"""Literal scores beside knowing and doing, where stores hold both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.frames.parts import File

GAME = """name = "game"
about = "a game"
[[cells]]
name = "ipd"
instances = [{ id = "ipd-4", game = "ipd", params = { rounds = 4 } }]
lineups = [{ agent = { player = "random" }, partner = { player = "tit_for_tat" } }]
repeats = 3
arms = { agent = ["their_move"] }
"""
ITEMS = """name = "items"
about = "a story"
[[cells]]
name = "battery"
instances = [{ id = "b", game = "battery", params = { generator = "applied", length = 8 } }]
lineups = [{ reader = { player = "PLAYER" } }]
repeats = 3
"""


def read_output(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def play_games(folder: Path, text: str, name: str) -> str:
    (folder / f"{name}.toml").write_text(text)
    read_output("run", str(folder / f"{name}.toml"), "--out", str(folder / name))
    return str(folder / name)


@pytest.mark.parametrize("player", ["random", "believer"])
def test_player_of_battery_and_game_has_one_line_and_others_have_none(
    tmp_path: Path, player: str
) -> None:
    stores = (
        play_games(tmp_path, GAME, "game"),
        play_games(tmp_path, ITEMS.replace("PLAYER", player), "b"),
    )
    printed = read_output("profile", *stores)
    assert ("literal beside knowing and doing" in printed) == (player == "random")
    assert "literal beside" not in read_output("profile", stores[0])


def test_report_has_the_same_table(tmp_path: Path) -> None:
    _, _, cells = GAME.partition("[[cells]]")
    both_items = ITEMS.replace("PLAYER", "random") + "[[cells]]" + cells
    page = tmp_path / "page.html"
    read_output("report", play_games(tmp_path, both_items, "both"), "--out", str(page))
    assert "<h3>Literal beside knowing and doing</h3>" in page.read_text()


def test_report_without_a_battery_does_not_replay_for_strict_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    measured = set[str]()
    measure = File.measure

    def record(file: File, name: str, columns: Sequence[str]) -> None:
        measured.update(columns)
        measure(file, name, columns)

    monkeypatch.setattr(File, "measure", record)
    store = play_games(tmp_path, GAME, "game")
    read_output("report", store, "--out", str(tmp_path / "page.html"))
    assert "brier" in measured
    assert "literal_strict" not in measured
