"""Columns of few different numbers give back what was put in, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from sally.analysis.columns import dictionary_column as coded
from sally.analysis.columns.dictionary_column import ColumnEncoder


def bits(numbers: np.ndarray) -> list[int]:
    found: list[int] = np.asarray(numbers, dtype=np.float64).view(np.uint64).tolist()
    return found


@pytest.mark.parametrize("most", [1 << 16, 3])  # coded, and too many different ones for that
def test_column_round_trips_every_number(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(coded, "MOST", most)
    pieces = [np.array([0.0, -0.0, 0.1, np.nan]), np.arange(400.0), np.array([0.1, 1e300])]
    coding = ColumnEncoder()
    for piece in pieces:
        coding.add(piece)
        coding.add_none(2)
    whole = np.concatenate([part for piece in pieces for part in (piece, [np.nan] * 2)])
    column = coding.column()
    assert len(column) == len(whole) and bits(column[:]) == bits(whole)
    some = np.array([410, 3, 1, 1])
    assert bits(column[some]) == bits(column.take(some)[:]) == bits(whole[some])
    assert float(column[2]) == 0.1


def test_column_without_a_number_takes_no_memory() -> None:
    coding = ColumnEncoder()
    for _ in range(3):
        coding.add_none(1000)
    column = coding.column()
    assert len(column) == 3000 and np.isnan(column[:]).all()
    assert column._which is not None and column._which.strides == (0,)
    assert len(column.take(np.arange(5))) == 5
