"""Shared parts of the word games: words, their vectors, and minds with declared associations."""
