"""Training tasks of MindGames."""

from __future__ import annotations

from sally.games.mindgames.frozen import frozen
from sally.parts.training import Split, Training, by_problem


def split(game: str) -> Split:
    """Return the standard puzzles, split into train, validation and held-out parts."""
    numbers = range(len(frozen("standard").puzzles))
    problems = {f"standard_{n}": {"number": n} for n in numbers}
    return by_problem(game, "persuader", problems, {})


TRAINING = Training(split)
