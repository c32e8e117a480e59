"""Adapters to Inspect, PettingZoo, trainers and the terminal; no lower layer imports them."""
