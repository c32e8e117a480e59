"""The step race: three players talk, then each secretly moves 1, 3 or 5 steps."""

from sally.games.step_race.spec import GAME

__all__ = ["GAME"]
