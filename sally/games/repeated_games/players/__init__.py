"""Learners and calculators that only fit repeated games."""

from sally.games.repeated_games.players import learners, meta, minimax, tabular

PLAYERS = {**tabular.PLAYERS, **learners.PLAYERS, **minimax.PLAYERS, **meta.PLAYERS}

__all__ = ["PLAYERS"]
