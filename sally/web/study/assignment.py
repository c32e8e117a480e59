"""Counterbalancing: whoever comes next takes the place that has been filled least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil
from typing import TypeVar

import msgspec

from sally.core.rules.chance import Stream
from sally.web.study.definition import HumanStudy

T = TypeVar("T")


class Assignment(msgspec.Struct, frozen=True):
    """One person's place in the design."""

    condition: str
    row: int  # of the order square: which instances in which order
    reverse: bool  # whether menus are shown from the last option to the first


def assigned(study: HumanStudy, filled: Sequence[Assignment], number: int) -> Assignment:
    """A place for the person of this number, given those who are in or through.

    Least-filled first, ties by a stream of the study's seed and the person's number: conditions
    are balanced overall, orders and option orders within each condition. Somebody who drops out
    is not among the filled, so the next ones fill the gap.
    """
    draws = Stream(study.seed, "assign", number)
    name = _condition(study, filled, draws)
    here = [place for place in filled if place.condition == name]
    many = study.orders(study.condition(name))
    row = _least(range(many), Counter(place.row for place in here).__getitem__, draws)
    reverse = False
    if study.option_order == "balanced":
        # Within the condition first; where that is even, apart from the order of the instances.
        ways = Counter(place.reverse for place in here)
        beside = Counter(place.reverse for place in here if place.row == row)
        reverse = _least((False, True), lambda way: (ways[way], beside[way]), draws)
    return Assignment(name, row, reverse)


def _condition(study: HumanStudy, filled: Sequence[Assignment], draws: Stream) -> str:
    """The condition that lacks most of its places, or one drawn by the places that are left."""
    counts = Counter(place.condition for place in filled)
    if study.assignment == "balanced":
        share = {c.name: counts[c.name] / study.places(c) for c in study.conditions}
        return _least(list(share), share.__getitem__, draws)
    left = {c.name: max(0, ceil(study.places(c)) - counts[c.name]) for c in study.conditions}
    names = [name for name, n in left.items() for _ in range(n)]
    return draws.pick(names or list(left))


def _least(among: Sequence[T], filled: Callable[[T], object], draws: Stream) -> T:
    counts = [filled(each) for each in among]
    lowest = min(counts)  # type: ignore[type-var]
    return draws.pick([each for each, n in zip(among, counts, strict=True) if n == lowest])
