"""How many episodes a worker is given at a time, by how long like ones took.

A shard that takes long would keep one worker busy when the others have nothing left. Its run gives
it out in parts: each takes at most a third of what every worker still has before it on average, so
that parts get shorter towards the end. Of what nobody has measured, a few are tried first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import ceil, inf

FIRST = 5  # episodes in a part of which it is not known how long they take
SHORTEST_SECONDS = 0.05  # of a part; to begin and end one takes some milliseconds
SHARE = 3  # parts that would be left for each worker if all were as long as the next one


class Pace:
    """What was measured of like episodes, and how many of them are still to be given out."""

    def __init__(self, slots: Callable[[], int]) -> None:
        self._slots = slots
        self._left: Counter[str] = Counter()
        self._took: dict[str, tuple[int, float]] = {}  # how many, and the seconds of all

    def wanted(self, alike: str, episodes: int) -> None:
        """So many more are to be played."""
        self._left[alike] += episodes

    def given(self, alike: str, episodes: int) -> None:
        """So many are with a worker."""
        self._left[alike] -= episodes

    def measured(self, alike: str, episodes: int, seconds: float) -> None:
        """So many took so long."""
        before = self._took.get(alike, (0, 0.0))
        self._took[alike] = before[0] + episodes, before[1] + seconds

    def expected(self, alike: str, episodes: int) -> float:
        """How long so many will take; of what nobody has measured, for ever."""
        known, seconds = self._took.get(alike, (0, 0.0))
        return episodes * seconds / known if known else inf

    def size(self, alike: str, left: int) -> int:
        """How many of a shard's episodes a worker is given, when so many are left of it."""
        slots = self._slots()
        if slots == 1 or left <= 1:
            return left
        each = self.expected(alike, 1)
        if each == inf:
            return min(left, FIRST)
        seconds = max(self._seconds_left() / (SHARE * slots), SHORTEST_SECONDS)
        if left * each <= seconds:
            return left
        parts = ceil(left * each / seconds - 1e-9)  # a hair over a whole number is rounding
        return max(1, round(left / parts))

    def _seconds_left(self) -> float:
        """What is to be given out, as far as like ones were measured."""
        return sum(n * self.expected(a, 1) for a, n in self._left.items() if a in self._took)
