"""Training tasks of public goods, with partners held out by the rule that they follow."""

from __future__ import annotations

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry import registry
from sally.core.rules.training import Split, Task, Training

_PARTNERS = {
    "train": ("free_rider", "conditional_cooperator"),
    "validation": ("matcher",),
    "held_out": ("threshold",),
}


def _training_tasks(game: str) -> Split:
    """Return training tasks for the first seat, each with other players that all follow the same
    rule."""
    mine, *others = map(str, registry.game(game).build().seats)
    parts = {
        part: tuple(
            Task(Instance(game, game, {}), mine, dict.fromkeys(others, PlayerSpec(name)))
            for name in names
        )
        for part, names in _PARTNERS.items()
    }
    return Split(game, "partners held out by their rule", parts)


TRAINING = Training(_training_tasks)
