"""A shared past: append in constant time, frozen to the eye."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.rules.history import History


@given(st.lists(st.tuples(st.integers(0, 30), st.integers())))
def test_history_behaves_like_a_tuple(script: list[tuple[int, int]]) -> None:
    """Grow any earlier history, in any order; each must stay what its tuple twin is."""
    family: list[tuple[History[int], tuple[int, ...]]] = [(History(), ())]
    for which, item in script:
        history, twin = family[which % len(family)]
        family.append((history.append(item), (*twin, item)))
    for history, twin in family:
        assert tuple(history) == twin
        assert len(history) == len(twin)
        assert history[1:-1] == twin[1:-1] and history[::-1] == twin[::-1]
        assert history.last == (twin[-1] if twin else None)
        assert history == History.of(twin) and hash(history) == hash(History.of(twin))
        assert [*history.since(1)] == list(twin[1:])
        for i in range(-len(twin), len(twin)):
            assert history[i] == twin[i]
        for beyond in (len(twin), -len(twin) - 1):
            with pytest.raises(IndexError):
                history[beyond]


def test_appending_does_not_change_the_older_history() -> None:
    first = History.of([1])
    second = first.append(2)
    sibling = first.append(3)
    assert (list(first), list(second), list(sibling)) == ([1], [1, 2], [1, 3])
    assert second != sibling and first not in (second, sibling)
    assert list(second.append(4)) == [1, 2, 4]


def test_history_is_independent_of_its_source_list() -> None:
    items = [1, 2]
    history = History.of(items)
    items.append(3)
    assert list(history) == [1, 2]


def test_long_histories_grow_in_linear_time() -> None:
    def grow(n: int) -> float:
        history: History[int] = History()
        start = time.process_time()  # others may be at work
        for i in range(n):
            history = history.append(i)
        return time.process_time() - start

    short, long = (min(grow(n) for _ in range(5)) for n in (5_000, 40_000))
    assert long < 8 * short * 4  # tuples copied every round would be 64 times


def test_history_continues_only_its_own_past() -> None:
    first: History[int] = History().append(1)
    second = first.append(2)
    sibling = first.append(3)
    assert second.continues(first)
    assert not first.continues(second)
    assert not sibling.continues(second)
    assert not History.of([1, 2]).continues(first)  # equal, but it cannot be sure without looking
    assert sibling.continues(History())
