"""What a command loads before it says anything, and that lists of commands are true."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.cli.group import ENTRIES, brought, description
from sally.core.registry import registry

LOADED = """import sys; sys.argv = {0}
try:
    from sally.cli import main; main()
finally:
    print(*sys.modules)"""


def modules(*args: str) -> set[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(["sally", *args])], text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def loaded(*args: str) -> set[str]:
    """The top packages that a command imports."""
    return {name.partition(".")[0] for name in modules(*args)}


def test_help_does_not_import_numeric_or_plotting_libraries() -> None:
    assert loaded("--help") & {"numpy", "scipy", "rich", "msgspec"} == set()


def test_help_imports_few_modules() -> None:
    """172 on 17 November 2026; each thousand costs about a second of processor."""
    found = modules("--help")
    ours = {name for name in found if name.partition(".")[0] == "sally"}
    assert ours <= {"sally", "sally.cli", "sally.cli.group", "sally.core", "sally.core.errors",
                    "sally.core.version"}  # fmt: skip
    assert len(found) < 220


def test_listing_games_does_not_import_solvers_or_frameworks() -> None:
    found = loaded("list", "games")
    assert "msgspec" in found
    assert found & {"scipy", "pandas", "polars", "matplotlib", "inspect_ai", "starlette"} == set()


@pytest.mark.parametrize("name", ENTRIES)
def test_listed_description_equals_help_of_the_command(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None and command.name == name
    assert command.get_short_help_str(200) == description(ENTRIES[name])


def test_commands_of_papers_and_games_are_found_without_import() -> None:
    assert set(brought()) == set(registry.with_commands()) >= {"moore2025", "tradecraft2026"}
    assert all(about for about in brought().values())


def test_misspelt_command_suggests_the_nearest() -> None:
    said = CliRunner().invoke(cli, ["scroe"])
    assert "score" in str(said.exception)
