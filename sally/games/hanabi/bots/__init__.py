"""Bots of Hanabi: each a function from a view to the odds of its moves."""
