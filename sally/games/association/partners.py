"""Shared parts of the word games' partners: minds that change during an episode, and seat
checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.games.association.minds import MIND_PARAMS, Mind, mind_of

Floats = npt.NDArray[np.float64]
OURS = "ours, for appendix A of riemer2025"
GRID = (
    Mind(),
    Mind("form", 0.25),
    Mind("form", 0.5),
    Mind("cosine"),
)  # minds that a learner considers
HEAT = 0.3  # temperature: the smaller, the more an unlikely answer counts against a mind
LEAST = -10.0  # lower bound of the log-odds of a single answer


def later(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return default parameters for a mind that replaces the partner's mind, unannounced, after
    `until` rounds."""
    return {"until": 0, **{f"then_{name}": default for name, default in params.items()}}


def mind_at(params: Mapping[str, Any], number: int) -> Mind:
    """Return the mind that is active in round `number`."""
    then = {name: params.get(f"then_{name}", default) for name, default in MIND_PARAMS.items()}
    until = int(params.get("until", 0))
    return mind_of(then if until and number >= until else params)


def check_minds(params: Mapping[str, Any]) -> None:
    """Raise BadInput unless the parameters declare a valid mind, both before and after a change
    of mind."""
    for number in (0, int(params.get("until", 0))):
        mind_at(params, number)


def must_sit(seat: Seat, name: str, fits: Seat) -> None:
    """Raise BadInput if a player that can play only in the seat `fits` is given another seat."""
    if seat != fits:
        raise BadInput(f"{name} can play as {fits}, not as {seat}")


def shares(weights: Floats) -> Floats:
    """Return probabilities that sum to 1 from unnormalised log weights."""
    odds = np.exp(weights - weights.max())
    found: Floats = odds / odds.sum()
    return found


def log_share(strength: npt.NDArray[np.float32], at: int) -> float:
    """Return the log probability of saying the word at index `at`, given the strength of each
    word."""
    heat = strength / HEAT
    heat = heat - heat.max()
    return max(float(heat[at] - np.log(np.exp(heat).sum())), LEAST)
