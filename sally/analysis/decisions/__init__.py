"""Costs of single decisions."""
