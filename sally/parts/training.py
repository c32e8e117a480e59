"""Training data of a game: splits of its problems, and the values of moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Instance, PlayerSpec, label
from sally.core.rules.chance import derived_seed
from sally.core.rules.game import Game, Seat

PARTS = ("train", "validation", "held_out")


class Task(msgspec.Struct, frozen=True):
    """A problem, the learning seat, and the players in the other seats."""

    instance: Instance
    seat: str
    others: dict[str, PlayerSpec] = msgspec.field(default_factory=dict)

    @property
    def company(self) -> str:
        """The names of the other players."""
        return ", ".join(label(player) for player in self.others.values())


@dataclass(frozen=True)
class Split:
    """Disjoint sets of tasks for training, validation and testing."""

    name: str
    about: str
    parts: Mapping[str, tuple[Task, ...]] = field(default_factory=dict)

    def part(self, name: str) -> tuple[Task, ...]:
        """Return the tasks of one part; raises BadInput, naming the known parts, if there is no
        such part."""
        if name not in self.parts:
            raise unknown(f"part of the split {self.name}", name, self.parts)
        return self.parts[name]


Worths = Callable[[Any], Sequence[float] | None]
"""(view) -> the value of each option, and last of a forfeit, under optimal play from there on.

The function may keep track of one episode in its attributes: each episode gets a fresh copy.
"""

Alike = Callable[[Task, Task], str]
"""Why two tasks are equivalent for a learner, as the end of a sentence; "" if they are not."""


@dataclass(frozen=True)
class Training:
    """The training data of a game, defined in its module `training`."""

    split: Callable[[str], Split | None]  # by the game's public name
    worths: Callable[[Game, Seat, Mapping[str, PlayerSpec]], Worths | None] | None = None
    """(game, seat, lineup) -> exact values if the others are known automata, else None."""
    alike: Alike | None = None


def by_problem(
    game: str,
    seat: str,
    problems: Mapping[str, Mapping[str, Any]],
    others: Mapping[str, PlayerSpec],
) -> Split:
    """Return a split of problems by id; each is assigned to a part by a hash of its id."""
    parts: dict[str, list[Task]] = {part: [] for part in PARTS}
    for id, params in problems.items():
        bucket = derived_seed("split", game, id) % 10  # seven in ten are for training
        part = "train" if bucket < 7 else "validation" if bucket == 7 else "held_out"
        parts[part].append(Task(Instance(id, game, dict(params)), seat, dict(others)))
    about = f"{len(problems)} frozen problems, each in one part"
    return Split(game, about, {part: tuple(tasks) for part, tasks in parts.items()})


def by_partner(
    game: str,
    about: str,
    seats: Sequence[str],
    partners: Mapping[str, Sequence[PlayerSpec]],
    instance: Instance | None = None,
) -> Split:
    """Return a split of one problem by partner: the first seat learns, and all other seats have the
    same partner."""
    problem, (learner_seat, *others) = instance or Instance(game, game, {}), seats
    parts = {
        part: tuple(
            Task(problem, str(learner_seat), dict.fromkeys(map(str, others), partner))
            for partner in part_partners
        )
        for part, part_partners in partners.items()
    }
    return Split(game, about, parts)


def check_split(split: Split, alike: Alike | None = None) -> None:
    """Raise BadInput if two parts hold the same task, or tasks equivalent for a learner."""
    for part, tasks in split.parts.items():
        if not tasks:
            raise BadInput(f"The part {part!r} of the split {split.name} is empty.")
    for first_part, second_part in combinations(split.parts, 2):
        for a in split.parts[first_part]:
            for b in split.parts[second_part]:
                overlap = (
                    "which is the same task"
                    if _is_same_task(a, b)
                    else alike(a, b)
                    if alike
                    else ""
                )
                if overlap:
                    raise BadInput(
                        f"The split {split.name} overlaps: {first_part} contains "
                        f"{_describe_task(a)}, and {second_part} "
                        "contains "
                        f"{_describe_task(b)}, {overlap}."
                    )


def _is_same_task(a: Task, b: Task) -> bool:
    first_key = (a.instance.game, a.instance.params, a.seat, a.others)
    return first_key == (b.instance.game, b.instance.params, b.seat, b.others)


def _describe_task(task: Task) -> str:
    company = f" with {task.company}" if task.others else ""
    return f"{task.instance.id}{company}"
