"""Executors by name: what `--on` takes."""

from __future__ import annotations

from sally.core.errors import BadInput
from sally.runner.executors import Executor, Local
from sally.runner.pool import Pool

NAMES = "local, pool:N, ray or ray://HOST:PORT"


def executor(name: str) -> Executor:
    """The executor of that name."""
    if name == "local":
        return Local()
    kind, colon, rest = name.partition(":")
    if kind == "pool" and rest.isdigit():
        return Pool(int(rest))
    if kind == "ray" and (not colon or (rest.startswith("//") and rest != "//")):
        from sally.adapters.executors.ray import Cluster  # an import of a second

        return Cluster(rest.removeprefix("//"))
    raise BadInput(f"A study runs on {NAMES}, not on {name!r}.")
