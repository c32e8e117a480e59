"""What strategies say in the games of ToMA has been read by a human eye, and stays as it was."""

from __future__ import annotations

import pytest

from tests.games.toma.conversations import STRATEGIES, conversation, path_of


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_conversation_is_unchanged(strategy: str) -> None:
    assert conversation(strategy) == path_of(strategy).read_text()
