"""The folder is the registry; packages and users' files add to it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.match.partner import Partner
from sally.core.registry import manifest, registry
from sally.core.rules.game import GameSpec
from sally.runner.seating import kinds
from tests.fixtures import cups
from tests.table import play_episode, table

HERE = Path(__file__).parent.parent / "fixtures"


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Whatever a test puts on the shelf is taken off again."""
    kept_entries = {folder: dict(entries) for folder, entries in registry._added.items()}
    monkeypatch.setattr(registry, "_added", kept_entries)
    yield
    registry._installed_entries.cache_clear()
    registry._results.clear()


def test_presets_are_games_of_their_family() -> None:
    assert {"repeated_games", "rps", "ibs", "ipd", "cups", "haggle"} <= set(registry.games())
    assert registry.game("rps").family == "repeated_games"
    assert registry.partners("repeated_games").keys() <= kinds(registry.game("rps")).keys()


@pytest.mark.parametrize(("name", "near"), [("rsp", "rps"), ("hagle", "haggle"), ("cup", "cups")])
def test_unknown_game_suggests_the_nearest(name: str, near: str) -> None:
    with pytest.raises(BadInput, match=f"did you mean .*{near}"):
        registry.game(name)


def test_user_file_adds_entries_to_the_registry() -> None:
    del registry._added["games"]["cups"]
    assert "cups" not in registry.games()
    assert registry.add_file(HERE / "cups.py") == ["games/cups"]
    assert isinstance(registry.game("cups"), GameSpec)
    assert play_episode(table("cups")).payoffs is not None


def test_user_partners_are_added_to_the_family(tmp_path: Path) -> None:
    """They must not push the shipped ones off the shelf."""
    partners_before = set(registry.partners("repeated_games"))
    file = tmp_path / "mine.py"
    file.write_text(
        "from __future__ import annotations\n"
        "from sally.core.match.partner import Partner\n"
        "FOR = 'repeated_games'\n"
        "PARTNERS = {'stubborn': Partner('stubborn', 'the last move', 'me',\n"
        "    lambda game, seat: lambda turn: turn.options[-1])}\n"
    )
    registry.add_file(file)
    assert set(registry.partners("repeated_games")) == partners_before | {"stubborn"}
    episode = play_episode(table("ipd", player="stubborn"))
    assert episode.payoffs == {"agent": 30.0, "partner": 30.0}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.py", "GAME = ", "fails when it is run: SyntaxError"),
        ("a.py", "import no_such_module", "fails when it is run: ModuleNotFoundError"),
        ("a.py", "x = 1", "defines nothing to register; it should define one of GAME"),
        ("a.txt", "GAME = 1", "is not a Python file"),
        ("", "", "There is no file"),
    ],
)
def test_file_that_adds_nothing_is_refused_with_the_reason(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    file = tmp_path / (name or "missing.py")
    if name:
        file.write_text(text)
    with pytest.raises(BadInput, match=why):
        registry.add_file(file)


def test_installed_packages_add_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("cups_again", "tests.fixtures.cups:GAME", "sally.games")
    monkeypatch.setattr(
        registry, "entry_points", lambda group: [entry] if group == "sally.games" else []
    )
    registry._installed_entries.cache_clear()
    registry._results.clear()
    assert registry.entries("games")["cups_again"] is cups.GAME


def test_installed_entry_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("broken", "no_such_package:GAME", "sally.games")
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    registry._installed_entries.cache_clear()
    registry._results.clear()
    with pytest.raises(BadInput, match="no_such_package:GAME"):
        registry.entries("games")


def test_unknown_kind_of_entry_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean games"):
        registry.add("game", "x", None)


def test_every_partner_names_its_source() -> None:
    for family in {spec.family for spec in registry.games().values()}:
        for name, partner in registry.partners(family).items():
            assert isinstance(partner, Partner)
            assert partner.name == name
            assert partner.about.strip() and partner.source.strip()


def test_entry_looked_up_by_name_is_the_one_in_the_full_list() -> None:
    games, studies, papers = (
        registry.games(),
        registry.entries("studies"),
        registry.entries("papers"),
    )
    assert all(registry.game(name) is spec for name, spec in games.items())
    ours = {
        name: own for own in registry._shipped_entries("games").values() for name in own.by_name
    }
    assert all(registry._load_shipped("games", name) is own for name, own in ours.items())
    assert all(registry.study(name) is study for name, study in studies.items())
    assert all(registry.paper(name) is papers[name] for name in papers)
    assert (
        registry._load_shipped("games", "no_such_game")
        is registry._load_shipped("papers", "")
        is None
    )


def test_user_game_replaces_shipped_game_of_same_name() -> None:
    registry.add("games", "ipd", mine := replace(cups.GAME, name="ipd"))
    assert registry.game("ipd").game is mine.game
    assert registry.family("ipd") is not registry._load_shipped("games", "ipd")


def test_playing_one_game_imports_no_other_game() -> None:
    text = (
        "import sys, sally;"
        "sally.play('ipd', {'agent': 'random', 'partner': 'tit_for_tat'}, rounds=1);"
        "print(*(name for name in sys.modules if name.count('.') < 3))"
    )
    process = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    )
    opened = set(process.stdout.split())
    assert {n for n in opened if n.startswith("sally.games.")} == {"sally.games.repeated_games"} | {
        n for n in opened if n.startswith("sally.games.repeated_games.")
    }
    assert not {"scipy", "sally.analysis", "sally.papers", "rich", "click"} & opened


def test_manifest_is_up_to_date() -> None:
    result = manifest.build()
    assert manifest.load() == result, "run `python -m sally.core.registry.manifest`"
    assert {"rps", "hanabi"} <= result["games"].keys()
    assert {"riemer2025", "quickstart"} <= result["studies"].keys()
