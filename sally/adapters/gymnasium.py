"""Any game as a Gymnasium environment: one seat learns, the others are seated by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

try:
    import gymnasium
except ImportError as why:
    raise ImportError(
        f"{why.name} is not installed; `pip install 'sally-lab[rl]'` brings it.", name=why.name
    ) from None

from sally.adapters import spaces
from sally.adapters.table import Table, opponents
from sally.core import shelf
from sally.core.errors import unknown
from sally.core.game import Seat


class SeatEnv(gymnasium.Env[Any, Any]):
    """The world as one seat meets it."""

    def __init__(
        self, game: str, seat: str = "", others: Mapping[str, Any] | None = None, **params: Any
    ) -> None:
        played = shelf.game(game)
        rules = played.build(params)
        self.seat = Seat(seat or rules.seats[0])
        if self.seat not in rules.seats:
            raise unknown(f"seat of {game}", self.seat, rules.seats)
        at_random = {str(s): "random" for s in rules.seats if s != self.seat}
        self._others = opponents(played, {**at_random, **(others or {})})
        self._game, self._params = game, params
        self.action_space = spaces.action_space(rules)
        self.observation_space = spaces.observation_space(played, rules, self.seat)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31))
        self.table = Table(self._game, (self.seat,), self._others, drawn, self._params)
        self._purse = spaces.Purse(self.table)
        self._purse.take()
        return spaces.observed(self.table, self.seat), spaces.info(self.table, self.seat)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        spaces.act(self.table, self.seat, action)
        terminated, truncated = spaces.ended(self.table)
        reward = self._purse.take()[self.seat]
        seen, info = spaces.observed(self.table, self.seat), spaces.info(self.table, self.seat)
        return seen, reward, terminated, truncated, info
