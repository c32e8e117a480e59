"""Shared parts of the word games: words, their vectors, and players with declared associations."""
