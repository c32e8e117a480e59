"""Any game as a PettingZoo environment; nature and helper seats are played internally."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from sally.core.errors import BadInput, needs_extra, unknown

with needs_extra("rl"):
    from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]

from sally.adapters.rl import spaces
from sally.adapters.rl.problems import Problems
from sally.adapters.rl.table import Table
from sally.core.registry import registry
from sally.core.rules.game import Seat


class _SeatEnvs:
    """The arguments, spaces and resets that both kinds of environment share."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "name": "sally"}

    def __init__(
        self,
        game: str,
        render_mode: str | None = None,
        page_bytes: int = spaces.PAGE_BYTES,
        split: str = "",
        pages: bool = True,
        **params: Any,
    ) -> None:
        super().__init__()
        self.game, self.render_mode, self._page_bytes = game, render_mode, page_bytes
        self._problems, self._seeds = Problems(game, params, split), spaces.Seeds()
        self._pages = pages
        self._last: Table | None = None  # table of the last reset
        self.spec = registry.game(game)
        self.rules = self._problems.rules
        self.possible_agents = [str(seat) for seat in self.rules.seats]

    @cache  # noqa: B019  PettingZoo wants the same object each time
    def action_space(self, agent: str) -> Any:
        return self._problems.action_space

    @cache  # noqa: B019  PettingZoo wants the same object each time
    def observation_space(self, agent: str) -> Any:
        return spaces.observation_space(self.spec, self.rules, Seat(agent), self._page_bytes)

    def _begin(self, seed: int | None) -> None:
        episode_seed = self._seeds.next(seed)
        params = self._problems.parameters_for(episode_seed)
        self.table = Table(self.game, seed=episode_seed, params=params, like=self._last)
        self._last = self.table
        self._purse = spaces.RewardTracker(self.table)
        self.agents = list(self.possible_agents)

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the current observation of a seat."""
        return spaces.observation_of(self.table, Seat(agent), self._page_bytes)

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {a: spaces.info(self.table, Seat(a), self._pages) for a in self.agents}

    def render(self) -> str:
        """Return the prompts of the seats that must move or, after the end, the transcript."""
        return spaces.render_text(self.table)


class TurnEnv(_SeatEnvs, AECEnv):  # type: ignore[misc]
    """AEC environment; simultaneous moves are taken in seat order and revealed together."""

    agent_selection: str

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self._begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._settle()

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.table.act(agent, spaces.check_action(action))
        self.rewards = {str(seat): gained for seat, gained in self._purse.take().items()}
        self._accumulate_rewards()
        self._settle()
        self._deads_step_first()

    def _settle(self) -> None:
        terminated, truncated = spaces.end_flags(self.table)
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        waiting = self.table.waiting()
        self.agent_selection = waiting[0] if waiting else self.agents[0]
        self.infos = self._infos()

    def close(self) -> None:
        """Close the environment; there are no resources to release."""


class SimultaneousEnv(_SeatEnvs, ParallelEnv):  # type: ignore[misc]
    """Parallel environment for games in which all seats always move together."""

    def __init__(self, game: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(game, *args, **kwargs)
        if set(Table(game, params=self._problems.parameters_for(0)).waiting()) != set(
            self.rules.seats
        ):
            raise BadInput(f"In {game} the seats take turns; use TurnEnv.")

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        self._begin(seed)
        return self._observations(), self._infos()

    def step(self, actions: dict[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
        if not self.agents:
            raise BadInput("The episode is over; call reset before the next step.")
        for agent in actions:
            if agent not in self.possible_agents:
                raise unknown(f"seat of {self.game}", agent, self.possible_agents)
        waiting = self.table.waiting()
        for agent in waiting:
            if agent not in actions:
                raise BadInput(f"Seat {agent!r} must move, but has no action.")
        for agent, action in [(agent, spaces.check_action(actions[agent])) for agent in waiting]:
            self.table.act(agent, action)
        rewards: dict[Any, float] = self._purse.take()
        terminated, truncated = spaces.end_flags(self.table)
        observations, infos, agents = self._observations(), self._infos(), self.agents
        if terminated or truncated:
            self.agents = []
        return (
            observations,
            rewards,
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            infos,
        )

    def _observations(self) -> dict[str, Any]:
        return {agent: self.observe(agent) for agent in self.agents}
