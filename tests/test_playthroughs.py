"""Playthroughs stay as they were read and committed."""

from __future__ import annotations

import pytest

from tests.golden import FOLDER, path_of, playthrough, written


@pytest.mark.parametrize("name", written())
def test_playthrough_is_unchanged(name: str) -> None:
    path = path_of(name)
    assert path.exists(), f"Write and read it: python -m tests.golden {name}"
    assert playthrough(name) == path.read_text(), (
        f"{name} plays or reads otherwise than before. If that is meant, raise its version (or "
        f"words_version), run `python -m tests.golden {name}`, and read what changed."
    )


def test_no_playthrough_exists_for_a_removed_game() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} <= set(written())
