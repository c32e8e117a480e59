"""What a command loads before it says anything, and that lists of commands are true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sally.cli import cli, group
from sally.cli.group import ENTRIES, RENAMED, VIEWS, brought, description, load
from sally.core.registry import registry

DOCS = Path(__file__).parents[2] / "docs"
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
    actual_modules = modules("--help")
    ours = {name for name in actual_modules if name.partition(".")[0] == "sally"}
    assert ours <= {"sally", "sally.cli", "sally.cli.group", "sally.core", "sally.core.errors",
                    "sally.core.version"}  # fmt: skip
    assert len(actual_modules) < 220


def test_listing_games_does_not_import_solvers_or_frameworks() -> None:
    texts = loaded("list", "games")
    assert "msgspec" in texts
    assert texts & {"scipy", "pandas", "polars", "matplotlib", "inspect_ai", "starlette"} == set()


def test_score_imports_neither_other_games_nor_other_analyses() -> None:
    names = modules("score", str(DOCS / "results/bundles/quickstart_model-0.5b.sally.zip"))
    games = {name.split(".")[2] for name in names if name.startswith("sally.games.")}
    assert "repeated_games" in games
    assert games <= {"repeated_games", "rps", "ibs", "ipd"}
    unneeded = ("matplotlib", "sally.analysis.compare", "sally.analysis.design", "sally.web")
    assert not [name for name in names if name.startswith(unneeded)]


@pytest.mark.parametrize("name", ENTRIES)
def test_listed_description_equals_help_of_the_command(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None and command.name == name
    assert command.get_short_help_str(200) == description(ENTRIES[name])


def test_help_fits_one_screen_under_its_headings() -> None:
    lines = CliRunner().invoke(cli, ["--help"]).output.splitlines()
    assert len(lines) <= 45 and max(map(len, lines)) < 80
    headings = [line.strip(":") for line in lines[1:] if line and not line.startswith(" ")]
    assert headings == ["Options", *group.HEADINGS]


@pytest.mark.parametrize("name", VIEWS)
def test_help_of_a_command_lists_its_views(name: str) -> None:
    text = " ".join(CliRunner().invoke(cli, [name, "--help"]).output.split())
    for option, place in VIEWS[name].items():
        assert option in text and description(place) in text
        assert load(place).get_short_help_str(200) == description(place)


@pytest.mark.parametrize("old", [*RENAMED, "moore2025"])
def test_old_name_shows_the_present_command_and_names_it(old: str) -> None:
    present = RENAMED.get(old, f"paper {old}")
    done = CliRunner().invoke(cli, [*old.split(), "--help"])
    same_result = CliRunner().invoke(cli, [*present.split(), "--help"])
    text = f"`sally {old}` is now `sally {present}`.\n"
    assert (done.stderr, done.exit_code) == (text, 0)
    if old not in ("contrast", "inspect compare"):  # these are chosen by their arguments
        assert done.stdout == same_result.stdout


def test_old_spelling_of_an_option_is_accepted_and_named(tmp_path: Path) -> None:
    calls = [["export", str(tmp_path), "--to=a.csv"], ["paper", "moore2025", "curves", "--on", "x"]]
    results = [CliRunner().invoke(cli, call) for call in calls]
    assert "`--to` is now `--out`." in results[0].stderr
    assert "`--on` is now left out." in results[1].stderr
    assert all("No such option" not in done.output for done in results)


def test_commands_of_papers_are_found_without_import() -> None:
    assert set(brought()) == set(registry.with_commands()) >= {"moore2025", "tradecraft2026"}
    assert all(about for about in brought().values())


def test_misspelt_command_suggests_the_nearest() -> None:
    result = CliRunner().invoke(cli, ["scroe"])
    assert "score" in str(result.exception)
