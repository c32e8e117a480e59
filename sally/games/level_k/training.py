"""Level-k games to learn from: partners held out by how deep they think."""

from __future__ import annotations

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry import registry
from sally.core.rules.training import Split, Task, Training

_PARTNERS = {
    "train": (PlayerSpec("level", {"k": 0}), PlayerSpec("level", {"k": 1})),
    "validation": (PlayerSpec("level", {"k": 2}),),
    "held_out": (PlayerSpec("level", {"k": 3}), PlayerSpec("cognitive_hierarchy", {"k": 4})),
}


def split(game: str) -> Split:
    """Shallow thinkers to learn from, deeper ones to be tested on; the first seat learns."""
    mine, *others = map(str, registry.game(game).build().seats)
    parts = {
        part: tuple(
            Task(Instance(game, game, {}), mine, dict.fromkeys(others, who)) for who in there
        )
        for part, there in _PARTNERS.items()
    }
    return Split(game, "partners held out by how many steps they think", parts)


TRAINING = Training(split)
