"""Executors for `--on`: a local pool or Ray."""
