"""Shared parts of the word games: vocabulary, word vectors, and players with declared
associations."""
