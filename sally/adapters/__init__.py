"""Adapters to Inspect, PettingZoo, trainers, file formats and the terminal; no lower layer imports
them."""
