"""Seats measured one by one: their numbers, row by row, until a piece of lines is whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sally.analysis.columns.rows import Measure
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played

Floats = NDArray[np.float64]


class Values:
    """The numbers of the seats of one family of games, row by row."""

    def __init__(self, measures: Mapping[str, Measure]) -> None:
        self._names, self._measures = tuple(measures), tuple(measures.values())
        self.rows: list[int] = []
        self._values: list[list[float | None]] = []

    def add(self, whole: Played, seats: Sequence[Seat], first: int) -> None:
        """Measure the seats of an episode; all of them are taken, or none."""
        found = [[measure(whole, seat) for measure in self._measures] for seat in seats]
        for values in found:
            if not math.isfinite(sum([v for v in values if v is not None])):
                self._check(whole.episode, values)
        self._values += found
        self.rows += range(first, first + len(seats))

    def _check(self, episode: Episode, values: Sequence[float | None]) -> None:
        for name, value in zip(self._names, values, strict=True):
            if value is not None and not math.isfinite(value):
                raise BadInput(f"Episode {episode.id}: {name} is {value}; a metric must be finite.")

    def columns(self) -> Iterator[tuple[str, Floats]]:
        """By name the numbers of these rows, not a number where there is none."""
        whole = np.array(self._values, dtype=np.float64).reshape(len(self.rows), len(self._names))
        return zip(self._names, whole.T, strict=True)
