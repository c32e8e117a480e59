"""Learners, calculators and writers of policies that only fit repeated games."""

from sally.games.repeated_games.players import learners, meta, minimax, tabular, writer

PLAYERS = {
    **tabular.PLAYERS,
    **learners.PLAYERS,
    **minimax.PLAYERS,
    **meta.PLAYERS,
    **writer.PLAYERS,
}

__all__ = ["PLAYERS"]
