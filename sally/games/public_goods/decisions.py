"""Training tasks of public goods, with partners held out by the rule that they follow."""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.parts.training import Split, Training, by_partner

_PARTNERS = {
    "train": (PlayerSpec("free_rider"), PlayerSpec("conditional_cooperator")),
    "validation": (PlayerSpec("matcher"),),
    "held_out": (PlayerSpec("threshold"),),
}


def _training_tasks(game: str) -> Split:
    """Return training tasks for the first seat, each with other players that all follow the same
    rule."""
    about = "partners held out by their rule"
    return by_partner(game, about, registry.game(game).build().seats, _PARTNERS)


TRAINING = Training(_training_tasks)
