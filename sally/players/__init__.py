"""Kinds of player that fit many games. A module defines `PLAYERS`: name -> PlayerKind."""
