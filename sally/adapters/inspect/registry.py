"""The tasks and the provider that Inspect loads through its entry point."""

from sally.adapters.inspect.pairs import PAIRS
from sally.adapters.inspect.provider import sally
from sally.adapters.inspect.tasks import game_task, study_task
from sally.core.registry import registry

__all__ = ["TASKS", "sally"]

STUDIES = registry.entries("studies")
TASKS = {name: study_task(name) for name in STUDIES}
# A study keeps its name; the game of the same name is called NAME_game.
NAMES = {game: f"{game}_game" if game in STUDIES else game for game in registry.games()}
TASKS |= {name: game_task(game, name) for game, name in NAMES.items()}
TASKS["pairs"] = PAIRS
