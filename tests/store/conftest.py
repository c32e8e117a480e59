"""A folder that a study has claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally import store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    store.claim(out, store.Manifest("mine", "hash"))
    return out
