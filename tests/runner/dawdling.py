"""Small studies against one partner, for tests that kill whoever plays them."""

from __future__ import annotations

from pathlib import Path

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study, grid, instance, player_spec

FILE = Path(__file__).parent / "users_file.py"


def against(partner: PlayerSpec, repeats: int = 120, name: str = "s", rounds: int = 4) -> Study:
    """So many games of ipd between chance and a partner."""
    lineups = grid(agent=player_spec("random"), partner=partner)
    cell = Cell("ipd", (instance("ipd", rounds=rounds),), lineups, repeats=repeats)
    return Study(name, "for tests", (cell,))
