"""Who is played with: the partners of each word game under the names that the tables use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import player_spec

GIVERS: Mapping[str, str] = {"wavelength": "psychic", "taboo": "giver", "codenames": "giver"}
MINDS: Mapping[str, Mapping[str, Any]] = {
    "plain sense": {},
    "a quarter by spelling": {"kind": "form", "amount": 0.25},
    "half by spelling": {"kind": "form", "amount": 0.5},
    "every word moved": {"kind": "noise", "amount": 1.0, "who": 1},
}
DIALS: Mapping[str, Mapping[str, Any]] = {
    "plain dial": {},
    "shifted by 20": {"shift": 20.0},
    "drawn together": {"stretch": 0.5},
    "mirrored": {"stretch": -1.0},
}


def partners_of(game: str) -> dict[str, PlayerSpec]:
    """The partners of a game, by name."""
    if game == "wavelength":
        return {name: player_spec("own_dial", **params) for name, params in DIALS.items()}
    return {name: player_spec("associates", **params) for name, params in MINDS.items()}


def players_of(game: str) -> dict[str, PlayerSpec]:
    """Who gives clues without a language model: nobody's friend, oneself, and one who learns."""
    own = "own_dial" if game == "wavelength" else "associates"
    return {
        "random": player_spec("random"),
        "like oneself": player_spec(own),
        "adapts": player_spec("adapts"),
    }
