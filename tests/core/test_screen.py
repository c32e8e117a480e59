"""Nothing that somebody wrote steers a terminal: what would is shown instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally.cli import cli
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.terminal_text import echo
from sally.runner.run import run_study

HOSTILE = "\x1b]0;title\x07\x1b[2J\x08\x08\r\u202e\x9b31m"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_control_characters_are_printed_as_visible_symbols(
    capsys: pytest.CaptureFixture[str],
) -> None:
    echo(HOSTILE)
    echo(HOSTILE, err=True)
    captured = capsys.readouterr()
    assert not STEERS.search(captured.out + captured.err)
    assert "␛]0;title␇" in captured.out and "␛]0;title␇" in captured.err


def test_every_command_prints_through_echo() -> None:
    home = Path(sally.__file__).parent
    files = [*(home / "cli").rglob("*.py"), *home.rglob("commands.py"), *home.rglob("console.py")]
    assert len(files) > 30
    for file in files:
        assert not re.search(r"click\.s?echo\(|(?<![\w.])print\(", file.read_text("utf-8")), file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose names steer."""
    players = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    problem = instance("ipd", f"i{HOSTILE}", rounds=3)
    out = tmp_path_factory.mktemp("screen") / "out"
    run_study(Study("plain", HOSTILE, (Cell(f"c{HOSTILE}", (problem,), players),)), out)
    return out


COMMANDS = (
    ("score", "--by", "cell"),
    ("score", "--rows", "--json"),
    ("show",),
    ("watch", "--once"),
    ("replay",),
    ("score", "--crossplay"),
)


@pytest.mark.parametrize("asked", COMMANDS)
def test_tables_and_transcripts_contain_no_terminal_control_codes(
    folder: Path, asked: tuple[str, ...]
) -> None:
    command, *options = asked
    result = CliRunner().invoke(cli, [command, str(folder), *options])
    assert result.exit_code == 0 and result.output
    assert not STEERS.search(result.output), result.output
