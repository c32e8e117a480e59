"""Analyses of episodes: rows, profiles, comparisons, cross-play, power, audits."""
