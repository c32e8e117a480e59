"""Training problems of the minority game."""

from __future__ import annotations

from sally.core.rules.training import Split, Training, by_problem
from sally.games.toma.mg.game import frozen_scenarios


def training_split(game: str) -> Split:
    """Return the frozen scenarios by part of the split."""
    return by_problem(game, "player", {id: {"scenario": id} for id in frozen_scenarios()}, {})


TRAINING = Training(training_split)
