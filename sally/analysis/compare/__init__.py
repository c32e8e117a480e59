"""Comparisons between players, conditions and published figures."""
