"""Selection of the instance at each reset: fixed, or drawn from a split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces as gym_spaces

from sally.adapters.rl import spaces
from sally.adapters.trainers.text.splits import split_of
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.parts.training import Task

LOOKED_AT = 64  # sampled instances of a split that determine the menu width


class Problems:
    """The instances of one environment."""

    def __init__(self, game: str, params: Mapping[str, Any], split: str = "") -> None:
        if split and params:
            raise BadInput("Give either a split or parameters; a split has its own instances.")
        self._params = dict(params)
        self.tasks: tuple[Task, ...] = split_of(game).part(split) if split else ()
        build = registry.game(game).build
        self.rules = build(self.parameters_for(0))
        sampled_rules = [build(task.instance.params) for task in self.tasks[:LOOKED_AT]] or [
            self.rules
        ]
        action_spaces = [spaces.action_space(rules) for rules in sampled_rules]
        widths = [space.n for space in action_spaces if isinstance(space, gym_spaces.Discrete)]
        self.action_space = (
            action_spaces[0]
            if len(widths) < len(action_spaces)
            else gym_spaces.Discrete(int(max(widths)))
        )

    def task(self, seed: int) -> Task | None:
        """Return the task that a seed selects, or None if the environment has no tasks, because it
        was made from fixed parameters."""
        return Stream(seed, "problem").pick(self.tasks) if self.tasks else None

    def parameters_for(self, seed: int) -> dict[str, Any]:
        """Return the parameters of the instance for a seed."""
        task = self.task(seed)
        return self._params if task is None else dict(task.instance.params)
