"""Any game as a Gymnasium environment: one seat learns, and players chosen by name take the
others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.errors import BadInput, needs_extra, unknown

with needs_extra("rl"):
    import gymnasium

from sally.adapters.rl import spaces
from sally.adapters.rl.problems import Problems
from sally.adapters.rl.table import Table, opponents
from sally.adapters.trainers.text import TextEnv
from sally.core.registry import registry
from sally.core.rules.game import Seat

MOST_TEXT = 100_000  # maximum characters of a prompt or a reply


class SeatEnv(gymnasium.Env[Any, Any]):
    """One seat of a game; observations are views, actions are option numbers or forms with
    fields."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012  Gymnasium declares it so

    def __init__(
        self,
        game: str,
        seat: str = "",
        others: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
        page_bytes: int = spaces.PAGE_BYTES,
        split: str = "",
        pages: bool = True,
        **params: Any,
    ) -> None:
        played = registry.game(game)
        self._problems = Problems(game, params, split)
        rules, first = self._problems.rules, self._problems.task(0)
        self.seat = Seat(seat or (first.seat if first else rules.seats[0]))
        if self.seat not in rules.seats:
            raise unknown(f"seat of {game}", self.seat, rules.seats)
        at_random = {str(s): "random" for s in rules.seats if s != self.seat}
        self._others = opponents(played, {**at_random, **(others or {})})
        self._told, self._pages = others is not None, pages
        self._last: Table | None = None  # table of the last reset
        self._game, self._page_bytes, self.render_mode = game, page_bytes, render_mode
        self.action_space = self._problems.action_space
        self.observation_space = spaces.observation_space(played, rules, self.seat, page_bytes)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        episode_seed = int(self.np_random.integers(2**31))
        task = self._problems.task(episode_seed)
        others = self._others if task is None or self._told else task.others
        params = self._problems.parameters_for(episode_seed)
        self.table = Table(self._game, (self.seat,), others, episode_seed, params, self._last)
        self._last = self.table
        self._purse = spaces.RewardTracker(self.table)
        self._purse.take()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.table.match.over:
            raise BadInput("The episode is over; call reset before the next step.")
        self.table.act(self.seat, spaces.check_action(action))
        terminated, truncated = spaces.end_flags(self.table)
        reward = self._purse.take()[self.seat]
        return self._observe(), reward, terminated, truncated, self._info()

    def render(self) -> Any:
        """Return the current prompt or, after the end of the episode, the transcript."""
        return spaces.render_text(self.table) if self.render_mode == "ansi" else None

    def _observe(self) -> dict[str, Any]:
        return spaces.observation_of(self.table, self.seat, self._page_bytes)

    def _info(self) -> dict[str, Any]:
        return spaces.info(self.table, self.seat, self._pages)


class PageSpace(gymnasium.spaces.Text):
    """Any text up to a maximum length."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length


class TextSeatEnv(gymnasium.Env[str, str]):
    """One seat of a game in words: observations are prompts, actions are replies."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012  Gymnasium declares it so

    def __init__(
        self, game: str, split: str = "train", render_mode: str | None = None, **env_options: Any
    ) -> None:
        self.env, self._split, self.render_mode = TextEnv(game, **env_options), split, render_mode
        self.observation_space = PageSpace(MOST_TEXT)
        self.action_space = PageSpace(MOST_TEXT)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        page = self.env.reset(int(self.np_random.integers(2**31)), self._split)
        return page, {"kind": "move" if self.env.asked is None else self.env.asked.kind}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        page, reward, done, info = self.env.step(action)
        cut = done and info["censored"] is not None
        return page, reward, done and not cut, cut, info

    def render(self) -> Any:
        """Return the current prompt."""
        return self.env.page if self.render_mode == "ansi" else None


def _register() -> None:
    """Register every game as `sally/NAME-v0` and, with text prompts, as `sally/NAME-text-v0`."""
    module = __name__
    for name in registry.games():
        for id, class_name in (
            (f"sally/{name}-v0", "SeatEnv"),
            (f"sally/{name}-text-v0", "TextSeatEnv"),
        ):
            if id not in gymnasium.registry:
                gymnasium.register(id, f"{module}:{class_name}", kwargs={"game": name})


_register()
