"""Learners and calculators that only fit repeated games."""

from sally.games.repeated_games.players import learners, minimax, tabular, writer

PLAYERS = {**tabular.PLAYERS, **learners.PLAYERS, **minimax.PLAYERS, **writer.PLAYERS}

__all__ = ["PLAYERS"]
