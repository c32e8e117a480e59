"""Adapters to other tools and to people: Inspect, PettingZoo, trainers, the terminal. No lower
layer imports them."""
