"""Published games read again by a language model, to compare it with the recorded labels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sally.core.errors import BadInput
from sally.core.match.player import Decision, Fault, Turn
from sally.core.prompt.model import Model, Settings
from sally.games.mindgames.claims import Claims
from sally.games.mindgames.players import ModelReader
from sally.papers.moore2025.importer import as_episode
from sally.papers.moore2025.published_layout import PublishedGame


def by_model(model: Model, settings: Settings) -> Callable[[PublishedGame], list[Claims]]:
    """A reader of whole games: the model reads each message with the recorded talk before it.

    A message it gives no readable answer for claims nothing; a model that fails is an error.
    """
    reader = ModelReader(model, settings)

    def read(game: PublishedGame) -> list[Claims]:
        found: list[Claims] = []

        def overhear(turn: Turn[Any, Any]) -> None:
            given = asyncio.run(reader.decide(turn))
            if isinstance(given, Fault):
                raise BadInput(f"The model that reads failed: {given.detail}")
            found.append(given.action if isinstance(given, Decision) else Claims())

        as_episode(game, overhear)
        return found

    return read
