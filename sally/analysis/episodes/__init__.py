"""Stores as collections of episodes."""
