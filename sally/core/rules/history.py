"""An immutable sequence with append in constant time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar, overload

import msgspec

T = TypeVar("T")
Q = TypeVar("Q")
Rounds = Callable[[Any, int], Iterable[tuple[int, int] | None]]


class History(msgspec.Struct, Generic[T], frozen=True, eq=False, gc=False):
    """A sequence that shares its buffer with earlier and later versions of itself.

    Copying a tuple every round would make long games quadratic. `append` writes one item after the
    last; an older history keeps its own length and never sees later items. A new history is created
    in each round, so the class is a msgspec struct, which is fast to create; it is not tracked by
    the garbage collector, because items never refer back to their history.
    """

    _length: int = 0
    _items: list[T] = []  # msgspec copies an empty default for each history

    @classmethod
    def of(cls, items: Iterable[T]) -> History[T]:
        """Return a new history with these items."""
        new_items = list(items)
        return cls(len(new_items), new_items)

    def append(self, item: T) -> History[T]:
        """Return a history with one more item; this history does not change."""
        items, length = self._items, self._length
        if len(items) != length:  # another history has already extended this buffer: branch off
            items = items[:length]
        items.append(item)
        return History(length + 1, items)

    def since(self, start: int) -> Iterator[T]:
        """Iterate over the items from index `start` on."""
        return iter(self._items[start : self._length])

    def continues(self, earlier: History[T]) -> bool:
        """Return whether this history shares a buffer with `earlier` and begins with it."""
        return not earlier._length or (
            self._items is earlier._items and self._length >= earlier._length
        )

    @property
    def last(self) -> T | None:
        """The newest item, or None if empty."""
        return self._items[self._length - 1] if self._length else None

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return tuple(self._items[i] for i in range(*index.indices(self._length)))
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._items[index if index >= 0 else index + self._length]

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._length)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History):
            return NotImplemented
        return self._length == other._length and all(
            a == b for a, b in zip(self, other, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"History({list(self)!r})"


class Follower(Generic[Q]):
    """A state that depends on the rounds so far, updated round by round.

    The last state is cached, so that a history is not replayed from its start in every round; this
    changes the running time, never the result.

    Args:
        start: The state before the first round.
        after: The next state, given a state, the player's own move and the other's move.
        rounds: The rounds of a view from an index on, as (own move, other's move); None for a round
            that leaves the state unchanged.
    """

    def __init__(self, start: Q, next_state: Callable[[Q, int, int], Q], rounds: Rounds) -> None:
        self._start, self._after, self._rounds = start, next_state, rounds
        self._reached: tuple[History[Any], Q] = (History(), start)

    def state(self, view: Any) -> Q:
        """Return the state after the rounds of a view."""
        rounds_seen, state = self._reached
        if not view.past.continues(rounds_seen):
            rounds_seen, state = History(), self._start
        for joint in self._rounds(view, len(rounds_seen)):
            if joint is not None:
                state = self._after(state, *joint)
        self._reached = (view.past, state)
        return state
