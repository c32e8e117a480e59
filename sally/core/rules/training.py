"""What a game offers to those who train on it: splits of its problems, and what moves are worth."""

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
    """A problem, the seat that learns, and who else is at the table."""

    instance: Instance
    seat: str
    others: dict[str, PlayerSpec] = msgspec.field(default_factory=dict)

    @property
    def company(self) -> str:
        """Who else is there, by name."""
        return ", ".join(label(who) for who in self.others.values())


@dataclass(frozen=True)
class Split:
    """Tasks to learn from, to choose by, and to be tested on, none of them in two parts."""

    name: str
    about: str
    parts: Mapping[str, tuple[Task, ...]] = field(default_factory=dict)

    def part(self, name: str) -> tuple[Task, ...]:
        """The tasks of one part, or an error that names the parts there are."""
        if name not in self.parts:
            raise unknown(f"part of the split {self.name}", name, self.parts)
        return self.parts[name]


Worths = Callable[[Any], Sequence[float] | None]
"""(view) -> what each option is worth with optimal play from there on, and, last, a forfeit.

It may remember how far it has followed one episode, in attributes of its own: every episode is
given a copy of one that was never asked.
"""

Alike = Callable[[Task, Task], str]
"""Why two tasks are one to a learner, as the end of a sentence; empty where they are not."""


@dataclass(frozen=True)
class Training:
    """The room `training` of a game."""

    split: Callable[[str], Split | None]  # by the game's public name
    worths: (
        Callable[[Game[Any, Any, Any], Seat, Mapping[str, PlayerSpec]], Worths | None] | None
    ) = None
    """(game, seat, lineup): exact worths where the others are known machines; None elsewhere."""
    alike: Alike | None = None


def by_problem(
    game: str,
    seat: str,
    problems: Mapping[str, Mapping[str, Any]],
    others: Mapping[str, PlayerSpec],
) -> Split:
    """Problems by id and parameters, dealt to the parts by chance that is fixed by the id."""
    parts: dict[str, list[Task]] = {part: [] for part in PARTS}
    for id, params in problems.items():
        at = derived_seed("split", game, id) % 10  # seven in ten are learnt from
        part = "train" if at < 7 else "validation" if at == 7 else "held_out"
        parts[part].append(Task(Instance(id, game, dict(params)), seat, dict(others)))
    about = f"{len(problems)} frozen problems, each in one part"
    return Split(game, about, {part: tuple(tasks) for part, tasks in parts.items()})


def check_split(split: Split, alike: Alike | None = None) -> None:
    """Refuse a split in which a task, or one that is the same to a learner, is in two parts."""
    for part, tasks in split.parts.items():
        if not tasks:
            raise BadInput(f"The part {part!r} of the split {split.name} holds no task.")
    for one, other in combinations(split.parts, 2):
        for a in split.parts[one]:
            for b in split.parts[other]:
                why = "which is the same task" if _same(a, b) else alike(a, b) if alike else ""
                if why:
                    raise BadInput(
                        f"The split {split.name} overlaps: {one} has {_said(a)}, and {other} has "
                        f"{_said(b)}, {why}."
                    )


def _same(a: Task, b: Task) -> bool:
    mine = (a.instance.game, a.instance.params, a.seat, a.others)
    return mine == (b.instance.game, b.instance.params, b.seat, b.others)


def _said(task: Task) -> str:
    company = f" with {task.company}" if task.others else ""
    return f"{task.instance.id}{company}"
