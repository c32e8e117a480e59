"""The knowing-doing profile and its baselines."""
