"""The fields of actions, which records store: without one of them, old episodes cannot be read.

`python -m tests.games.test_stored_fields` writes the list anew; only additions may differ.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from sally.core.registry import registry

FILE = Path(__file__).with_name("stored_fields.json")


def stored_fields(game: str) -> list[str]:
    """Return `TYPE.FIELD` for every field of a game's actions and of the types within them."""
    _, types = msgspec.json.schema_components([registry.game(game).action])
    return sorted(
        f"{name}.{field}"
        for name, schema in types.items()
        for field in schema.get("properties", {})
    )


LISTED = json.loads(FILE.read_text("utf-8"))


@pytest.mark.parametrize("game", LISTED)
def test_fields_of_actions_keep_their_names(game: str) -> None:
    assert stored_fields(game) == LISTED[game]


if __name__ == "__main__":
    listed = {game: stored_fields(game) for game in registry.games()}
    FILE.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
