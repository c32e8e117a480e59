"""Metrics of a one-choice game."""

from sally.games.toma.metrics import ONE_SHOT

METRICS = ONE_SHOT
