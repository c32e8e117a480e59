"""Prompting strategies, one per file; each fits every game. A module defines `STRATEGY`."""
