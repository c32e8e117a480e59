"""Certified pairs: their certificate, and the score of a player on them."""
