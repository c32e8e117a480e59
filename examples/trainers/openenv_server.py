"""Any game as an OpenEnv environment: observations are prompts, actions are replies.

    app = app_of("ipd")        # then: uvicorn module:app

Splits are those of the game; a task is identified by its split and index, and does not reveal its
partner.
"""

from __future__ import annotations

from typing import Any, ClassVar

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from sally.adapters.trainers.text import TextEnv
from sally.core.errors import BadInput
from sally.core.rules.chance import derived_seed


class ReplyAction(Action):  # type: ignore[misc]
    """The reply of the model."""

    text: str


class PageObservation(Observation):  # type: ignore[misc]
    """The prompt, and the reward columns of the last reply."""

    page: str = ""
    kind: str | None = None  # "move" or the name of a probe; None at the end
    retry: bool = False
    columns: dict[str, float | None] | None = None
    censored: str | None = None


class GameState(State):  # type: ignore[misc]
    """The game and its progress."""

    game: str = ""
    turn: int = 0


class GameEnvironment(Environment):  # type: ignore[misc]
    """One seat of a game; every session has its own environment."""

    SUPPORTS_CONCURRENT_SESSIONS: ClassVar[bool] = True

    def __init__(self, game: str, **settings: Any) -> None:
        super().__init__()
        self.env = TextEnv(game, **settings)
        self._game, self._steps = game, 0
        self._id: str | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> PageObservation:
        """Start an episode and return its first prompt; `split` and `index` select the episode, or
        else the seed does."""
        part, index = kwargs.get("split") or "train", kwargs.get("index")
        if index is None:
            self.env.reset(seed, part)
        else:
            tasks = self.env.split.part(part)
            if not 0 <= int(index) < len(tasks):
                raise BadInput(f"index must be from 0 to {len(tasks) - 1} in {part}, not {index}.")
            self.env.begin(tasks[int(index)], derived_seed("openenv", part, index, seed or 0))
        self._id, self._steps = episode_id, 0
        ask = self.env.asked
        return PageObservation(page=self.env.page, kind=ask.kind if ask else None, done=False)

    def step(
        self, action: ReplyAction, timeout_s: float | None = None, **kwargs: Any
    ) -> PageObservation:
        """Play the reply; after the end of the episode, only return a message."""
        page, reward, done, info = self.env.step(action.text)
        self._steps += 1
        return PageObservation(
            page=page,
            reward=reward,
            done=done,
            kind=info["kind"],
            retry=info["retry"],
            columns=info["columns"],
            censored=info.get("censored"),
        )

    @property
    def state(self) -> GameState:
        turn = 0 if self.env.asked is None else self.env.asked.turn
        return GameState(episode_id=self._id, step_count=self._steps, game=self._game, turn=turn)

    # --- tasks, for those who look before they reset ----------------------------------------

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return list(self.env.split.parts)

    def num_tasks(self, split: str) -> int:
        """Return the number of tasks of a split."""
        return len(self.env.split.part(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return one task without revealing its partner."""
        task = self.env.split.part(split)[index]
        return {"id": f"{split}-{index}", "index": index, "instance": task.instance.id}

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return all tasks of a split."""
        return [self.get_task(split, n) for n in range(self.num_tasks(split))]

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """Return a range of tasks of a split."""
        return self.list_tasks(split)[start:stop]


def app_of(game: str, at_once: int = 64, **settings: Any) -> Any:
    """Return an application for uvicorn that serves this game."""
    return create_fastapi_app(
        lambda: GameEnvironment(game, **settings),
        ReplyAction,
        PageObservation,
        max_concurrent_envs=at_once,
        env_name=f"sally_{game}",
    )
