"""Doors to other worlds: people, Inspect, PettingZoo, the web. Nothing below imports them."""
