"""Bargaining to learn from: partners held out by how they react."""

from __future__ import annotations

from sally.core.log import Instance, Sitter
from sally.core.training import Split, Task, Training

_PARTNERS = {
    "train": (
        Sitter("clock", {"start": 90, "step": 3, "margin": 2}),
        Sitter("responsive", {"start": 80, "down": 5, "up": 2, "margin": 5}),
        Sitter("truthful"),
    ),
    "validation": (Sitter("responsive", {"start": 90, "down": 3, "up": 3, "margin": 2}),),
    "held_out": (Sitter("splitter"), Sitter("grim"), Sitter("liar")),
}


def split(game: str) -> Split:
    """Simple partners to learn from, others to be tested on; the buyer learns, without talk."""
    parts = {
        part: tuple(
            Task(Instance(f"{game}-silent", game, {"talk": "none"}), "buyer", {"seller": who})
            for who in there
        )
        for part, there in _PARTNERS.items()
    }
    return Split(game, "partners held out by how they react to quotes", parts)


TRAINING = Training(split)
