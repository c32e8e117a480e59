"""Hanabi (Bard et al. 2020): everyone sees every hand but their own, and hints are dear."""
