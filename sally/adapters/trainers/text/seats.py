"""One game with learners in several seats; each seat has its own prompts, rows and rewards.

Seats that move at the same time are asked one after another; no prompt shows a move that the rules
have not revealed yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sally.adapters.trainers.text.columns import ANYBODY, Row, check_weights
from sally.adapters.trainers.text.env import TextPlay
from sally.adapters.trainers.text.splits import drawn_task, split_of, usual_player
from sally.adapters.trainers.text.table import Given
from sally.core.errors import unknown
from sally.core.log.events import PlayerSpec, Setup
from sally.core.registry import registry
from sally.models.trained import Trained
from sally.parts.training import Split, Task
from sally.players.calls import Request
from sally.players.language import LANGUAGE


class TextSeats(TextPlay):
    """An environment in which language models play several seats of one game.

    Args:
        seats: The seats whose answers the caller supplies; all seats if empty. The others keep the
            task's players.
        names: The model's name in records, by seat; seats with the same name are one policy.
    """

    def __init__(
        self,
        game: str,
        seats: Sequence[str] = (),
        split: Split | None = None,
        *,
        names: Mapping[str, str] | None = None,
        strategy: str = "chat",
        pack: str = "",
        weights: Mapping[str, float] | None = None,
        retries: int = 2,
    ) -> None:
        super().__init__(game, split_of(game, split), retries)
        self._spec = registry.game(game)
        everyone = tuple(map(str, self._spec.build().seats))
        for seat in seats:
            if seat not in everyone:
                raise unknown(f"seat of {game}", seat, everyone)
        self.seats = tuple(seats) or everyone
        self.weights = ANYBODY if weights is None else check_weights(weights)
        self._learners = {
            seat: Trained(f"trained:{(names or {}).get(seat, 'untrained')}") for seat in self.seats
        }
        settings = {"strategy": strategy, **({"pack": pack} if pack else {})}
        self._players = {
            seat: PlayerSpec(LANGUAGE, {"model": model.name, **settings})
            for seat, model in self._learners.items()
        }

    def _seating(self, task: Task) -> tuple[Setup, dict[str, Trained]]:
        rules = self._spec.build(task.instance.params)
        others = {
            str(seat): task.others.get(str(seat)) or usual_player(self._spec, rules, seat)
            for seat in rules.seats
            if seat not in self.seats
        }
        lineup = {**self._players, **others}
        return Setup(task.instance, 0, lineup, retries=self._retries), self._learners

    def reset(self, seed: int, split: str = "train") -> Request | None:
        """Begin an episode from a part of the split and return the first request."""
        return self.begin(*drawn_task(self.split, split, seed))

    def begin(self, task: Task, seed: int) -> Request | None:
        """Begin an episode of this task's problem and return the first request."""
        self._begin(task, seed)
        return self.asked

    def step(self, reply: Given) -> dict[str, float]:
        """Answer the current request; return the rewards that have become known, by seat."""
        if not self._answer(reply):
            return {}
        new_columns = self._settle()
        self._begin_row()
        return {seat: columns.reward(self.weights) for seat, columns in new_columns.items()}

    @property
    def seat(self) -> str:
        """The seat that is asked; "" at the end."""
        return "" if self.asked is None else str(self.asked.ask.id[1])

    def rows(self, seat: str) -> list[Row]:
        """Return the decisions of a seat so far, each with its own rewards."""
        if seat not in self._ledgers:
            raise unknown(f"learning seat of {self.game}", seat, self.seats)
        return [row for row in self._ledgers[seat].rows if row.tries]

    def rewards(self, seat: str) -> list[float]:
        """Return the reward of each decision of a seat, turn by turn."""
        return [row.columns.reward(self.weights) for row in self.rows(seat)]
