"""appendix_a as a study: one model gives clues to each scripted partner of each word game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.players.language import OPEN

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
    """Return the partners of a game by the names that the tables use."""
    if game == "wavelength":
        return {name: player_spec("own_dial", **params) for name, params in DIALS.items()}
    return {name: player_spec("associates", **params) for name, params in MINDS.items()}


def players_of(game: str) -> dict[str, PlayerSpec]:
    """Return the clue givers that need no language model: random, self-model and adaptive."""
    self_model = "own_dial" if game == "wavelength" else "associates"
    return {
        "random": player_spec("random"),
        "like oneself": player_spec(self_model),
        "adapts": player_spec("adapts"),
    }


ROWS = 10  # of each frozen set
PROBES = {
    "wavelength": (("their_dial", "placing"), ("placing",)),
    "taboo": (("will_find", "closeness"), ("closeness",)),
    "codenames": (("their_pick", "their_run", "closeness"), ("closeness",)),
}


def study(model: str = OPEN, **language: Any) -> Study:
    """Return the study of every game with every partner.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    me = player_spec("language", model=model, strategy="qa", **language)
    cells = []
    for game, seat in GIVERS.items():
        giver_probes, guesser_probes = PROBES[game]
        rows = tuple(instance(game, f"{game} {n:03d}", number=n) for n in range(ROWS))
        for name, partner in partners_of(game).items():
            lineup = {seat: me, "guesser": partner}
            arms = {seat: giver_probes, "guesser": guesser_probes}
            cells.append(Cell(f"{game}: {name}", rows, (lineup,), arms))
    return Study(
        name="appendix_a",
        about="one model gives clues to partners with associations of their own",
        cells=tuple(cells),
        paper="appendix_a",
    )


STUDY = study()
STUDIES = (STUDY,)
