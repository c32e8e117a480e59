"""What is measured here: one choice, right or wrong."""

from sally.games.toma.metrics import ONE_SHOT

METRICS = ONE_SHOT
