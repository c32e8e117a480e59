"""What came of a clue in the ambiguity game: one of four outcomes, a measure each."""

from __future__ import annotations

from sally.core.metric import Played
from sally.games.toma.ag import Ambiguity


def ended_as(played: Played, outcome: str) -> float | None:
    """1 if the clue ended like this, else 0; None where no clue was given or nobody guessed."""
    game = played.replay.game
    assert isinstance(game, Ambiguity)
    found = game.outcome(played.replay.states[-1])
    return None if found is None else float(found == outcome)
