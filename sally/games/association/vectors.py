"""Sentence vectors of the vocabulary, shipped as package data in half precision.

They were computed once with MiniLM (see `sally.games.association.minilm`) and are never edited.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from sally.games.association.english import vocabulary

Vectors = npt.NDArray[np.float32]
Products = npt.NDArray[np.float64]


def read_rows(package: str, name: str, n_rows: int) -> Vectors:
    """Return the rows of a file of vectors.

    Raises: ValueError if the file does not have `n_rows` rows.
    """
    with files(package).joinpath(name).open("rb") as file:
        rows: Vectors = np.load(file).astype(np.float32)
    if len(rows) != n_rows:
        raise ValueError(f"{name} has {len(rows)} rows for {n_rows} texts; generate it again.")
    return rows


@cache
def word_vectors() -> Vectors:
    """Return one unit vector per word of the vocabulary."""
    return read_rows(__package__, "vectors.npy", len(vocabulary()))


@cache
def likeness() -> Products:
    """Return the cosine similarity of any two words of the vocabulary."""
    return inner_products(word_vectors())


def inner_products(rows: Vectors) -> Products:
    """Return the inner products of any two rows, in double precision.

    Sums in single precision differ between processors by enough to change a third decimal.
    """
    exact_rows = rows.astype(np.float64)
    products: Products = exact_rows @ exact_rows.T
    return products
