"""Counterbalanced assignment of participants to conditions, instance orders and option orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil
from typing import TypeVar

import msgspec

from sally.core.rules.chance import Stream
from sally.web.study.definition import Condition, HumanStudy

T = TypeVar("T")


class Assignment(msgspec.Struct, frozen=True):
    """A participant's place in the design: condition, order of instances and order of options."""

    condition: str
    row: int  # row of the Williams square: the order of instances
    reverse: bool  # whether options are shown in reverse order


def assign_place(
    study: HumanStudy,
    filled: Sequence[Assignment],
    number: int,
    among: Sequence[str] = (),
    row: int | None = None,
) -> Assignment:
    """Return the place in the design of participant `number`, given the places of active and
    finished participants.

    The least-filled place is chosen; ties are broken by a random stream that depends on the study's
    seed and the number. Conditions are balanced overall, instance and option orders within each
    condition. Drop-outs do not count as filled, so later participants fill the gap.

    Args:
        among: Names of the conditions to choose from; empty for all.
        row: The instance order, if the participant's group determines it.
    """
    draws = Stream(study.seed, "assign", number)
    conditions = [c for c in study.conditions if not among or c.name in among]
    name = _condition(study, conditions, filled, draws)
    condition_places = [place for place in filled if place.condition == name]
    order_count = study.orders(study.condition(name))
    if row is None:
        row = _pick_least_filled(
            range(order_count), Counter(place.row for place in condition_places).__getitem__, draws
        )
    reverse = False
    if study.option_order == "balanced":
        # Balanced within the condition first, then within the instance order.
        ways = Counter(place.reverse for place in condition_places)
        beside = Counter(place.reverse for place in condition_places if place.row == row)
        reverse = _pick_least_filled(
            (False, True), lambda is_reversed: (ways[is_reversed], beside[is_reversed]), draws
        )
    return Assignment(name, row, reverse)


def _condition(
    study: HumanStudy, among: Sequence[Condition], filled: Sequence[Assignment], draws: Stream
) -> str:
    """Return the least-filled condition, or one drawn in proportion to the places left."""
    counts = Counter(place.condition for place in filled)
    if study.assignment == "balanced":
        share = {c.name: counts[c.name] / study.places(c) for c in among}
        return _pick_least_filled(list(share), share.__getitem__, draws)
    places_left = {c.name: max(0, ceil(study.places(c)) - counts[c.name]) for c in among}
    names = [name for name, n in places_left.items() for _ in range(n)]
    return draws.pick(names or list(places_left))


def _pick_least_filled(among: Sequence[T], filled: Callable[[T], object], draws: Stream) -> T:
    counts = [filled(candidate) for candidate in among]
    lowest = min(counts)  # type: ignore[type-var]
    return draws.pick(
        [candidate for candidate, n in zip(among, counts, strict=True) if n == lowest]
    )
