"""Words packs that lie in a store are checked as any other, under every name of their game."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally import store
from sally.core.errors import BadInput


@pytest.mark.parametrize("game", ["ipd", "repeated_games"])
@pytest.mark.parametrize("text", ['nowhere = "a"', 'rules = "{seat.__class__}"', 'rules = "{x}"'])
def test_pack_that_does_not_fit_its_game_is_refused(tmp_path: Path, game: str, text: str) -> None:
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "0.toml").write_text(f'name = "x"\ngame = "{game}"\n[texts]\n{text}\n')
    with pytest.raises(BadInput):
        store.know_packs(tmp_path)


def test_pack_of_a_game_that_is_not_installed_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    text = 'name = "x"\ngame = "chess_of_tomorrow"\n[texts]\na = "b"\n'
    (tmp_path / "packs" / "0.toml").write_text(text)
    store.know_packs(tmp_path)
