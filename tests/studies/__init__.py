"""Tests of shipped studies and of what makes them."""
