"""Rules are built by one thread at a time: msgspec crashes when two convert to a new class at once.

The crash needs the two to meet within microseconds, so what is tested is that they cannot meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread
from typing import Any

import pytest

from sally.core.rules import game

FREE: list[bool] = []  # whether another thread could have begun to build, at each building


@dataclass(frozen=True)
class Watched:
    """Rules that look, while they are built, whether somebody else could build as well."""

    rounds: Any = 1

    def __post_init__(self) -> None:
        other_thread = Thread(target=lambda: FREE.append(could_build()))
        other_thread.start()
        other_thread.join()


def could_build() -> bool:
    if not game._building.acquire(blocking=False):
        return False
    game._building.release()
    return True


@pytest.mark.parametrize("rounds", [3, 1j])  # the second has no key under which it is kept
def test_rules_are_built_under_a_lock(rounds: Any) -> None:
    FREE.clear()
    assert game._build_cached(Watched, {"rounds": rounds}).rounds == rounds
    assert FREE == [False] and could_build()
