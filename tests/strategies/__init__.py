"""Tests of prompting strategies with models that have no mind."""
