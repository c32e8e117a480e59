"""The partially observable game to learn from."""

from __future__ import annotations

from sally.core.rules.training import Split, Training, by_problem
from sally.games.toma.po.game import frozen_scenarios


def split(game: str) -> Split:
    """The frozen scenarios, dealt to the parts."""
    return by_problem(game, "player", {id: {"scenario": id} for id in frozen_scenarios()}, {})


TRAINING = Training(split)
