"""The card of Wavelength, a list of baselines: psychics and guessers that ignore how the partner
reads the dial."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from sally.core.registry.study import player_spec
from sally.core.rules.card import Card, Condition, Shortcut
from sally.games.association.conditions import opposite, rows_of
from sally.games.wavelength.instances import frozen
from sally.games.wavelength.rules import DIAL, Wavelength

METRICS = ("wavelength_points", "wavelength_regret")
INSTANCES = rows_of("wavelength", "row")


def random_dial() -> float:
    """Return the exact mean points of a uniformly random dial position over all problems."""
    game = Wavelength()
    targets = [problem.target for row in frozen("balanced").rows for problem in row]
    return (
        sum(game.points(t, position) for t in targets for position in DIAL)
        / len(targets)
        / len(DIAL)
    )


def random_clue(shift: float = 0.0, stretch: float = 1.0) -> float:
    """Return the mean points of a uniformly random clue for a scripted guesser, whose dial is
    shifted and stretched by these amounts.

    Positions are ranks, so the positions of random words are uniform between the poles (apart from
    a few illegal words).
    """
    game = Wavelength()
    ranks = np.linspace(0, 100, 2001)
    moved = np.rint(np.clip(50 + stretch * (ranks - 50) + shift, 0, 100)).astype(int)
    positions, counts = np.unique(moved, return_counts=True)
    targets = Counter(problem.target for row in frozen("balanced").rows for problem in row)
    total = sum(
        times * float(np.average([game.points(target, int(a)) for a in positions], weights=counts))
        for target, times in targets.items()
    )
    return total / targets.total()


def _psychic(name: str, **dial: Any) -> Condition:
    return Condition(
        name=name,
        instances=INSTANCES,
        seat="psychic",
        others={"guesser": player_spec("own_dial", **dial)},
        shortcuts=(
            *opposite("pole other_pole", "hub loner"),
            Shortcut(player_spec("own_dial"), player_spec("own_dial", stretch=-1.0)),
        ),
        metrics=METRICS,
        chance={"wavelength_points": random_clue(**dial)},
    )


CARD = Card(
    family="wavelength",
    no_ideal="a clue is any of thousands of words, so that what the partner's replies "
    "would reveal after each cannot be enumerated; the reference `adapts` infers "
    "the partner's mind by Bayes' rule and gives the best word or place for it, "
    "without looking ahead",
    about="scores of clues and dials that ignore how the partner reads the dial",
    unattacked="no point of the dial is right by the page: targets are drawn evenly and the "
    "other's dial is the game",
    conditions=(
        _psychic("psychic, plain dial"),
        _psychic("psychic, shifted by 20", shift=20.0),
        _psychic("psychic, drawn together", stretch=0.5),
        Condition(
            name="guesser, shifted by 20",
            instances=INSTANCES,
            seat="guesser",
            others={"psychic": player_spec("own_dial", shift=20.0)},
            shortcuts=(
                Shortcut(player_spec("middle"), player_spec("end")),
                Shortcut(player_spec("own_dial"), player_spec("own_dial", stretch=-1.0)),
            ),
            metrics=METRICS,
            chance={"wavelength_points": random_dial()},
        ),
    ),
)
