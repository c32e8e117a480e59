"""The folder is the registry; packages and users' files add to it."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from sally.core import shelf
from sally.core.errors import BadInput
from sally.core.game import GameSpec
from sally.core.partner import Partner
from sally.runner.seating import kinds
from tests.fixtures import cups
from tests.table import played, table

HERE = Path(__file__).parent.parent / "fixtures"


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Whatever a test puts on the shelf is taken off again."""
    kept = {folder: dict(entries) for folder, entries in shelf._added.items()}
    monkeypatch.setattr(shelf, "_added", kept)
    yield
    shelf._installed.cache_clear()
    shelf._known.clear()


def test_presets_are_games_of_their_family() -> None:
    assert {"repeated_games", "rps", "ibs", "ipd", "cups", "haggle"} <= set(shelf.games())
    assert shelf.game("rps").family == "repeated_games"
    assert shelf.partners("repeated_games").keys() <= kinds(shelf.game("rps")).keys()


@pytest.mark.parametrize(("name", "near"), [("rsp", "rps"), ("hagle", "haggle"), ("cup", "cups")])
def test_an_unknown_game_suggests_the_nearest(name: str, near: str) -> None:
    with pytest.raises(BadInput, match=f"did you mean .*{near}"):
        shelf.game(name)


def test_a_users_file_joins_the_shelf() -> None:
    del shelf._added["games"]["cups"]
    assert "cups" not in shelf.games()
    assert shelf.add_file(HERE / "cups.py") == ["games/cups"]
    assert isinstance(shelf.game("cups"), GameSpec)
    assert played(table("cups")).payoffs is not None


def test_a_users_partners_join_those_of_the_family(tmp_path: Path) -> None:
    """They must not push the shipped ones off the shelf."""
    before = set(shelf.partners("repeated_games"))
    file = tmp_path / "mine.py"
    file.write_text(
        "from __future__ import annotations\n"
        "from sally.core.partner import Partner\n"
        "FOR = 'repeated_games'\n"
        "PARTNERS = {'stubborn': Partner('stubborn', 'the last move', 'me',\n"
        "    lambda game, seat: lambda turn: turn.options[-1])}\n"
    )
    shelf.add_file(file)
    assert set(shelf.partners("repeated_games")) == before | {"stubborn"}
    episode = played(table("ipd", who="stubborn"))
    assert episode.payoffs == {"agent": 30.0, "partner": 30.0}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.py", "GAME = ", "does not run: SyntaxError"),
        ("a.py", "import no_such_module", "does not run: ModuleNotFoundError"),
        ("a.py", "x = 1", "puts nothing on the shelf; it should define one of GAME"),
        ("a.txt", "GAME = 1", "is not a Python file"),
        ("", "", "There is no file"),
    ],
)
def test_a_file_that_adds_nothing_says_why(tmp_path: Path, name: str, text: str, why: str) -> None:
    file = tmp_path / (name or "missing.py")
    if name:
        file.write_text(text)
    with pytest.raises(BadInput, match=why):
        shelf.add_file(file)


def test_installed_packages_add_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("cups_again", "tests.fixtures.cups:GAME", "sally.games")
    monkeypatch.setattr(
        shelf, "entry_points", lambda group: [entry] if group == "sally.games" else []
    )
    shelf._installed.cache_clear()
    shelf._known.clear()
    assert shelf.shelf("games")["cups_again"] is cups.GAME


def test_an_installed_entry_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("broken", "no_such_package:GAME", "sally.games")
    monkeypatch.setattr(shelf, "entry_points", lambda group: [entry])
    shelf._installed.cache_clear()
    shelf._known.clear()
    with pytest.raises(BadInput, match="no_such_package:GAME"):
        shelf.shelf("games")


def test_there_are_only_so_many_shelves() -> None:
    with pytest.raises(BadInput, match="did you mean games"):
        shelf.add("game", "x", None)


def test_every_partner_says_who_described_it_first() -> None:
    for family in {spec.family for spec in shelf.games().values()}:
        for name, partner in shelf.partners(family).items():
            assert isinstance(partner, Partner)
            assert partner.name == name
            assert partner.about.strip() and partner.source.strip()
