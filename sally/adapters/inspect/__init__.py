"""Inspect AI: model access, scheduling, cache, limits and the viewer. Only this folder knows it."""
