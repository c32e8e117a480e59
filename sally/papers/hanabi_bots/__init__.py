"""Bots of Hanabi: published scores beside the scores measured here."""

from sally.core.registry.paper import Paper

PAPER = Paper("hanabi_bots", "Hanabi: what scripted players score, alone and together", __name__)
