"""Nothing that somebody wrote steers a terminal: what would is shown instead."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.cli.group import Commands
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.terminal_text import Screen, nothing_steers, steered
from sally.runner.run import run_study

HOSTILE = "\x1b]0;title\x07\x1b[2J\x08\x08\r\u202e\x9b31m"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_whatever_is_printed_meanwhile_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    with nothing_steers(), nothing_steers():
        print(HOSTILE)
        click.echo(f"{HOSTILE}\n")
        click.echo(HOSTILE, err=True)
        sys.stdout.writelines([HOSTILE, "\n"])
        steered(sys.stderr).write("\r")  # who draws bars may
    seen = capsys.readouterr()
    assert not STEERS.search(seen.out) and seen.out.count("␛[2J") == 2  # click takes some out
    assert "␛]0;title␇" in seen.err and seen.err.endswith("\r")
    assert not isinstance(sys.stdout, Screen)


def test_a_command_of_anybodys_is_harmless() -> None:
    group = Commands()

    @click.command()
    def shout() -> None:
        click.echo(HOSTILE)

    group.get_command = lambda ctx, name: shout  # type: ignore[method-assign]
    group.list_commands = lambda ctx: ["shout"]  # type: ignore[method-assign]
    assert not STEERS.search(CliRunner().invoke(group, ["shout"]).output)


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
    ("crossplay",),
)


@pytest.mark.parametrize("asked", COMMANDS)
def test_no_table_or_transcript_steers(folder: Path, asked: tuple[str, ...]) -> None:
    command, *options = asked
    found = CliRunner().invoke(cli, [command, str(folder), *options])
    assert found.exit_code == 0 and found.output
    assert not STEERS.search(found.output), found.output
