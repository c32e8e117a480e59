"""Before and after: the same problems, partners and seeds, knowing and doing apart, as a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from population import population, reletter
from scoring import Policy

from sally import store
from sally.adapters.trainers.text import TextEnv
from sally.adapters.trainers.text.splits import split_of
from sally.core.log.events import Instance
from sally.core.rules.chance import Stream, derived_seed
from sally.games.repeated_games.training import split
from sally.games.toma.po.game import frozen_scenarios
from sally.parts.training import Task

PACK = "repeated_games_terse"
NEW_WORDING = "repeated_games_story"  # farmers and seasons: no training is worded so
FAMILY = ("rps", "ipd", "ibs")
PROBES = {"toma_po": "their_choice", "battery": "belief"}  # elsewhere their_move
ONCE = ("other family", "literal")  # problems without a partner that draws
OTHER_WORDING = "held-out machines, new wording"


def cells(trained: str, stories: int = 40) -> dict[str, list[Task]]:
    """What a model trained on one game is tested on, from nearest to farthest."""
    own_split = split(trained)
    assert own_split is not None
    others = [
        other_split
        for game in FAMILY
        if game != trained and (other_split := split(game)) is not None
    ]
    return {
        "training partners": list(own_split.part("train")),
        "held-out partners": list(own_split.part("held_out")),
        "other games": [
            task
            for game_split in others
            for part in ("train", "held_out")
            for task in game_split.part(part)
        ],
        "other family": [_story(id) for id in list(frozen_scenarios())[::3][:stories]],
    }


def population_cells(trained: str, stories: int = 40) -> dict[str, list[Task]]:
    """The same after training with a population, with machines it met and did not meet."""
    machines, game_cells = population(trained), cells(trained, stories)
    held_out = list(machines.part("held_out"))
    literal = split_of("battery")
    return {
        "training machines": [
            reletter(task, Stream("test", n)) for n, task in enumerate(machines.part("train")[:24])
        ],
        "held-out machines": held_out,
        OTHER_WORDING: held_out,
        "held-out partners": [
            Task(task.instance, task.seat, partner.others)
            for partner in game_cells["held-out partners"]
            for task in _lettered(held_out)
        ],
        "other games": game_cells["other games"],
        "other family": game_cells["other family"],
        "literal": [*literal.part("held_out"), *literal.part("validation")],
    }


def _lettered(tasks: Sequence[Task]) -> list[Task]:
    """One task for each set of letters."""
    return list({task.instance.id: task for task in tasks}.values())[:3]


def _story(id: str) -> Task:
    return Task(Instance(id, "toma_po", {"scenario": id}), "player")


def evaluate(
    policy: Policy,
    folder: Path,
    tests: Mapping[str, Sequence[Task]],
    name: str,
    trained_on: Mapping[str, Any],
    seeds: int = 8,
) -> None:
    """Play every task so many times, asked aside before each move, and store it cell by cell."""
    store.claim(folder, store.Manifest("training", name))
    for cell, tasks in tests.items():
        n_seeds = 1 if cell in ONCE else seeds
        playing = [
            _begin_episode(name, trained_on, cell, task, n)
            for task in tasks
            for n in range(n_seeds)
        ]
        policy.forget()
        while waiting := [env for env in playing if env.asked is not None]:
            for env, scores in zip(waiting, answers(policy, waiting), strict=True):
                env.step(scores)
        with store.Writer(folder) as writer:
            for env in playing:
                writer.add(env.episode(cell))
        print(f"{name}: {cell}, {len(playing)} episodes", flush=True)


_made: dict[tuple[str, str, str], dict[bytes, Any]] = {}  # seats by name, game and wording


def _begin_episode(
    name: str, trained_on: Mapping[str, Any], cell: str, task: Task, seed: int
) -> TextEnv:
    game = task.instance.game
    pack = NEW_WORDING if cell == OTHER_WORDING else PACK if game in FAMILY else ""
    env = TextEnv(
        game,
        name=name,
        strategy="lm",
        probes=[PROBES.get(game, "their_move")],
        pack=pack,
        trained_on=trained_on,
        sample=True,
    )
    env._seated = _made.setdefault((name, game, pack), env._seated)
    env.begin(task, derived_seed("test", task.instance.id, task.company, seed), seed)
    return env


def answers(policy: Policy, envs: Sequence[TextEnv]) -> list[list[float]]:
    """What the model scores in each environment that waits."""
    return policy.scores([(str(e.asked.messages), e.asked.candidates) for e in envs if e.asked])
