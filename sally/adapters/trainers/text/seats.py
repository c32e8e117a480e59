"""One game with learners in several seats; each seat has its own prompts, rows and rewards.

Seats that move at the same time are asked one after another; no prompt shows a move that the rules
have not revealed yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sally.adapters.trainers.text.columns import ANYBODY, Ledger, Row, check_weights
from sally.adapters.trainers.text.splits import drawn_task, split_of, usual_player
from sally.adapters.trainers.text.table import Given, TextPlay, TextTable, logged, players_for
from sally.core.errors import unknown
from sally.core.log.events import Episode, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.rules.training import Split, Task
from sally.models.trained import Trained
from sally.players.calls import Request
from sally.players.language import LANGUAGE
from sally.runner.seating import resolved


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
        self._spec = registry.game(game)
        self.game, self.split = game, split_of(game, split)
        everyone = tuple(map(str, self._spec.build().seats))
        for seat in seats:
            if seat not in everyone:
                raise unknown(f"seat of {game}", seat, everyone)
        self.seats = tuple(seats) or everyone
        self.weights = ANYBODY if weights is None else check_weights(weights)
        self._models = {
            seat: Trained(f"trained:{(names or {}).get(seat, 'untrained')}") for seat in self.seats
        }
        settings = {"strategy": strategy, **({"pack": pack} if pack else {})}
        self._players = {
            seat: PlayerSpec(LANGUAGE, {"model": model.name, **settings})
            for seat, model in self._models.items()
        }
        self._retries = retries
        self._ledgers: dict[str, Ledger] = {}

    def reset(self, seed: int, split: str = "train") -> Request | None:
        """Begin an episode from a part of the split and return the first request."""
        return self.begin(*drawn_task(self.split, split, seed))

    def begin(self, task: Task, seed: int) -> Request | None:
        """Begin an episode of this task's problem and return the first request."""
        rules = self._spec.build(task.instance.params)
        others = {
            str(seat): task.others.get(str(seat)) or usual_player(self._spec, rules, seat)
            for seat in rules.seats
            if seat not in self.seats
        }
        setup = resolved(
            Setup(task.instance, seed, {**self._players, **others}, retries=self._retries)
        )
        match: Match[Any, Any, Any] = Match(self._spec, setup)
        self._table = table = TextTable(setup, players_for(match, self._models), self.seats)
        self._ledgers = {seat: Ledger(table, seat=seat) for seat in self.seats}
        self._enter()
        return table.asked

    def step(self, reply: Given) -> dict[str, float]:
        """Answer the current request; return the rewards that have become known, by seat."""
        table, request = self._begun(), self._asked_now()
        self._ledgers[self.seat].rows[-1].tries.append((request, logged(reply)))
        if not table.answer(reply):
            return {}
        known = {seat: ledger.settle() for seat, ledger in self._ledgers.items()}
        self._enter()
        return {seat: columns.reward(self.weights) for seat, columns in known.items()}

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

    def episode(self, cell: str = "") -> Episode:
        """Return the record of the episode, which can be stored like any other."""
        return self._begun().episode(cell)

    def censor(self, cause: str, detail: str = "") -> None:
        """Stop the episode without a result."""
        self._begun().censor(cause, detail)

    def _enter(self) -> None:
        """Start the row of a decision that is asked for the first time."""
        if self.asked is not None:
            self._ledgers[self.seat].begin(self.asked)
