"""A second belief engine: each mind has its own list of what happened, and so has each mind in it.

It shares no code with `sally.games.battery.beliefs`: beliefs are found by walking through the
events as a person lived them, as that person takes another to have lived them, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

from sally.games.battery.beliefs import Event

Fact = tuple[frozenset[int], int, int | None]
"""Persons who share it, the place, and the liar among them, if it is known to be a lie."""


def lived(events: Sequence[Event]) -> list[Fact]:
    """All that happened, as an observer of everything knows it."""
    return [
        (frozenset(e.present), e.place, e.present[0] if e.kind == "tell" and e.lie else None)
        for e in events
    ]


def as_lived_by(person: int, facts: Sequence[Fact]) -> list[Fact]:
    """What a person takes to have happened: what they were there for, and no lies of others."""
    return [
        (player, place, liar if liar == person else None)
        for player, place, liar in facts
        if person in player
    ]


def believed(events: Sequence[Event], chain: Sequence[int]) -> int:
    if not chain:
        return [e.place for e in events if e.kind == "put"][-1]
    facts = lived(events)
    for person in chain:
        facts = as_lived_by(person, facts)
    last = chain[-1]
    return [place for _, place, liar in facts if liar != last][-1]
