"""Executors that `--on` selects: a local pool or Ray."""
