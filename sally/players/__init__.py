"""Kinds of player that fit many games. Each module defines `PLAYERS`, its player kinds by name."""
