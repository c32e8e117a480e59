"""One game as a text environment: `reset(seed, split) -> page`, `step(reply) -> page, reward ...`.

A task is drawn from the training, validation or held-out part of the game. A page is a prompt as
one text. Prompts, reply parsing, retries and forfeits are the same as in an evaluation. Each
decision has several rewards, one per column.
"""

from __future__ import annotations

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
from sally.adapters.trainers.text.table import Given, TextPlay, TextTable, logged, players_for
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Player
from sally.core.registry import registry
from sally.core.rules.chance import derived_seed
from sally.core.rules.training import Split, Task, Worths
from sally.models.trained import Trained
from sally.players.calls import Request
from sally.players.language import LANGUAGE
from sally.runner.seating import resolved

SEATED = 1024  # tasks cached with their players
Stepped = tuple[str, float, bool, dict[str, Any]]


class PreparedTask(NamedTuple):
    """A task with its players and an unplayed match, cached for reuse."""

    match: Match[Any, Any, Any]
    players: dict[str, Player[Any, Any]]
    worths: Worths | None


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
        self.split = split_of(game, split, seat)
        self.game, self._seed, self._drawn = game, seed, 0
        self._weights = None if weights is None else check_weights(weights)
        about = dict(trained_on or {})  # another training run is another player, with another name
        self._model = Trained(f"trained:{name or _called(about)}", {"trained_on": about})
        params: dict[str, Any] = {"model": self._model.name, "strategy": strategy}
        params |= {"pack": pack} if pack else {}
        self._sitter = PlayerSpec(LANGUAGE, params | ({"with_": with_} if with_ else {}))
        self._probes, self._retries = tuple(probes), retries
        self._seated: dict[bytes, PreparedTask] = {}

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
        first, players, worths = self._at(task)
        setup = msgspec.structs.replace(first.setup, seed=seed, repeat=repeat)
        self.task = task
        self._table = table = TextTable(setup, players, task.seat, first)
        self._ledger = Ledger(table, worths)
        exact = AUTOMATON if self._ledger.exact else ANYBODY
        self.weights = exact if self._weights is None else self._weights
        if table.asked is not None:
            self._ledger.begin(table.asked)
        return self.page

    def step(self, reply: Given) -> Stepped:
        """Play a reply; return the next prompt, the reward, whether the episode is over, and the
        info."""
        table, request = self._begun(), self._asked_now()
        decided, ledger = table.answer(reply), self._ledger
        ledger.rows[-1].tries.append((request, logged(reply)))
        if (move := table.made) is not None and ledger.is_plain:
            columns = ledger.enter(move)
        else:
            columns = ledger.settle() if decided else NOTHING
        asked = table.asked
        if decided and asked is not None:
            ledger.begin(asked)
        page = "" if asked is None else asked.page
        reward = columns.reward(self.weights)
        return page, reward, table.playing.over, self.info(columns, not decided)

    # --- what can be looked at --------------------------------------------------------------

    @property
    def page(self) -> str:
        """The current prompt as one text; "" at the end."""
        asked = self.asked
        return "" if asked is None else asked.page

    @property
    def worths(self) -> list[float] | None:
        """The value of each option and of a forfeit; None unless the other players are known
        automata."""
        return None if self.asked is None else self._ledger.rows[-1].worths

    def info(self, columns: Columns, retry: bool = False) -> dict[str, Any]:
        """Return the info of a step: reward columns, current request, and how the episode ended."""
        assert self._table is not None
        asked, match = self._table.asked, self._table.playing
        found: dict[str, Any] = {
            "columns": msgspec.structs.asdict(columns),
            "kind": None if asked is None else asked.kind,
            "turn": len(match.replay.moves),
            "retry": retry,
        }
        if match.over:
            found["censored"] = getattr(match.events[-1], "cause", None)
        return found

    def rows(self, kinds: Sequence[str] = ("move",)) -> list[Row]:
        """Return the decisions of these kinds so far; probes are included only if `kinds` names
        them."""
        rows = [] if self._table is None else self._ledger.rows
        return [row for row in rows if row.tries and row.kind in kinds]

    def episode(self, cell: str = "") -> Episode:
        """Return the record of the episode, which can be stored like any other."""
        table = self._begun()
        used = {self.task.seat: self._model.used} if self._model.used else {}
        return table.episode(cell, used)

    def censor(self, cause: str, detail: str = "") -> None:
        """Stop the episode without a result."""
        self._begun().censor(cause, detail)
        self._ledger.settle()

    def _at(self, task: Task) -> PreparedTask:
        """Return a task with its match and players, checked and cached."""
        key = msgspec.msgpack.encode(task)
        if (known := self._seated.get(key)) is not None:
            return known
        arms = {task.seat: self._probes} if self._probes else {}
        lineup = {task.seat: self._sitter, **task.others}
        setup = resolved(Setup(task.instance, 0, lineup, arms=arms, retries=self._retries))
        match: Match[Any, Any, Any] = Match(registry.game(setup.instance.game), setup)
        while len(self._seated) >= SEATED:
            del self._seated[next(iter(self._seated))]
        players = players_for(match, {task.seat: self._model})
        self._seated[key] = made = PreparedTask(match, players, worths_at(match, task.seat))
        return made


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


def _called(about: Mapping[str, Any]) -> str:
    if not about:
        return "untrained"
    said = msgspec.json.encode(about, order="sorted")
    return f"learner-{blake2b(said, digest_size=4).hexdigest()}"
