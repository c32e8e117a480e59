"""Before and after: the same problems, partners and seeds, knowing and doing apart, as a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring import Policy

from sally import store
from sally.adapters.trainers.text import TextEnv
from sally.core.log.events import Instance
from sally.core.rules.chance import derived_seed
from sally.core.rules.training import Task
from sally.games.repeated_games.training import split
from sally.games.toma.po.game import frozen_scenarios

PACK = "repeated_games_terse"
FAMILY = ("rps", "ipd", "ibs")
PROBES = {"toma_po": "their_choice"}  # elsewhere their_move


def cells(trained: str, stories: int = 40) -> dict[str, list[Task]]:
    """What a model trained on one game is tested on, from nearest to farthest."""
    mine = split(trained)
    assert mine is not None
    others = [found for game in FAMILY if game != trained and (found := split(game)) is not None]
    return {
        "training partners": list(mine.part("train")),
        "held-out partners": list(mine.part("held_out")),
        "other games": [
            task for each in others for part in ("train", "held_out") for task in each.part(part)
        ],
        "other family": [_story(id) for id in list(frozen_scenarios())[::3][:stories]],
    }


def _story(id: str) -> Task:
    return Task(Instance(id, "toma_po", {"scenario": id}), "player")


def evaluate(
    policy: Policy,
    where: Path,
    tests: Mapping[str, Sequence[Task]],
    name: str,
    trained_on: Mapping[str, Any],
    seeds: int = 8,
) -> None:
    """Play every task so many times, asked aside before each move, and store all of it."""
    wanted = [
        (cell, task, seed)
        for cell, tasks in tests.items()
        for task in tasks
        for seed in range(1 if cell == "other family" else seeds)
    ]
    playing = [(cell, _begun(name, trained_on, task, seed)) for cell, task, seed in wanted]
    policy.forget()
    while waiting := [env for _, env in playing if env.asked is not None]:
        for env, scores in zip(waiting, answers(policy, waiting), strict=True):
            env.step(scores)
    store.claim(where, store.Manifest("training", name))
    with store.Writer(where) as writer:
        for cell, env in playing:
            writer.add(env.episode(cell))


_made: dict[tuple[str, str], dict[int, Any]] = {}  # seats by name and game, made once


def _begun(name: str, trained_on: Mapping[str, Any], task: Task, seed: int) -> TextEnv:
    game = task.instance.game
    env = TextEnv(
        game,
        name=name,
        strategy="lm",
        probes=[PROBES.get(game, "their_move")],
        pack=PACK if game in FAMILY else "",
        trained_on=trained_on,
        sample=True,
    )
    env._seated = _made.setdefault((name, game), env._seated)
    env.begin(task, derived_seed("test", task.instance.id, task.company, seed), seed)
    return env


def answers(policy: Policy, envs: Sequence[TextEnv]) -> list[list[float]]:
    """What the model scores in each environment that waits."""
    return policy.scores([(str(e.asked.messages), e.asked.candidates) for e in envs if e.asked])
