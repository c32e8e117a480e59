"""Bots of Hanabi: what their authors say they score, beside what they score here."""

from sally.core.registry.paper import Paper

PAPER = Paper("hanabi_bots", "Hanabi: what scripted players score, alone and together", __name__)
