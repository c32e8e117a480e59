"""Validation and coding of the columns that statistical functions take."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


def finite(values: ArrayLike, name: str) -> Floats:
    """Return the values as a flat array of floats.

    Raises:
        ValueError: If they are not a flat sequence of finite numbers; the message names the first
            bad value.
    """
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a sequence of numbers: {error}.") from error
    if column.ndim != 1:
        raise ValueError(f"{name} must be a flat sequence; it has {column.ndim} dimensions.")
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise ValueError(
            f"{name}[{bad[0]}] is {column[bad[0]]}; every value must be a finite number, "
            "so leave missing values out and report how many there were."
        )
    return column


def as_pairs(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Return two finite columns of the same length."""
    first_column, two = finite(first, "first"), finite(second, "second")
    same_length("first", first_column.size, "second", two.size)
    return first_column, two


def same_length(name: str, length: int, two: str, length_two: int) -> None:
    """Raise ValueError if two columns differ in length."""
    if length != length_two:
        raise ValueError(
            f"{name} has {length} rows and {two} has {length_two}; they must have the same length."
        )


def encode_labels(
    labels: Sequence[Hashable] | NDArray[np.integer[Any]], rows: int, name: str
) -> tuple[Codes, int]:
    """Return labels as integer codes, and the number of distinct labels."""
    same_length(name, len(labels), "the data", rows)
    if isinstance(labels, range):
        return np.arange(rows, dtype=np.intp), rows  # each row has its own label
    if isinstance(labels, np.ndarray):
        labels_there, codes_there = np.unique(labels, return_inverse=True)
        return codes_there.astype(np.intp), len(labels_there)
    code_of: dict[Hashable, int] = {}
    codes = [code_of.setdefault(label, len(code_of)) for label in labels]
    return np.asarray(codes, dtype=np.intp), len(code_of)


def as_met(labels: NDArray[np.integer[Any]]) -> Codes | range:
    """Return labels as codes in order of appearance; a range if all labels differ."""
    if labels.size < 2 or bool((labels[1:] > labels[:-1]).all()):
        return range(labels.size)
    labels_there, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(len(labels_there), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(labels_there))
    return place[codes]


def sums_by(codes: Codes, count: int, values: Floats) -> Floats:
    """Return, for each code from 0 to `count` - 1, the sum of the values in the rows that have this
    code."""
    return np.bincount(codes, weights=values, minlength=count).astype(np.float64)


def within(value: float, low: float, high: float, name: str) -> float:
    """Return the value; raise ValueError unless it lies strictly between two bounds."""
    if not low < value < high:
        raise ValueError(f"{name} is {value}; it must lie strictly between {low} and {high}.")
    return value
