"""Several text environments side by side, for samplers that answer in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sally.adapters.trainers.text.env import TextEnv
from sally.adapters.trainers.text.table import Given
from sally.core.errors import BadInput
from sally.core.rules.training import Task
from sally.players.calls import Request

Stepped = tuple[str, float, bool, dict[str, Any]]


class TextEnvs:
    """Several environments of one game; a finished environment waits for the next reset."""

    def __init__(self, make: Callable[[], TextEnv], n: int) -> None:
        if n < 1:
            raise BadInput(f"n must be at least 1, not {n}.")
        first = make()
        shared = first._seated  # players are made once for all
        self.envs = [first, *(make() for _ in range(n - 1))]
        for env in self.envs:
            env._seated = shared

    def __len__(self) -> int:
        return len(self.envs)

    def reset(self, seeds: Sequence[int], split: str = "train") -> list[str]:
        """Begin an episode in each environment and return the first prompts."""
        self._check(len(seeds))
        return [env.reset(seed, split) for env, seed in zip(self.envs, seeds, strict=True)]

    def begin(self, tasks: Sequence[tuple[Task, int]]) -> list[str]:
        """Begin these tasks, each with its seed, and return the first prompts."""
        self._check(len(tasks))
        return [env.begin(*each) for env, each in zip(self.envs, tasks, strict=True)]

    def asked(self) -> dict[int, Request]:
        """Return the current request of each environment that is not finished."""
        return {i: asked for i, env in enumerate(self.envs) if (asked := env.asked) is not None}

    def step(self, replies: Mapping[int, Given]) -> dict[int, Stepped]:
        """Play replies, given by environment, and return the result of each step."""
        for i in replies:
            if not 0 <= i < len(self.envs) or self.envs[i].asked is None:
                raise BadInput(f"Environment {i} is not waiting for a reply.")
        return {i: self.envs[i].step(reply) for i, reply in replies.items()}

    def _check(self, given: int) -> None:
        if given != len(self.envs):
            raise BadInput(f"{given} episodes were given for {len(self.envs)} environments.")
