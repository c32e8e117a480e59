"""Lookup of executors by the names that `--on` accepts."""

from __future__ import annotations

from sally.adapters.executors.pool import Pool
from sally.adapters.executors.services import SERVICES
from sally.core.errors import BadInput
from sally.runner.executors import Executor, Local

NAMES = "local, pool:N, ray or ray://HOST:PORT"


def executor(name: str) -> Executor:
    """Return the executor with this name.

    Raises:
        BadInput: There is no such executor.
    """
    if name == "local":
        return Local(SERVICES)
    kind, colon, argument = name.partition(":")
    if kind == "pool" and argument.isdigit():
        return Pool(int(argument))
    if kind == "ray" and (not colon or (argument.startswith("//") and argument != "//")):
        from sally.adapters.executors.ray import Cluster  # takes a second to import

        return Cluster(argument.removeprefix("//"))
    raise BadInput(f"An executor is {NAMES}, not {name!r}.")
