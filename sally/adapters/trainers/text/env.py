"""One game as a text environment: `reset(seed, split) -> page`, `step(reply) -> page, reward ...`.

A task is drawn from the training, validation or held-out part of the game. A page is a prompt as
one text. Prompts, reply parsing, retries and forfeits are the same as in an evaluation. Each
decision has several rewards, one per column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from sally.adapters.trainers.text.columns import (
    ANYBODY,
    AUTOMATON,
    NOTHING,
    Columns,
    Ledger,
    Row,
    check_weights,
    worths_at,
)
from sally.adapters.trainers.text.splits import drawn_task, split_of
from sally.adapters.trainers.text.table import OVER, Given, TextTable, logged_answer, players_for
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Player
from sally.core.registry import registry
from sally.core.rules.chance import derived_seed
from sally.models.trained import Trained
from sally.parts.training import Split, Task, Worths
from sally.players.calls import Request
from sally.players.language import LANGUAGE
from sally.runner.seating import resolve_setup

SEATED = 1024  # tasks cached with their players
Stepped = tuple[str, float, bool, dict[str, Any]]


class PreparedTask(NamedTuple):
    """A task with its players and an unplayed match, cached for reuse."""

    match: Match
    players: dict[str, Player]
    models: dict[str, Trained]  # by learning seat
    worths: Worths | None  # the value of each move, if one seat learns and the others are known


class TextPlay(ABC):
    """Base of the environments, which play one match at a time."""

    _table: TextTable | None = None  # the match in progress

    def __init__(self, game: str, split: Split, retries: int) -> None:
        self.game, self.split, self._retries = game, split, retries
        self._ledgers: dict[str, Ledger] = {}
        self._seated: dict[bytes, PreparedTask] = {}

    @abstractmethod
    def _seating(self, task: Task) -> tuple[Setup, dict[str, Trained]]:
        """Return the setup of a task without versions, and the model of each learning seat."""

    @property
    def asked(self) -> Request | None:
        """The current request, with its messages, candidates and tools; None at the end."""
        return None if self._table is None else self._table.asked

    def episode(self, cell: str = "") -> Episode:
        """Return the record of the episode, which can be stored like any other."""
        used = {seat: model.used for seat, model in self._models.items() if model.used}
        return self._begin_table().match.episode(cell, used)

    def censor(self, cause: str, detail: str = "") -> None:
        """Stop the episode without a result."""
        self._begin_table().censor(cause, detail)
        self._settle()

    def _begin(self, task: Task, seed: int, repeat: int = 0) -> None:
        first, players, self._models, worths = self._prepare_task(task)
        setup = msgspec.structs.replace(first.setup, seed=seed, repeat=repeat)
        match: Match = Match(first.spec, setup, like=first)
        self._table = TextTable(match, players, tuple(self._models))
        self._ledgers = {seat: Ledger(match, seat, worths) for seat in self._models}
        self._begin_row()

    def _prepare_task(self, task: Task) -> PreparedTask:
        """Return a task with its match and players, checked and cached."""
        key = msgspec.msgpack.encode(task)
        if (prepared := self._seated.get(key)) is None:
            setup, models = self._seating(task)
            match: Match = Match(registry.game(self.game), resolve_setup(setup))
            while len(self._seated) >= SEATED:
                del self._seated[next(iter(self._seated))]
            worths = worths_at(match, *models) if len(models) == 1 else None
            prepared = PreparedTask(match, players_for(match, models), models, worths)
            self._seated[key] = prepared
        return prepared

    def _answer(self, reply: Given) -> bool:
        """Play a reply; return whether it completes a decision."""
        table, request = self._begin_table(), self._asked_now()
        is_decided = table.answer(reply)
        self._ledgers[request.ask.id[1]].rows[-1].tries.append((request, logged_answer(reply)))
        return is_decided

    def _settle(self) -> dict[str, Columns]:
        """Return the rewards that have become known, by seat."""
        return {seat: ledger.settle() for seat, ledger in self._ledgers.items()}

    def _begin_row(self) -> None:
        """Start the row of a decision that is asked for the first time."""
        if self.asked is not None:
            self._ledgers[self.asked.ask.id[1]].begin(self.asked)

    def _begin_table(self) -> TextTable:
        if self._table is None:
            raise BadInput("No episode has begun; call reset first.")
        return self._table

    def _asked_now(self) -> Request:
        request = self._begin_table().asked
        if request is None:
            raise BadInput(OVER)
        return request


class TextEnv(TextPlay):
    """An environment in which a language model plays one seat."""

    def __init__(
        self,
        game: str,
        split: Split | None = None,
        *,
        seat: str = "",
        name: str = "",
        strategy: str = "qa",
        probes: Sequence[str] = (),
        pack: str = "",
        weights: Mapping[str, float] | None = None,
        retries: int = 2,
        seed: int = 0,
        trained_on: Mapping[str, Any] | None = None,
        **with_: Any,
    ) -> None:
        super().__init__(game, split_of(game, split, seat), retries)
        self._seed, self._drawn = seed, 0
        self._weights = None if weights is None else check_weights(weights)
        about = dict(trained_on or {})  # another training run is another player, with another name
        self._model = Trained(f"trained:{name or _learner_name(about)}", {"trained_on": about})
        params: dict[str, Any] = {"model": self._model.name, "strategy": strategy}
        params |= {"pack": pack} if pack else {}
        self._sitter = PlayerSpec(LANGUAGE, params | ({"with_": with_} if with_ else {}))
        self._probes = tuple(probes)

    def _seating(self, task: Task) -> tuple[Setup, dict[str, Trained]]:
        arms = {task.seat: self._probes} if self._probes else {}
        lineup = {task.seat: self._sitter, **task.others}
        setup = Setup(task.instance, 0, lineup, arms=arms, retries=self._retries)
        return setup, {task.seat: self._model}

    # --- what a trainer uses ----------------------------------------------------------------

    def reset(self, seed: int | None = None, split: str = "train") -> str:
        """Begin an episode from a part of the split and return its first prompt; without a seed, a
        new seed is used at every reset."""
        if seed is None:
            seed = derived_seed(self._seed, "text env", self._drawn)
            self._drawn += 1
        return self.begin(*drawn_task(self.split, split, seed))

    def begin(self, task: Task, seed: int, repeat: int = 0) -> str:
        """Begin an episode of this task and return its first prompt."""
        self.task = task
        self._begin(task, seed, repeat)
        exact = AUTOMATON if self._ledgers[task.seat].exact else ANYBODY
        self.weights = exact if self._weights is None else self._weights
        return self.page

    def step(self, reply: Given) -> Stepped:
        """Play a reply; return the next prompt, the reward, whether the episode is over, and the
        info."""
        columns, is_decided = NOTHING, self._answer(reply)
        if is_decided:
            columns = self._settle()[self.task.seat]
            self._begin_row()
        reward, match = columns.reward(self.weights), self._begin_table().match
        return self.page, reward, match.over, self.info(columns, not is_decided)

    # --- what can be looked at --------------------------------------------------------------

    @property
    def page(self) -> str:
        """The current prompt as one text; "" at the end."""
        request = self.asked
        return "" if request is None else request.page

    @property
    def worths(self) -> list[float] | None:
        """The value of each option and of a forfeit; None unless the other players are known
        automata."""
        return None if self.asked is None else self._ledgers[self.task.seat].rows[-1].worths

    def info(self, columns: Columns, retry: bool = False) -> dict[str, Any]:
        """Return the info of a step: reward columns, current request, and how the episode ended."""
        request, match = self.asked, self._begin_table().match
        step_info: dict[str, Any] = {
            "columns": msgspec.structs.asdict(columns),
            "kind": None if request is None else request.kind,
            "turn": len(match.replay.moves),
            "retry": retry,
        }
        if match.over:
            step_info["censored"] = getattr(match.events[-1], "cause", None)
        return step_info

    def rows(self, kinds: Sequence[str] = ("move",)) -> list[Row]:
        """Return the decisions of these kinds so far; probes are included only if `kinds` names
        them."""
        rows = [] if self._table is None else self._ledgers[self.task.seat].rows
        return [row for row in rows if row.tries and row.kind in kinds]


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
        return [
            env.begin(*task_and_seed) for env, task_and_seed in zip(self.envs, tasks, strict=True)
        ]

    def asked(self) -> dict[int, Request]:
        """Return the current request of each environment that is not finished."""
        return {i: request for i, env in enumerate(self.envs) if (request := env.asked) is not None}

    def step(self, replies: Mapping[int, Given]) -> dict[int, Stepped]:
        """Play replies, given by environment, and return the result of each step."""
        for i in replies:
            if not 0 <= i < len(self.envs) or self.envs[i].asked is None:
                raise BadInput(f"Environment {i} is not waiting for a reply.")
        return {i: self.envs[i].step(reply) for i, reply in replies.items()}

    def _check(self, count: int) -> None:
        if count != len(self.envs):
            raise BadInput(f"{count} episodes were given for {len(self.envs)} environments.")


def _learner_name(about: Mapping[str, Any]) -> str:
    if not about:
        return "untrained"
    encoded = msgspec.json.encode(about, order="sorted")
    return f"learner-{blake2b(encoded, digest_size=4).hexdigest()}"
