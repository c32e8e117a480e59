"""Stored sets of scenarios: package data of a game, never edited."""

from importlib.resources import files
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")
K_co = TypeVar("K_co", covariant=True)


class Keyed(msgspec.Struct, Generic[T], frozen=True):
    """A scenario with its solution, so that it can be used without Sally's solver."""

    scenario: T
    answer: int
    predictions: dict[str, int]  # agent name -> index of its task or place


class CertifiedScenario(Keyed[T], Generic[T], frozen=True):
    """A scenario of a set of blocks, with the answers of reasoners of every depth."""

    block: int  # reasoners of this depth answer the whole block, shallower ones are at chance
    depth: int  # of this scenario: the least depth from which on the answer is right
    # answers of reasoners of depth 0, 1, ...: several options where it finds them equally good
    by_depth: tuple[tuple[int, ...], ...]


class Frozen(msgspec.Struct, Generic[K_co], frozen=True):
    """One stored set of scenarios with its version and seed."""

    set: str
    version: int
    seed: int
    scenarios: tuple[K_co, ...]


def stored_text(package: str, name: str) -> bytes:
    """Return the file of a set, which is among the instances of a game's package."""
    return files(package).joinpath("instances", f"{name}.json").read_bytes()
