"""Training tasks of Pick the Right Stuff."""

from __future__ import annotations

from sally.core.rules.training import Split, Training, by_problem
from sally.games.pick_the_right_stuff.frozen import frozen_games

USERS = 5


def _training_tasks(game: str) -> Split:
    """Return the balanced frozen games with five users, split into parts."""
    numbers = range(len(frozen_games("balanced_zero", USERS)))
    problems = {f"balanced_zero_{n}": {"number": n, "users": USERS} for n in numbers}
    return by_problem(game, "manager", problems, {})


TRAINING = Training(_training_tasks)
