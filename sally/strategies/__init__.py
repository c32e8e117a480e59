"""Prompting strategies, one per module as `STRATEGY`; each fits every game."""
