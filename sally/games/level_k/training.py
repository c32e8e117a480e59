"""Level-k games to learn from: partners held out by how deep they think."""

from __future__ import annotations

from sally.core import shelf
from sally.core.log import Instance, Sitter
from sally.core.training import Split, Task, Training

_PARTNERS = {
    "train": (Sitter("level", {"k": 0}), Sitter("level", {"k": 1})),
    "validation": (Sitter("level", {"k": 2}),),
    "held_out": (Sitter("level", {"k": 3}), Sitter("cognitive_hierarchy", {"k": 4})),
}


def split(game: str) -> Split:
    """Shallow thinkers to learn from, deeper ones to be tested on; the first seat learns."""
    mine, *others = map(str, shelf.game(game).build().seats)
    parts = {
        part: tuple(
            Task(Instance(game, game, {}), mine, dict.fromkeys(others, who)) for who in there
        )
        for part, there in _PARTNERS.items()
    }
    return Split(game, "partners held out by how many steps they think", parts)


TRAINING = Training(split)
