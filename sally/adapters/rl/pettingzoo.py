"""Any game as a PettingZoo environment; nature and helper seats are played internally."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from sally.core.errors import install_command

try:
    from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]
except ImportError as why:
    raise ImportError(
        f"{why.name} is not installed; `{install_command('rl')}` installs it.", name=why.name
    ) from None

from sally.adapters.rl import spaces
from sally.adapters.rl.problems import Problems
from sally.adapters.rl.table import Table
from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.core.rules.game import Seat


class TurnEnv(AECEnv):  # type: ignore[misc]
    """AEC environment; simultaneous moves are taken in seat order and revealed together."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "name": "sally"}
    agent_selection: str

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

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        drawn = self._seeds.next(seed)
        params = self._problems.at(drawn)
        self.table = Table(self.game, seed=drawn, params=params, like=self._last)
        self._last = self.table
        self._purse = spaces.RewardTracker(self.table)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._settle()

    def observe(self, agent: str) -> dict[str, Any]:
        return spaces.observed(self.table, Seat(agent), self._page_bytes)

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        spaces.act(self.table, Seat(agent), action)
        self.rewards = {str(seat): gained for seat, gained in self._purse.take().items()}
        self._accumulate_rewards()
        self._settle()
        self._deads_step_first()

    def _settle(self) -> None:
        terminated, truncated = spaces.ended(self.table)
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        waiting = self.table.waiting()
        self.agent_selection = waiting[0] if waiting else self.agents[0]
        self.infos = {a: spaces.info(self.table, Seat(a), self._pages) for a in self.agents}

    def render(self) -> str:
        return spaces.rendered(self.table)

    def close(self) -> None:
        """Close the environment; there are no resources to release."""


class SimultaneousEnv(ParallelEnv):  # type: ignore[misc]
    """Parallel environment for games in which all seats always move together."""

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
        self.game, self.render_mode, self._page_bytes = game, render_mode, page_bytes
        self._problems, self._seeds = Problems(game, params, split), spaces.Seeds()
        self._pages = pages
        self._last: Table | None = None  # table of the last reset
        self.spec = registry.game(game)
        self.rules = self._problems.rules
        self.possible_agents = [str(seat) for seat in self.rules.seats]
        if set(Table(game, params=self._problems.at(0)).waiting()) != set(self.rules.seats):
            raise BadInput(f"In {game} the seats take turns; use TurnEnv.")

    @cache  # noqa: B019  PettingZoo wants the same object each time
    def action_space(self, agent: str) -> Any:
        return self._problems.action_space

    @cache  # noqa: B019  PettingZoo wants the same object each time
    def observation_space(self, agent: str) -> Any:
        return spaces.observation_space(self.spec, self.rules, Seat(agent), self._page_bytes)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        drawn = self._seeds.next(seed)
        params = self._problems.at(drawn)
        self.table = Table(self.game, seed=drawn, params=params, like=self._last)
        self._last = self.table
        self._purse = spaces.RewardTracker(self.table)
        self.agents = list(self.possible_agents)
        return self._told()

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
        spaces.act_all(self.table, {agent: actions[agent] for agent in waiting})
        rewards: dict[Any, float] = self._purse.take()
        terminated, truncated = spaces.ended(self.table)
        (seen, infos), agents = self._told(), self.agents
        if terminated or truncated:
            self.agents = []
        return (
            seen,
            rewards,
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            infos,
        )

    def render(self) -> str:
        return spaces.rendered(self.table)

    def _told(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return spaces.told_all(self.table, self.agents, self._page_bytes, self._pages)
