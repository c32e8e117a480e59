"""Learners, exact players and policy writers for repeated games only."""

from sally.games.repeated_games import policies
from sally.games.repeated_games.players import learners, meta, minimax, tabular

PLAYERS = {
    **tabular.PLAYERS,
    **learners.PLAYERS,
    **minimax.PLAYERS,
    **meta.PLAYERS,
    **policies.PLAYERS,
}

__all__ = ["PLAYERS"]
