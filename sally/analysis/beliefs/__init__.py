"""Decisions with stated beliefs, of any game, in one table."""
