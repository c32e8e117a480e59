"""Hanabi bots: published scores compared with scores measured here."""

from sally.core.registry.paper import Paper

PAPER = Paper("hanabi_bots", "Hanabi: what scripted players score, alone and together", __name__)
