"""Learners and calculators that only fit repeated games."""

from sally.games.repeated_games.players import learners, minimax, tabular

PLAYERS = {**tabular.PLAYERS, **learners.PLAYERS, **minimax.PLAYERS}

__all__ = ["PLAYERS"]
