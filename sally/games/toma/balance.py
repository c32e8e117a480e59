"""Balancing of a stream of scenarios, so that every shortcut stays at chance."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
T = TypeVar("T")


def pick(excess: Floats, debt: Floats) -> int:
    """Return the index of the candidate that leaves the smallest imbalance.

    Each row of `excess` is a candidate scenario, and each column holds one rule's score on it minus
    the chance score; `debt` is the sum of the rows chosen so far. The imbalance is the squared
    length of `debt` plus the candidate's row. Always choosing the smallest imbalance keeps the sum
    bounded, so the rules' mean scores approach chance as 1/n (herding, Welling 2009); independent
    draws would approach it as 1/sqrt(n).
    """
    return int(np.argmin(((excess + debt) ** 2).sum(axis=1)))


def dealt(items: Sequence[T], rng: np.random.Generator) -> Iterator[T]:
    """Yield the items indefinitely, in rounds that contain each item once, in a new order each
    time."""
    while True:
        for index in rng.permutation(len(items)):
            yield items[int(index)]
