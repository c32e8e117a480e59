"""Private rules by which a user in the infinite mode extrapolates the position of its item.

A rule maps (box last seen, resets since then) to the believed box. Every rule is defined for any
number of resets. Families are listed from the easiest to the hardest; the rules of a family differ
in their step sizes.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Literal, get_args

import msgspec

Family = Literal["shift", "alternate", "affine", "two_stride", "growing", "compounding"]
FAMILIES: tuple[Family, ...] = get_args(Family)


class Shift(msgspec.Struct, frozen=True, tag="shift"):
    """A rule by which every reset moves the item by the same step."""

    step: int


class Alternate(msgspec.Struct, frozen=True, tag="alternate"):
    """A rule by which odd resets move the item by a step, and even resets move it back."""

    step: int


class Affine(msgspec.Struct, frozen=True, tag="affine"):
    """A rule by which every reset moves the item by a step, and the first reset moves it by an
    additional jump."""

    step: int
    jump: int


class TwoStride(msgspec.Struct, frozen=True, tag="two_stride"):
    """A rule by which odd resets move the item by one number of boxes, and even resets by a
    different one."""

    odd: int
    even: int


class Growing(msgspec.Struct, frozen=True, tag="growing"):
    """A rule by which each step exceeds the previous step by a constant."""

    step: int
    growth: int


class Compounding(msgspec.Struct, frozen=True, tag="compounding"):
    """A rule by which each step is the sum of the previous two steps."""

    first: int
    second: int


Rule = Shift | Alternate | Affine | TwoStride | Growing | Compounding


def distance_moved(rule: Rule, resets: int) -> int:
    """Return how many boxes to the right the rule moves the item during `resets` resets."""
    match rule:
        case Shift(step):
            return step * resets
        case Alternate(step):
            return step * (resets % 2)
        case Affine(step, jump):
            return step * resets + (jump if resets else 0)
        case TwoStride(odd, even):
            return odd * ((resets + 1) // 2) + even * (resets // 2)
        case Growing(step, growth):
            return step * resets + growth * (resets * (resets - 1) // 2)
        case Compounding(first, second):
            return _compound_distance(first, second, resets)


def extrapolate(rule: Rule, box_seen: int, resets: int, boxes: int) -> int:
    """Return the box believed by a user that saw its item in box `box_seen`, `resets` resets
    ago."""
    return (box_seen + distance_moved(rule, resets)) % boxes


def rules_of(family: Family, boxes: int) -> Iterator[Rule]:
    """Yield every rule of a family for a locker of this size, except rules of simpler families."""
    steps = range(1, boxes)
    match family:
        case "shift":
            yield from (Shift(step) for step in steps)
        case "alternate":
            yield from (Alternate(step) for step in steps)
        case "affine":
            yield from (Affine(step, jump) for step, jump in product(steps, steps))
        case "two_stride":
            pairs = product(range(boxes), repeat=2)
            # odd == even is a shift, odd + even == boxes an alternation
            yield from (TwoStride(a, b) for a, b in pairs if a != b and (a + b) % boxes)
        case "growing":
            yield from (Growing(step, growth) for step, growth in product(range(boxes), steps))
        case "compounding":
            yield from (Compounding(a, b) for a, b in product(range(boxes), repeat=2) if a or b)


@lru_cache(maxsize=256)
def list_rules(family: Family, boxes: int) -> tuple[Rule, ...]:
    """Return the rules of a family, cached, in the order of `rules_of`."""
    return tuple(rules_of(family, boxes))


@lru_cache(maxsize=4096)  # users see their items in any box, but after few numbers of resets
def distances_moved(family: Family, boxes: int, resets: int) -> tuple[int, ...]:
    """Return how far each rule of a family moves an item, during `resets` resets, modulo the
    number of boxes."""
    return tuple(distance_moved(rule, resets) % boxes for rule in list_rules(family, boxes))


def _compound_distance(first: int, second: int, resets: int) -> int:
    total, step, following = 0, first, second
    for _ in range(resets):
        total, step, following = total + step, following, step + following
    return total
