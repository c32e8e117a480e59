"""`sally evaluate --demo`: a few pairs of the suite, one screen, a page at the end."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import wrap

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.log.events import episode_id
from sally.studies.demo import BOT, PAIRS, with_bot
from sally.studies.sally_2 import bot_suite


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp("demo") / "demo"
    done = CliRunner().invoke(
        cli, ["evaluate", "--demo", "--bots", "--out", str(out)], catch_exceptions=False
    )
    assert done.exit_code == 0
    return done.output, out.with_name("demo-bot.html")


def test_demo_fits_one_screen_and_writes_a_page(told: tuple[str, Path]) -> None:
    said, page = told
    assert page.read_text("utf-8").startswith("<!doctype html") and str(page) in said
    lines = said.partition("The page:")[0].splitlines()
    assert sum(len(wrap(line, 80)) or 1 for line in lines) <= 24
    assert "a verdict needs the whole suite" in said and " in 0 of 3 games" in said


def test_demo_plays_episodes_of_the_suite() -> None:
    slice = {episode_id(setup): setup for _, setup in with_bot().trials()}
    assert slice.keys() < {episode_id(setup) for _, setup in bot_suite(BOT).trials()}
    assert len(slice) == 2 * sum(PAIRS.values())


def test_json_has_the_figures(told: tuple[str, Path]) -> None:
    _, page = told
    arguments = ["evaluate", "--demo", "--bots", "--out", str(page.with_name("demo")), "--json"]
    data = json.loads(CliRunner().invoke(cli, arguments).stdout)
    assert {game["game"]: game["pairs"] for game in data["games"]} == PAIRS
    assert data["missing"] and data["episodes"] == data["planned"]


def test_verdict_without_a_right_prediction_says_so(tmp_path: Path) -> None:
    out = str(tmp_path / "demo")
    arguments = [
        "evaluate",
        "--bot",
        "constant",
        "--game",
        "eleven_twenty",
        "--size",
        "S",
        "--out",
        out,
    ]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert "It predicted no pair rightly in both positions." in done.output
